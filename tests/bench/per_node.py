"""Forward and backward per node, eager: a chain that alternates a product and a sum
with two leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradcli.torch  # noqa: F401  # `Tensor.backward`
from gradcli.engine import NUMPY, Tensor, function

from .compare import Comparison, Once

NODES = 2000

Shape = tuple[int, ...]


def of_gradcli(shape: Shape) -> Once:
    total = function("sum")

    def once() -> Any:
        x = Tensor(np.ones(shape), NUMPY, True)
        w = Tensor(np.full(shape, 0.999), NUMPY, True)
        y = x
        for _ in range(NODES // 2):
            y = y * w
            y = y + x
        (total(y) if shape else y).backward()
        return x.grad.numpy()

    return once


def of_torch(shape: Shape) -> Once:
    import torch

    def once() -> Any:
        x = torch.ones(shape, dtype=torch.float64, requires_grad=True)
        w = torch.full(shape, 0.999, dtype=torch.float64, requires_grad=True)
        y = x
        for _ in range(NODES // 2):
            y = y * w
            y = y + x
        (y.sum() if shape else y).backward()
        return x.grad.numpy()

    return once


def of_autograd(shape: Shape) -> Once:
    from autograd import grad

    def chain(x: Any, w: Any) -> Any:
        y = x
        for _ in range(NODES // 2):
            y = y * w
            y = y + x
        return y.sum()

    pulled = grad(chain, (0, 1))
    return lambda: pulled(np.ones(shape), np.full(shape, 0.999))[0]


def comparison(shape: Shape, bar: float) -> Comparison:
    return Comparison(
        f"per-node-{'x'.join(map(str, shape)) or 'scalar'}",
        f"a chain of {NODES:,} nodes, forward and backward, shape {shape}",
        lambda: of_gradcli(shape),
        {"torch": lambda: of_torch(shape), "autograd": lambda: of_autograd(shape)},
        {"torch": bar},
        lambda a, b: bool(np.allclose(a, b)),
        15,
        1,
    )


COMPARISONS = [
    comparison(shape, bar) for shape, bar in (((), 0.6), ((3, 3), 0.7), ((100,), 0.7))
]
