"""A chain of scalar nodes: time and memory per node against its length.

    python tests/bench/long_chain.py

Each length runs in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

LENGTHS = (10_000, 100_000, 1_000_000)
BAR_BYTES = 1500


def measure(length: int) -> None:
    """Run one chain and print seconds and bytes per node."""
    import numpy as np

    import gradcli.torch as _methods  # noqa: F401  (gives tensors their methods)
    from gradcli.engine import NUMPY, Tensor

    x = Tensor(np.asarray(1.0), NUMPY, True)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    y = x
    for _ in range(length):
        y = y * 1.0000001
    y.backward()
    took = time.perf_counter() - start
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(took / length, grown * 1024 / length)


def main() -> None:
    if len(sys.argv) > 1:
        measure(int(sys.argv[1]))
        return
    for length in LENGTHS:
        command = [sys.executable, __file__, str(length)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        took, size = map(float, done.stdout.split())
        print(
            f"{length:>9,} nodes   {took * 1e6:6.2f} µs a node"
            f"   {size:7.0f} bytes a node (bar {BAR_BYTES})"
        )


if __name__ == "__main__":
    main()
