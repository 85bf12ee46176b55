"""Layers that change only the size, or add a border.

Invariant: widths of a border come in pairs, the last dimension's first.

    Upsample(scale_factor=2)(pictures)      # (N, C, H, W) -> (N, C, 2 H, 2 W)
"""

from __future__ import annotations

from typing import ClassVar

from ..engine.tensor import Tensor
from . import functional as F
from .declare import Sizes, applying, each, head, saying
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

    @head("scale_factor")
    def __init__(
        self, size: Sizes | None = None, scale_factor: Growth | None = None,
        mode: str = "nearest", align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:  # fmt: skip
        self.scale_factor: Growth | None = None
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple([float(factor) for factor in scale_factor])
        elif scale_factor:
            self.scale_factor = float(scale_factor)

    forward = applying(
        F.interpolate,
        1,
        ("size", "scale_factor", "mode", "align_corners", "recompute_scale_factor"),
    )

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


class _PadNd(Module):
    """A border around the last dimensions, of zeros or of what lies inside.

    Args:
        padding: the width of the border, or a width for each side.
    """

    rank: ClassVar[int]
    mode: ClassVar[str] = "constant"
    value: float | None = None
    padding: tuple[int, ...]

    @head()
    def __init__(self, padding: Sizes) -> None:
        self.padding = each(padding, 2 * self.rank)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self.mode, self.value)

    extra_repr = saying("{padding}")


class _ConstantPadNd(_PadNd):
    """A border of one number around the last dimensions.

    Args:
        padding: the width of the border, or a width for each side.
        value: what the border is filled with.
    """

    def __init__(self, padding: Sizes, value: float) -> None:
        super().__init__(padding)
        self.value = value

    extra_repr = saying("padding={padding}, value={value}")
