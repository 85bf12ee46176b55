"""Normalisation across channels as PyTorch's older layer computes it.

Invariant: values and gradients are PyTorch's, which add up other channels than those
beside one: the window of the first channel moves on, and its end is cut off a step too
late. `LocalResponseNorm` computes what is meant.

    CrossMapLRN2d(3)(x)         # (N, C, H, W)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..autograd.function import Function
from ..engine.raw import Host
from ..engine.tensor import Tensor
from .heads import head, saying
from .module import Module


def _summed(channels: int, size: int) -> Host:
    """Which squares PyTorch adds up for each channel, as rows of a matrix."""
    ahead = int((size - 1) / 2 + 1)
    rows = np.zeros((channels, channels))
    rows[:1, : min(ahead, channels)] = 1
    for c in range(1, channels):
        rows[c] = rows[c - 1]
        if c < channels - ahead + 1:
            rows[c, c + ahead - 1] += 1
        if c > ahead:
            rows[c, c - ahead] -= 1
    return rows


def _summed_back(channels: int, size: int) -> Host:
    """Which channels PyTorch adds up for the gradient by each."""
    before = int(size - (size - 1) / 2)
    rows = np.zeros((channels, channels))
    for c in range(channels):
        start = c - before
        rows[c, max(start, 0) : max(start + size, 0)] = 1
    return rows


class _Across(Function):
    """The layer's function; its gradient is PyTorch's, not that of its values."""

    @staticmethod
    def forward(
        ctx: Any, input: Tensor, size: int, alpha: float, beta: float, k: float
    ) -> Tensor:
        if input.ndim != 4:
            raise ValueError(
                f"CrossMapLRN2d: Expected input to be 4D, got {input.ndim}D instead."
            )
        squares = _mixed(_summed(input.shape[1], size), input * input)
        scale = squares * (alpha / size) + k
        output = scale**-beta * input
        ctx.given = size, 2 * alpha * beta / size, beta
        ctx.save_for_backward(input, output, scale)
        return output

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        input, output, scale = ctx.saved_tensors
        size, factor, beta = ctx.given
        rows = _summed_back(input.shape[1], size)
        ratio = _mixed(rows, grad * output / scale)
        return (scale**-beta * grad - factor * input * ratio, *[None] * 4)


def _mixed(rows: Host, x: Tensor) -> Tensor:
    """Every channel's sum over the channels of its row."""
    weights = Tensor(x.xp.array(rows.astype(x.raw.dtype.name)), x.xp)
    mixed: Tensor = weights @ x.flatten(2)
    return mixed.reshape(x.shape)


_FUNCTION: Any = type("CrossMapLRN2d", (_Across,), {})
"""The same under the name that PyTorch's node has."""


class CrossMapLRN2d(Module):
    """Each entry over the size of the squares in channels that PyTorch adds up, which
    are not those beside it; `LocalResponseNorm` computes what is meant."""

    @head()
    def __init__(
        self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1
    ) -> None:
        pass

    def forward(self, input: Tensor) -> Tensor:
        out: Tensor = _FUNCTION.apply(input, self.size, self.alpha, self.beta, self.k)
        return out

    extra_repr = saying("{size}, alpha={alpha}, beta={beta}, k={k}")
