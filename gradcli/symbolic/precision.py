"""The precisions that numbers are computed in.

Invariant: nothing here touches mpmath's global precision, so that two computations
with different numbers of digits never disturb each other.

    EXACT.sin(EXACT.mpf(1))         # to more than 50 digits
    engine_precision("float32")     # 24 bits, what the engine itself has
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import mpmath

DIGITS: Final = 50
"""What is promised of a reference number."""

_GUARD: Final = 10


def _context(**precision: int) -> Any:
    context = mpmath.mp.clone()
    for name, value in precision.items():
        setattr(context, name, value)
    return context


EXACT: Final = _context(dps=DIGITS + _GUARD)

BITS: Final = {"float64": 53, "float32": 24, "float16": 11}


@cache
def context_of(digits: int) -> Any:
    """A context with ``digits`` decimal digits."""
    return _context(dps=digits)


@cache
def engine_precision(dtype: str) -> Any:
    """A context that rounds as numbers of ``dtype`` do."""
    return _context(prec=BITS[dtype])


def unit_roundoff(dtype: str) -> float:
    """Half the distance from 1 to the next number of ``dtype``."""
    return 2.0 ** -BITS[dtype]


def guarded(context: Any, function: Any, *values: Any) -> Any:
    """``function(context, *values)`` as a real number.

    A pole is an infinity or nan as in floating point, and what leaves the real line
    is nan: both are values that a report speaks of, never exceptions.
    """
    try:
        result = function(context, *values)
    except (ZeroDivisionError, ValueError):
        return context.nan
    except (OverflowError, MemoryError):
        return context.inf
    return result if isinstance(result, context.mpf) else _real(context, result)


def _real(context: Any, result: Any) -> Any:
    if isinstance(result, context.mpc):
        return context.nan
    return context.mpf(result)


def divide(context: Any, a: Any, b: Any) -> Any:
    """``a / b`` with the infinities of floating point."""
    if b:
        return a / b
    return context.nan if not a or context.isnan(a) else context.inf * context.sign(a)


def power(context: Any, a: Any, b: Any) -> Any:
    """``a ** b`` with the infinities of floating point; nan off the real line."""
    if not a and b < 0:
        return context.inf
    return a**b
