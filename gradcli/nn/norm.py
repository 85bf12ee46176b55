"""Layers that normalise each item by itself.

Invariant: weights begin as ones and biases as zeros, so that a new layer normalises and
does nothing else.

    LayerNorm(8)(x)         # (..., 8), mean 0 and variance 1 over the last dimension
"""

from __future__ import annotations

from collections.abc import Sequence

from ..engine.tensor import Tensor
from . import functional as F
from . import init
from .declare import add_parameters, applying, head, saying
from .module import Module


def add_affine(
    module: Module,
    device: object,
    dtype: object,
    shape: tuple[int, ...] | None,
    bias: bool,
) -> None:
    """Register a weight and a bias of one shape; None: names without parameters."""
    shift = shape if bias else None
    add_parameters(module, device, dtype, weight=shape, bias=shift)


class _Affine(Module):
    """A layer that scales by a weight and shifts by a bias, where it has them."""

    def reset_parameters(self) -> None:
        """Set the weight to ones and the bias to zeros."""
        if self.weight is not None:
            init.ones_(self.weight)
        if "bias" in self._parameters and self.bias is not None:
            init.zeros_(self.bias)


def _sizes(shape: int | Sequence[int]) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


class LayerNorm(_Affine):
    """Mean 0 and variance 1 over the last dimensions, then scaled and shifted."""

    @head("bias")
    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float = 1e-5,
        elementwise_affine: bool = True, bias: bool = True, device: object = None,
        dtype: object = None,
    ) -> None:  # fmt: skip
        self.normalized_shape = shape = _sizes(normalized_shape)
        add_affine(self, device, dtype, shape if elementwise_affine else None, bias)
        self.reset_parameters()

    forward = applying(F.layer_norm)
    extra_repr = saying(
        "{normalized_shape}, eps={eps}, elementwise_affine={elementwise_affine}, "
        "bias={bias}"
    )


class RMSNorm(_Affine):
    """Mean square 1 over the last dimensions, scaled; ``eps`` None: the dtype's."""

    @head()
    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float | None = None,
        elementwise_affine: bool = True, device: object = None, dtype: object = None,
    ) -> None:  # fmt: skip
        self.normalized_shape = shape = _sizes(normalized_shape)
        add_parameters(
            self, device, dtype, weight=shape if elementwise_affine else None
        )
        self.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    extra_repr = saying(
        "{normalized_shape}, eps={eps}, elementwise_affine={elementwise_affine}"
    )


class GroupNorm(_Affine):
    """Mean 0 and variance 1 over each group of channels of an input (N, C, ...).

    Args:
        num_groups: how many groups.
        num_channels: how many channels; a multiple of the number of groups.
        eps: added to the variance.
        affine: scale and shift each channel by trained parameters afterwards.
        bias: shift as well as scale.

    Raises:
        ValueError: channels that do not divide into the groups.
    """

    @head("bias")
    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5,
        affine: bool = True, device: object = None, dtype: object = None, *,
        bias: bool = True,
    ) -> None:  # fmt: skip
        if num_channels % num_groups:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups "
                f"({num_groups})"
            )
        add_affine(self, device, dtype, (num_channels,) if affine else None, bias)
        self.reset_parameters()

    forward = applying(F.group_norm)
    extra_repr = saying(
        "{num_groups}, {num_channels}, eps={eps}, affine={affine}, bias={bias}"
    )
