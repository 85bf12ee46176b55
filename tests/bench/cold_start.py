"""Whole processes: gradcli against a torch script that computes the same gradient.

    python tests/bench/cold_start.py [runs]

Commands run in turn (A B A B ...), so that a drift of the machine's speed meets both;
the ratio is taken pair by pair and its median is printed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from statistics import median

TORCH = """
import torch
x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
b = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
y = x**3 + b
y.backward()
print(y.item(), x.grad.item(), b.grad.item())
"""
GRADCLI = [sys.executable, "-m", "gradcli", "grad", "x**3 + b", "x=2", "b=1"]
PEERS = {
    "torch": [sys.executable, "-c", TORCH],
    "import numpy": [sys.executable, "-c", "import numpy"],
    "import sympy": [sys.executable, "-c", "import sympy"],
}
BARS = {"without verification": 1 / 8, "with verification": 1 / 2.5}


def seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    commands = {
        "without verification": [*GRADCLI, "--no-verify"],
        "with verification": GRADCLI,
        **PEERS,
    }
    for command in commands.values():
        seconds(command)
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            times[name].append(seconds(command))
    for name, measured in times.items():
        ratio = median(t / p for t, p in zip(measured, times["torch"], strict=True))
        bar = f"   bar {BARS[name]:.3f}" if name in BARS else ""
        print(f"{name:22} {median(measured):7.3f} s   of torch {ratio:6.3f}{bar}")


if __name__ == "__main__":
    main()
