"""Layers that change the shape alone, or add a border.

Invariant: widths of a border come in pairs, the last dimension's first.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ..engine.record import call
from ..engine.tensor import Tensor
from .convolution import Sizes, each
from .heads import head, saying
from .module import Module


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

    def forward(self, input: Tensor) -> Any:
        return call("unflatten", input, self.dim, tuple(self.unflattened_size))

    extra_repr = saying("dim={dim}, unflattened_size={unflattened_size}")


class _ConstantPadNd(Module):
    """A border of one number around the last dimensions."""

    rank: ClassVar[int]
    padding: tuple[int, ...]
    value: float = 0.0

    def forward(self, input: Tensor) -> Any:
        return call("constant_pad_nd", input, self.padding, self.value)

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
