"""Shapes as PyTorch shows them, and as a caller writes them.

Invariant: a `Size` is a tuple in every way; slices and sums of it are of its own kind.
A shape is given as numbers or as one tuple, whose sizes may be tensors.

    Size([2, 3])[1:]                # torch.Size([3])
    sizes_of(((2, 3),), "zeros")    # (2, 3)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from operator import index as as_index
from typing import Any, SupportsIndex

from .errors import EngineError


class Size(tuple[int, ...]):
    """The sizes of a tensor's dimensions."""

    __slots__ = ()

    def __new__(cls, sizes: Iterable[object] = ()) -> Size:
        made = tuple.__new__(cls, sizes)
        for index, n in enumerate(made):
            if not hasattr(n, "__index__"):
                raise TypeError(
                    f"torch.Size() takes an iterable of 'int' (item {index} is "
                    f"'{type(n).__name__}')"
                )
        return made

    def numel(self) -> int:
        """Return how many entries a tensor of this shape has."""
        return prod(self)

    def __getitem__(self, at: SupportsIndex | slice) -> Any:
        if isinstance(at, slice):
            return tuple.__new__(Size, tuple.__getitem__(self, at))
        return tuple.__getitem__(self, at)

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: tuple[int, ...]) -> Size:
        return Size(tuple.__add__(other, self))

    def __mul__(self, times: SupportsIndex) -> Size:
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    __str__ = __repr__


def sizes_of(size: Sequence[Any], name: str) -> tuple[int, ...]:
    """Return the shape that the arguments of the function ``name`` mean.

    Raises:
        TypeError: something else than integers.
        EngineError: a negative size.
    """
    if len(size) == 1 and isinstance(size[0], list | tuple):
        size = size[0]
    sizes = []
    for nr, n in enumerate(size):
        try:
            sizes.append(as_index(n))
        except TypeError:
            raise TypeError(
                f"{name}(): argument 'size' (position {nr + 1}) must be tuple of "
                f"ints, not {type(n).__name__}"
            ) from None
    if any(n < 0 for n in sizes):
        raise EngineError(f"{name}: Dimension size must be non-negative.")
    return tuple(sizes)
