"""Convolutions as modules.

Invariant: ``kernel_size``, ``stride``, ``padding``, ``dilation`` and
``output_padding`` are tuples with one entry per spatial dimension; a padding may be
the word "same" or "valid" instead.

    Conv2d(3, 6, kernel_size=5)(images)         # (N, 3, H, W) -> (N, 6, H - 4, W - 4)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, cast

from ..engine.tensor import Tensor
from .declare import begin_weights, head, saying
from .functional import pad
from .linear import _Weighted

Sizes = int | Sequence[int]
MODES = ("zeros", "reflect", "replicate", "circular")


def each(value: Sizes, rank: int) -> tuple[int, ...]:
    """Repeat one number for every spatial dimension; several stay as they are."""
    return (value,) * rank if isinstance(value, int) else tuple(value)


class _ConvNd(_Weighted):
    """The sizes, the weight and the bias that all convolutions have."""

    rank: ClassVar[int]
    transposed: ClassVar[bool] = False
    function: ClassVar[Callable[..., Tensor]]
    padding: tuple[int, ...] | str
    output_padding: Any = 0

    def _make(self, bias: bool, device: object, dtype: object) -> None:
        """Check the options, and make the weight and the bias that they ask for."""
        _check(self)
        for name in ("kernel_size", "stride", "padding", "dilation", "output_padding"):
            if not isinstance(getattr(self, name), str):
                setattr(self, name, each(getattr(self, name), self.rank))
        outer, inner = self.out_channels, self.in_channels
        if self.transposed:
            outer, inner = inner, outer
        shape = (outer, inner // self.groups, *self.kernel_size)
        shift = (self.out_channels,) if bias else None
        begin_weights(self, device, dtype, weight=shape, bias=shift)

    extra_repr = saying(
        "{in_channels}, {out_channels}, kernel_size={kernel_size}, stride={stride}",
        padding=0, dilation=1, output_padding=0, groups=1, bias=True,
        padding_mode="zeros",
    )  # fmt: skip


def _check(layer: _ConvNd) -> None:
    """Raise ValueError for options that contradict each other."""
    groups, padding, mode = layer.groups, layer.padding, layer.padding_mode
    if groups <= 0 or layer.in_channels % groups or layer.out_channels % groups:
        raise ValueError(
            "in_channels and out_channels must be multiples of groups, which is above 0"
        )
    if padding == "same" and set(each(layer.stride, 1)) != {1}:
        raise ValueError("padding='same' is not supported for strided convolutions")
    if isinstance(padding, str) and padding not in ("valid", "same"):
        raise ValueError(f"padding is a number, 'valid' or 'same', not {padding!r}")
    modes = ("zeros",) if layer.transposed else MODES
    if mode not in modes:
        raise ValueError(f"padding_mode must be one of {modes}, but got {mode!r}")


class _Conv(_ConvNd):
    """A convolution.

    Args:
        padding: how much is added at every side; "same": so much that the size is kept;
            "valid": nothing.
        dilation: how far one entry of a window is from the next.
        groups: channels are divided into this many groups that do not mix.
        padding_mode: what is added: "zeros", or entries from inside: "reflect",
            "replicate" or "circular", as `functional.pad` has them.
    """

    @head("bias")
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Sizes,
        stride: Sizes = 1, padding: Sizes | str = 0, dilation: Sizes = 1,
        groups: int = 1, bias: bool = True, padding_mode: str = "zeros",
        device: object = None, dtype: object = None,
    ) -> None:  # fmt: skip
        self._make(bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        padding: tuple[int, ...] | str = self.padding
        if self.padding_mode != "zeros":
            input = pad(input, self._borders(), mode=self.padding_mode)
            padding = (0,) * self.rank
        return type(self).function(
            input, self.weight, self.bias, self.stride, padding, self.dilation,
            self.groups,
        )  # fmt: skip

    def _borders(self) -> list[int]:
        """How much is added before and behind each dimension, the last one first."""
        if self.padding == "same":
            spans = zip(self.dilation, self.kernel_size, strict=True)
            both = [divmod(d * (k - 1), 2) for d, k in spans]
            pairs = [(half, half + odd) for half, odd in both]
        elif isinstance(self.padding, str):
            pairs = [(0, 0)] * self.rank
        else:
            pairs = [(p, p) for p in self.padding]
        return [n for pair in reversed(pairs) for n in pair]


class _ConvTransposeNd(_ConvNd):
    """The transpose of a convolution, which spreads each entry over a window.

    Args:
        padding: how much is cut off at every side.
        output_padding: how much is added at the far end, to choose among the sizes
            that the convolution takes to one.

    The other arguments are those of a convolution.
    """

    transposed = True

    @head("bias")
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Sizes,
        stride: Sizes = 1, padding: Sizes = 0, output_padding: Sizes = 0,
        groups: int = 1, bias: bool = True, dilation: Sizes = 1,
        padding_mode: str = "zeros", device: object = None, dtype: object = None,
    ) -> None:  # fmt: skip
        self._make(bias, device, dtype)

    def forward(
        self, input: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """Apply it; ``output_size`` chooses the spatial sizes of the result."""
        extra = self.output_padding
        if output_size is not None:
            extra = self._extra(input, tuple(output_size)[-self.rank :])
        return type(self).function(
            input, self.weight, self.bias, self.stride, self.padding, extra,
            self.groups, self.dilation,
        )  # fmt: skip

    def _extra(self, input: Tensor, wanted: tuple[int, ...]) -> tuple[int, ...]:
        """Compute the output padding that gives the wanted sizes."""
        sizes, padding = tuple(input.shape)[-self.rank :], cast("Any", self.padding)
        spans = zip(
            sizes, self.stride, padding, self.dilation, self.kernel_size, strict=True
        )
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in spans]
        most = [n + s - 1 for n, s in zip(least, self.stride, strict=True)]
        bounds = zip(least, wanted, most, strict=True)
        if not all(low <= n <= high for low, n, high in bounds):
            raise ValueError(
                f"requested an output size of {wanted}, but valid sizes range from "
                f"{least} to {most}"
            )
        return tuple([n - low for n, low in zip(wanted, least, strict=True)])
