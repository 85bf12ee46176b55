"""Choosing between large arrays by a mask, without a branch at each entry.

Invariant: what comes back is what ``where`` gives, to the last bit; where the operands
are of other kinds than floats that lie in order nothing comes back.

    chosen(numpy, mask, 0, x)           # numpy.where(mask, 0, x), ten times as fast
"""

from __future__ import annotations

from typing import Any

from numpy import dtype

from .raw import Library, Raw

_BITS = {dtype("float32"): "i4", dtype("float64"): "i8"}
"""Types of floats, and integers as wide."""


def chosen(
    np: Library, mask: Raw, a: Any, b: Any, out: Raw | None = None
) -> Raw | None:
    """Choose ``a`` where a mask is true, else ``b``, by their bits; one may be 0.

    Args:
        out: takes the result, if there is one, in memory of its own.

    Returns:
        None where the operands are not large arrays of one shape and one type.
    """
    like = b if type(a) is int else a
    bits = _BITS.get(getattr(like, "dtype", None))
    if bits is None or mask.dtype != bool or not mask.flags.c_contiguous:
        return None
    if not (_fits(a, like, mask.shape) and _fits(b, like, mask.shape)):
        return None
    out = np.empty_like(like) if out is None else out
    written, ones = out.view(bits), mask.view("i1")
    if type(a) is int:
        written[...] = np.subtract(ones, 1)  # of bytes first, which takes less
        np.bitwise_and(written, b.view(bits), out=written)
        return out
    written[...] = np.negative(ones)
    if type(b) is int:
        np.bitwise_and(written, a.view(bits), out=written)
        return out
    ours, theirs = a.view(bits), b.view(bits)
    np.bitwise_and(written, np.bitwise_xor(ours, theirs), out=written)
    np.bitwise_xor(written, theirs, out=written)
    return out


def _fits(x: Any, like: Raw, shape: tuple[int, ...]) -> bool:
    """Return whether an operand is 0, or floats of a type and shape, in order."""
    if type(x) is int:
        return x == 0
    alike = getattr(x, "shape", None) == shape and x.dtype == like.dtype
    return alike and bool(x.flags.c_contiguous)
