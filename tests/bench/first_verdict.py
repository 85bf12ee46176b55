"""From Enter to the verdict: gradcli against a bare SymPy script, whole processes.

    python tests/bench/first_verdict.py [runs]

Commands run in turn (A B C, A B C, ...), so that a drift of the machine's speed meets
all; ratios are taken run by run and their medians are printed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from statistics import median

SYMPY = """
import sympy
x, b = sympy.symbols("x b", real=True)
y = x**3 + b
for v in (x, b):
    d = sympy.diff(y, v)
    print(d, d.subs({x: 2, b: 1}))
"""

CERTIFIED = """
import os, sys
from gradcli.verify.process.client import Checker
results = Checker.results
def first(self, timeout=None):
    for verification in results(self, timeout):
        if verification.verdict in ("certified", "proved"):
            self.stop()
            os._exit(0)
        yield verification
Checker.results = first
sys.argv = ["gradcli", "grad", "x**3 + b", "x=2", "b=1"]
from gradcli.__main__ import main
main()
"""
"""The command, ended at the first verdict that shows something."""

COMMANDS = {
    "bare SymPy": [sys.executable, "-c", SYMPY],
    "to certified": [sys.executable, "-c", CERTIFIED],
    "to proved": [sys.executable, "-m", "gradcli", "grad", "x**3 + b", "x=2", "b=1"],
}
BARS = {"to certified": 0.6, "to proved": 1.2}


def seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    for command in COMMANDS.values():
        seconds(command)
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(runs):
        for name, command in COMMANDS.items():
            times[name].append(seconds(command))
    for name, measured in times.items():
        pairs = zip(measured, times["bare SymPy"], strict=True)
        bar = f"   bar {BARS[name]}" if name in BARS else ""
        print(f"{name:14} {median(measured):7.3f} s   ratio "
              f"{median(t / s for t, s in pairs):6.3f}{bar}")  # fmt: skip


if __name__ == "__main__":
    main()
