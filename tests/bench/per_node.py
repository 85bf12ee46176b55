"""Forward and backward per node, eager: gradcli beside torch and HIPS autograd.

    python tests/bench/per_node.py

A chain that alternates a product and a sum with two leaves; peers take turns, the best
of several rounds counts for each.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import torch

from gradcli.engine import NUMPY, Tensor, function

NODES = 2000
ROUNDS = 15
SHAPES: tuple[tuple[int, ...], ...] = ((), (3, 3), (100,))
BAR = 0.7


def of_gradcli(shape: tuple[int, ...]) -> float:
    x = Tensor(np.ones(shape), NUMPY, True)
    w = Tensor(np.full(shape, 0.999), NUMPY, True)
    start = time.perf_counter()
    y = x
    for _ in range(NODES // 2):
        y = y * w
        y = y + x
    (function("sum")(y) if shape else y).backward()
    return (time.perf_counter() - start) / NODES


def of_torch(shape: tuple[int, ...]) -> float:
    x = torch.ones(shape, dtype=torch.float64, requires_grad=True)
    w = torch.full(shape, 0.999, dtype=torch.float64, requires_grad=True)
    start = time.perf_counter()
    y = x
    for _ in range(NODES // 2):
        y = y * w
        y = y + x
    (y.sum() if shape else y).backward()
    return (time.perf_counter() - start) / NODES


def peers() -> dict[str, Callable[[tuple[int, ...]], float]]:
    found: dict[str, Callable[[tuple[int, ...]], float]] = {
        "gradcli": of_gradcli,
        "torch": of_torch,
    }
    try:
        from autograd import grad
    except ImportError:
        return found

    def of_autograd(shape: tuple[int, ...]) -> float:
        def chain(x: np.ndarray) -> float:
            y = x
            for _ in range(NODES // 2):
                y = y * 0.999
                y = y + x
            return y.sum()

        start = time.perf_counter()
        grad(chain)(np.ones(shape))
        return (time.perf_counter() - start) / NODES

    found["autograd"] = of_autograd
    return found


def main() -> None:
    torch.set_num_threads(1)
    measured = peers()
    for shape in SHAPES:
        best = dict.fromkeys(measured, float("inf"))
        for _ in range(ROUNDS):
            for name, once in measured.items():
                best[name] = min(best[name], once(shape))
        figures = "   ".join(f"{n} {t * 1e6:6.2f} µs" for n, t in best.items())
        ratio = best["gradcli"] / best["torch"]
        print(f"{shape!s:8} {figures}   of torch {ratio:.2f} (bar {BAR})")


if __name__ == "__main__":
    main()
