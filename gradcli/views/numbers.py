"""Arrays as plain Python numbers, by shortest round trip.

Invariant: reading a number back in the dtype it was computed in gives the same number,
and no other digits are shown: a float32 tenth is 0.1, not 0.10000000149011612.

    plain(numpy.float32(0.1))            # 0.1
    plain(numpy.eye(2))                  # [[1.0, 0.0], [0.0, 1.0]]
"""

from __future__ import annotations

from typing import Any, TypeAlias

Plain: TypeAlias = "float | list[Any]"
"""A number, or lists of numbers nested as deep as the shape is long."""

DOUBLE = 8
"""Bytes of a number as Python's own floats hold it; shorter ones have fewer digits."""


def plain(raw: Any) -> Plain:
    """A number or nested lists from an array, an array's scalar or a number."""
    if isinstance(raw, float) or not hasattr(raw, "dtype"):
        return float(raw)
    dtype = raw.dtype
    if dtype.kind == "f" and dtype.itemsize >= DOUBLE:
        listed: Plain = raw.tolist()
        return listed
    import numpy

    host = raw.get() if hasattr(raw, "get") else numpy.asarray(raw)
    if host.dtype.kind == "f" and host.dtype.itemsize < DOUBLE:
        texts = [float(str(entry)) for entry in host.ravel()]
        host = numpy.array(texts, dtype=numpy.float64).reshape(host.shape)
    widened: Plain = host.astype(numpy.float64).tolist()
    return widened
