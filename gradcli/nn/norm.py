"""Layers that normalise: each item by itself, or each channel over a batch.

Invariant: weights begin as ones and biases as zeros, so that a new layer normalises and
does nothing else. Over a batch, its own statistics are used in training, and running
ones, if they are kept, follow them; in evaluation the running ones are used where there
are any.

    LayerNorm(8)(x)             # (..., 8)
    BatchNorm2d(3)(images)      # (N, 3, H, W)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..engine.creation import ones, tensor, zeros
from ..engine.dtypes import int64
from ..engine.tensor import Tensor
from . import functional as F
from . import init
from .convolution import each
from .declare import applying, begin_weights, head, saying
from .module import Module


class _Affine(Module):
    """A layer that scales by a weight and shifts by a bias, where it has them."""

    def reset_parameters(self) -> None:
        """Set the weight to ones and the bias to zeros."""
        if self.weight is not None:
            init.ones_(self.weight)
        if "bias" in self._parameters and self.bias is not None:
            init.zeros_(self.bias)


class LayerNorm(_Affine):
    """Mean 0 and variance 1 over the last dimensions, then scaled and shifted."""

    @head("bias")
    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float = 1e-5,
        elementwise_affine: bool = True, bias: bool = True, device: object = None,
        dtype: object = None,
    ) -> None:  # fmt: skip
        self.normalized_shape = each(normalized_shape, 1)
        shape = self.normalized_shape if elementwise_affine else None
        begin_weights(self, device, dtype, weight=shape, bias=shape if bias else None)

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
        self.normalized_shape = each(normalized_shape, 1)
        shape = self.normalized_shape if elementwise_affine else None
        begin_weights(self, device, dtype, weight=shape)

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    extra_repr = saying(
        "{normalized_shape}, eps={eps}, elementwise_affine={elementwise_affine}"
    )


class GroupNorm(_Affine):
    """Mean 0 and variance 1 over each group of channels of an input (N, C, ...).

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
            raise ValueError("num_channels must be divisible by num_groups")
        shape = (num_channels,) if affine else None
        begin_weights(self, device, dtype, weight=shape, bias=shape if bias else None)

    forward = applying(F.group_norm)
    extra_repr = saying(
        "{num_groups}, {num_channels}, eps={eps}, affine={affine}, bias={bias}"
    )


class _NormBase(_Affine):
    """Mean 0 and variance 1 per channel.

    Args:
        num_features: the number of channels.
        momentum: how far running statistics move towards a batch's; None: their
            average over all batches so far.
        affine: scale and shift by trained parameters afterwards.
        track_running_stats: keep statistics for evaluation.
    """

    ranks: ClassVar[tuple[int, ...]]
    num_features: int
    affine: bool
    track_running_stats: bool

    def _make(self, bias: bool, device: Any, dtype: Any) -> None:
        """Make the parameters and statistics that the options ask for."""
        shape = (self.num_features,)
        statistics = {
            "running_mean": zeros(shape, device=device, dtype=dtype),
            "running_var": ones(shape, device=device, dtype=dtype),
            "num_batches_tracked": tensor(0, dtype=int64, device=device),
        }
        for name, value in statistics.items():
            self.register_buffer(name, value if self.track_running_stats else None)
        own = shape if self.affine else None
        begin_weights(self, device, dtype, weight=own, bias=own if bias else None)

    def reset_running_stats(self) -> None:
        """Forget the batches seen so far."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Forget the batches, set the weight to ones and the bias to zeros."""
        self.reset_running_stats()
        super().reset_parameters()

    def _load_from_state_dict(
        self, state_dict: dict[str, object], prefix: str, *rest: Any
    ) -> None:
        """Keep the count of batches where an older state holds none."""
        if self.track_running_stats:
            own = self.num_batches_tracked
            state_dict.setdefault(prefix + "num_batches_tracked", own)
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def _check(self, input: Tensor) -> None:
        if input.ndim not in self.ranks:
            words = " or ".join(f"{rank}D" for rank in self.ranks)
            raise ValueError(f"expected {words} input (got {input.ndim}D input)")

    extra_repr = saying(
        "{num_features}, eps={eps}, momentum={momentum}, affine={affine}, bias={bias}, "
        "track_running_stats={track_running_stats}"
    )


class _BatchNorm(_NormBase):
    """Over a batch."""

    @head("bias")
    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1,
        affine: bool = True, track_running_stats: bool = True, device: object = None,
        dtype: object = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        self._make(bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        self._check(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        counts = self.training and self.track_running_stats
        if counts and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1.0 / float(self.num_batches_tracked)
        by_batch = self.training or self.running_mean is None
        tracks = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if tracks else None,
            self.running_var if tracks else None,
            self.weight, self.bias, by_batch, momentum, self.eps,
        )  # fmt: skip


class _InstanceNorm(_NormBase):
    """Over each item by itself; an item may come without a batch."""

    @head("bias")
    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1,
        affine: bool = False, track_running_stats: bool = False, device: object = None,
        dtype: object = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        self._make(bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        self._check(input)
        alone = input.ndim == self.ranks[0]
        out = F.instance_norm(
            input.unsqueeze(0) if alone else input, self.running_mean,
            self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats, self.momentum or 0.0,
            self.eps,
        )  # fmt: skip
        return out.squeeze(0) if alone else out
