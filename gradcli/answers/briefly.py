"""Numbers for pictures: small arrays whole, large ones as a shape and bounds.

briefly(numpy.eye(2))               # [[1.0, 0.0], [0.0, 1.0]]
briefly(numpy.zeros(1000))          # Extent((1000,), 0.0, 0.0, False)
"""

from __future__ import annotations

from math import inf, isnan, nan
from typing import Any, Final, NamedTuple, TypeAlias

import numpy

from ..engine.devices import host
from .plain_numbers import Plain, Shown, flat, plain, sizes

MAX_WHOLE_ENTRIES: Final = 64
"""Largest number of entries of an array that is kept whole."""


class Extent(NamedTuple):
    """An array's shape, its smallest and largest entry, and whether NaN is among them.

    If it holds no number but NaN, ``low`` is above ``high``.
    """

    shape: tuple[int, ...]
    low: float
    high: float
    nan: bool


Brief: TypeAlias = "Shown | Extent"


def briefly(raw: Any) -> Plain | Extent:
    """Return a small array or a number as numbers, a large array as its `Extent`."""
    if not hasattr(raw, "dtype") or raw.size <= MAX_WHOLE_ENTRIES:
        return plain(raw)
    entries = numpy.asarray(host(raw))
    strange = numpy.isnan(entries)
    known = entries[~strange]
    low, high = (known.min(), known.max()) if known.size else (inf, -inf)
    return Extent(tuple(entries.shape), float(low), float(high), bool(strange.any()))


def extent(value: Shown) -> Extent:
    """Return the shape and the bounds of nested lists, and whether NaN occurs."""
    entries = flat(value)
    known = [entry for entry in entries if not isnan(entry)]
    low, high = min(known, default=inf), max(known, default=-inf)
    return Extent(tuple(sizes(value)), low, high, len(known) < len(entries))


def magnitude(value: Brief | None) -> float | None:
    """Return the largest absolute entry; NaN if any is NaN, None without entries."""
    if value is None:
        return None
    found = value if isinstance(value, Extent) else extent(value)
    if found.nan:
        return nan
    return max(abs(found.low), abs(found.high)) if found.low <= found.high else None
