"""Ten million entries: value and three gradients, beside PyTorch, JAX and NumPy.

    python tests/bench/large_arrays.py [--json] [--count 10000000] [--runs 5]

Each peer computes (tanh(a*b + c)*exp(-a*a)).sum() and its gradients by a, b and c in
float64; runs are interleaved, the median of each is shown beside the others'.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from importlib.util import find_spec
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import gradcli

TEXT = "(tanh(a*b + c)*exp(-a*a)).sum()"


def of_gradcli(arrays: dict[str, Any]) -> Callable[[], Any]:
    program = gradcli.compile(TEXT)
    return lambda: program.grad(**arrays)


def of_torch(arrays: dict[str, Any]) -> Callable[[], Any]:
    import torch

    leaves = {n: torch.tensor(v, requires_grad=True) for n, v in arrays.items()}

    def run() -> Any:
        a, b, c = leaves.values()
        y = (torch.tanh(a * b + c) * torch.exp(-a * a)).sum()
        return torch.autograd.grad(y, (a, b, c))

    return run


def of_jax(arrays: dict[str, Any]) -> Callable[[], Any]:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    given = [jnp.asarray(v) for v in arrays.values()]
    pulled = jax.jit(
        jax.value_and_grad(
            lambda a, b, c: (jnp.tanh(a * b + c) * jnp.exp(-a * a)).sum(), (0, 1, 2)
        )
    )
    return lambda: jax.block_until_ready(pulled(*given))


def of_numpy(arrays: dict[str, Any]) -> Callable[[], Any]:
    """The formulas of the derivatives, written by hand, in one piece."""
    a, b, c = arrays.values()

    def run() -> Any:
        t, e = np.tanh(a * b + c), np.exp(-a * a)
        s = (1 - t * t) * e
        return (t * e).sum(), s * b - 2 * a * t * e, s * a, s

    return run


PEERS = {"gradcli": of_gradcli, "torch": of_torch, "jax": of_jax, "numpy": of_numpy}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--count", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    rng = np.random.default_rng(0)
    arrays = {name: rng.normal(size=asked.count) for name in "abc"}
    runs = {n: make(arrays) for n, make in PEERS.items() if find_spec(n)}
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(1 + asked.runs):
        for name, run in runs.items():
            start = perf_counter()
            run()
            if turn:
                taken[name].append(perf_counter() - start)
    medians = {name: median(seconds) for name, seconds in taken.items()}
    if asked.json:
        print(json.dumps({"seconds": taken, "medians": medians}))
        return
    for name, seconds in medians.items():
        ratio = medians["gradcli"] / seconds
        spread = max(taken[name]) - min(taken[name])
        print(
            f"{name:8} {seconds:8.3f} s  +-{spread / 2:.3f}  gradcli/{name} {ratio:.2f}"
        )


if __name__ == "__main__":
    main()
