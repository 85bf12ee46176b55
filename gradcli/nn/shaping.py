"""Layers that change the shape alone, or add a border.

Invariant: widths of a border come in pairs, the last dimension's first.
"""

from __future__ import annotations

from typing import ClassVar

from ..engine.record import call
from ..engine.tensor import Tensor
from .convolution import Sizes, each
from .heads import head, saying
from .module import Module

Growth = float | tuple[float, ...]
"""How many times dimensions grow: all of them, or each."""


class Upsample(Module):
    """Sequences, pictures or volumes at another size.

    Args:
        size: the size, for all dimensions or for each.
        scale_factor: the same as a factor of the input's.
        mode: "nearest", "linear", "bilinear", "bicubic" or "trilinear".
        align_corners: keep the corner entries where they are, rather than the edges.
        recompute_scale_factor: take the factor of the two sizes.
    """

    def __init__(
        self, size: Sizes | None = None, scale_factor: Growth | None = None,
        mode: str = "nearest", align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        self.scale_factor: Growth | None = None
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple([float(factor) for factor in scale_factor])
        elif scale_factor:
            self.scale_factor = float(scale_factor)
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        found: Tensor = call(
            "interpolate", input, self.size, self.scale_factor, self.mode,
            self.align_corners, self.recompute_scale_factor,
        )  # fmt: skip
        return found

    def extra_repr(self) -> str:
        by = "size" if self.scale_factor is None else "scale_factor"
        return f"{by}={getattr(self, by)!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Pictures at another size, of the nearest entries."""

    def __init__(
        self, size: Sizes | None = None, scale_factor: Growth | None = None
    ) -> None:
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    """Pictures at another size, between four entries, with the corners kept."""

    def __init__(
        self, size: Sizes | None = None, scale_factor: Growth | None = None
    ) -> None:
        super().__init__(size, scale_factor, "bilinear", True)


class Unflatten(Module):
    """Splits one dimension into several."""

    @head()
    def __init__(self, dim: int, unflattened_size: object) -> None:
        if not isinstance(unflattened_size, tuple | list):
            raise TypeError(
                "unflattened_size must be a tuple of ints, but found type "
                f"{type(unflattened_size).__name__}"
            )
        for at, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError(
                    "unflattened_size must be tuple of ints, but found element of type "
                    f"{type(size).__name__} at pos {at}"
                )

    def forward(self, input: Tensor) -> Tensor:
        found: Tensor = call("unflatten", input, self.dim, tuple(self.unflattened_size))
        return found

    extra_repr = saying("dim={dim}, unflattened_size={unflattened_size}")


class _ConstantPadNd(Module):
    """A border of one number around the last dimensions."""

    rank: ClassVar[int]
    padding: tuple[int, ...]
    value: float = 0.0

    def forward(self, input: Tensor) -> Tensor:
        found: Tensor = call("constant_pad_nd", input, self.padding, self.value)
        return found

    extra_repr = saying("padding={padding}, value={value}")


class _ConstantPad(_ConstantPadNd):
    """A border of one number around the last dimensions.

    Args:
        padding: the width of the border, or a width for each side.
        value: what the border is filled with.
    """

    @head()
    def __init__(self, padding: Sizes, value: float) -> None:
        self.padding = each(padding, 2 * self.rank)


class _ZeroPad(_ConstantPadNd):
    """A border of zeros; ``padding`` is its width, or a width for each side."""

    @head()
    def __init__(self, padding: Sizes) -> None:
        self.padding = each(padding, 2 * self.rank)

    extra_repr = saying("{padding}")


class _BorderNd(Module):
    """A border made of what lies inside."""

    rank: ClassVar[int]
    mode: ClassVar[str]
    padding: tuple[int, ...]

    @head()
    def __init__(self, padding: Sizes) -> None:
        self.padding = each(padding, 2 * self.rank)

    def forward(self, input: Tensor) -> Tensor:
        found: Tensor = call("pad", input, self.padding, self.mode)
        return found

    extra_repr = saying("{padding}")


class _ReflectionPad(_BorderNd):
    """A border that mirrors what is inside; ``padding`` is its width, or a width for
    each side."""

    mode = "reflect"


class _ReplicationPad(_BorderNd):
    """A border that repeats the outermost entries; ``padding`` is its width, or a width
    for each side."""

    mode = "replicate"


class _CircularPad(_BorderNd):
    """A border of the entries of the far side; ``padding`` is its width, or a width for
    each side."""

    mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        dims = self.rank + 1
        if input.ndim not in (dims, dims + 1):
            raise ValueError(
                f"expected {dims}D or {dims + 1}D input (got {input.ndim}D input)"
            )
        found: Tensor = super().forward(input)
        return found
