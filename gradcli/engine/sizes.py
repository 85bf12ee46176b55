"""A shape as a caller writes it: numbers, one tuple, sizes that are tensors.

sizes_of((2, 3), "zeros")       # (2, 3)
sizes_of(((2, 3),), "zeros")    # (2, 3)
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from .errors import EngineError


def sizes_of(size: Sequence[Any], name: str) -> tuple[int, ...]:
    """The shape that the arguments of the function ``name`` mean.

    Raises:
        TypeError: something else than integers.
        EngineError: a negative size.
    """
    if len(size) == 1 and isinstance(size[0], list | tuple):
        size = size[0]
    sizes = []
    for nr, n in enumerate(size):
        try:
            sizes.append(index(n))
        except TypeError:
            raise TypeError(
                f"{name}(): argument 'size' (position {nr + 1}) must be tuple of "
                f"ints, not {type(n).__name__}"
            ) from None
    if any(n < 0 for n in sizes):
        raise EngineError(f"{name}: Dimension size must be non-negative.")
    return tuple(sizes)
