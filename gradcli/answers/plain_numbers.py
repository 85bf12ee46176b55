"""Arrays as plain Python numbers that read back as the same number.

Invariant: reading a number back in the dtype it was computed in gives the same number,
and no other digits are shown: a float32 tenth is 0.1, not 0.10000000149011612.

    plain(numpy.float32(0.1))            # 0.1
    plain(numpy.eye(2))                  # [[1.0, 0.0], [0.0, 1.0]]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypeAlias

import numpy as np

from ..engine.raw import Raw

Plain: TypeAlias = Annotated[float | list[Any], "value"]
"""A number, or lists of numbers nested as deep as the shape is long."""


class LargeArray:
    """A large array, whose entries become lists of numbers when they are shown."""

    __slots__ = ("raw",)

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.raw.shape)

    def listed(self) -> list[object]:
        """Return all entries as nested lists."""
        found = plain(self.raw)
        assert isinstance(found, list)
        return found

    def around(self, most: Sequence[int]) -> list[object]:
        """Return the entries at both ends of each dimension, one more than ``most``
        allows, so that whoever shortens the lists to ``most`` still sees that entries
        are left out."""
        raw = self.raw
        for dim, (size, room) in enumerate(zip(self.shape, most, strict=True)):
            if size > room + 1:
                first = (room + 1) // 2 + 1
                kept = [*range(first), *range(size - (room + 1 - first), size)]
                raw = raw.take(kept, dim)
        return LargeArray(raw).listed()


Shown: TypeAlias = Plain | LargeArray
"""Numbers of an array as a view holds them."""


def shown(raw: Raw) -> Shown:
    """Return an array as nested lists; one above `MANY` entries as `LargeArray`."""
    if getattr(raw, "size", 1) <= MANY:
        return plain(raw)
    return LargeArray(raw.get() if hasattr(raw, "get") else raw)


def without_signs(value: Shown, rows: int, columns: int) -> Shown:
    """Return the numbers of a matrix, of any shape, with 0 for -0 off its diagonal; of
    a row or a column as they are."""
    if min(rows, columns) < 2:
        return value
    raw = np.asarray(value.raw if isinstance(value, LargeArray) else value)
    matrix = raw.reshape(rows, columns)
    clean = np.where(np.eye(rows, columns, dtype=bool), matrix, matrix + 0.0)
    return shown(clean.reshape(raw.shape))


def flat_columns(
    names: Sequence[str], columns: Sequence[Any]
) -> tuple[list[str], list[Any]]:
    """Return columns with one number, or one text, in each row: for one whose rows have
    several, ``name_0``, ``name_1``."""
    found: dict[str, Any] = {}
    for name, column in zip(names, map(np.asanyarray, columns), strict=True):
        for index in np.ndindex(column.shape[1:]):
            numbered = "_".join([name, *map(str, index)])
            array = column[(slice(None), *index)]
            found[numbered] = array if array.dtype == object else array.astype(float)
    return [*found], [*found.values()]


MANY = 1 << 16
"""Largest number of entries that `shown` turns into lists at once; a larger array stays
an array."""

DOUBLE = 8
"""Bytes of a Python float; shorter floats are read from their shortest decimals."""


def plain(raw: Any) -> Plain:
    """Return a number or nested lists from an array, an array's scalar or a number."""
    if isinstance(raw, float) or not hasattr(raw, "dtype"):
        return float(raw)
    dtype = raw.dtype
    if dtype.kind == "f" and dtype.itemsize >= DOUBLE:
        listed: Plain = raw.tolist()
        return listed
    host = raw.get() if hasattr(raw, "get") else np.asarray(raw)
    if host.dtype.kind == "f" and host.dtype.itemsize < DOUBLE:
        texts = [float(str(entry)) for entry in host.ravel()]
        host = np.array(texts, dtype=np.float64).reshape(host.shape)
    widened: Plain = host.astype(np.float64).tolist()
    return widened


def flat(value: Shown) -> list[float]:
    """Return all numbers in one list, in C order."""
    if isinstance(value, LargeArray):
        value = value.listed()
    level: list[Any] = [value]
    while level and isinstance(level[0], list):
        level = [entry for row in level for entry in row]
    return level


def sizes(value: Shown) -> list[int]:
    """Return the shape of nested lists, as far as their first entries tell it."""
    if isinstance(value, LargeArray):
        return list(value.shape)
    found: list[int] = []
    while isinstance(value, list):
        found.append(len(value))
        if not value:
            break
        value = value[0]
    return found
