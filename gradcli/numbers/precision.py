"""The precisions that numbers are computed in.

Invariant: nothing here touches mpmath's global precision, so that two computations
with different numbers of digits never disturb each other.

    EXACT.sin(EXACT.mpf(1))         # to more than 50 digits
    engine_precision("float32")     # 24 bits, what the engine itself has
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random
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

FINER: Final = tuple(_context(dps=k * (DIGITS + _GUARD)) for k in (2, 8, 32))
"""What is asked, one after the other, where `EXACT` may not be enough: the second for
what is left where floats cancel, the last for what the square of one leaves of 1."""

BITS: Final = {"float64": 53, "float32": 24, "float16": 11}


FAR: Final = 200_000
"""The power of two beyond which a number is infinite to any type many times over. To
take the sine of one that is farther out could need all digits of pi that there are."""


_NEAR: Final = 0, 0, 0, 0
"""The parts of a plain float, which is near."""


@cache
def context_of(digits: int) -> Any:
    """A context with ``digits`` decimal digits."""
    return _context(dps=digits)


REACH: Final = {"float64": (-1074, 1024), "float32": (-149, 128), "float16": (-24, 16)}
"""Between which powers of two numbers of a type lie."""


@cache
def engine_precision(dtype: str) -> Any:
    """A context that rounds as numbers of ``dtype`` do; for `held`, it has their
    range."""
    context = _context(prec=BITS[dtype])
    context.reach = REACH[dtype]
    return context


SHAKEN: Final = 8
"""Roundings that a shaken number is moved by, at most; at least by half as many."""

TRIALS: Final = 2
"""How often it is tried: in one trial alone, moves may cancel."""

_BETWEEN: Final = 40
"""Bits beyond a type's own, so that moved numbers do not meet."""


def shaking(dtype: str) -> tuple[Any, ...]:
    """Contexts beyond a type's precision in which `held` moves every number."""
    return tuple(_shaking(dtype, seed) for seed in range(TRIALS))


def _shaking(dtype: str, seed: int) -> Any:
    context = _context(prec=BITS[dtype] + _BETWEEN)
    draw, most = Random(seed).uniform, SHAKEN * unit_roundoff(dtype)

    def moved(value: Any) -> Any:
        by = draw(-most, most) / 2
        return value * (1 + by + (most / 2 if by > 0 else -most / 2))

    context.moved = moved
    return context


def held(context: Any, value: Any) -> Any:
    """What is left of a number where the context's numbers have a range, or move."""
    moved = getattr(context, "moved", None)
    if moved is not None:
        return moved(value)
    reach = getattr(context, "reach", None)
    if reach is None:
        return value
    _, man, exp, bits = value._mpf_
    if not man or (exp >= reach[0] and exp + bits <= reach[1]):
        return value
    if exp + bits > reach[1]:
        return context.inf * context.sign(value)
    # Near zero the type's numbers lie evenly.
    return context.ldexp(context.nint(context.ldexp(value, -reach[0])), reach[0])


def jostled(context: Any, addends: Sequence[Any]) -> Sequence[Any]:
    """The addends of a sum as roundings leave them.

    Each is moved where the context moves its numbers: whatever the order of a sum, its
    roundings are those of its addends. Where numbers have a range that an order of the
    sum may leave, the sum is nan.
    """
    moved = getattr(context, "moved", None)
    if moved is not None:
        return [moved(a) for a in addends]
    reach = getattr(context, "reach", None)
    if reach is None or not any(a._mpf_[2] + a._mpf_[3] >= reach[1] for a in addends):
        return addends
    whole = held(context, context.fsum(addends, absolute=True))
    return addends if context.isfinite(whole) else [*addends, context.nan]


def unit_roundoff(dtype: str) -> float:
    """Half the distance from 1 to the next number of ``dtype``."""
    return 2.0 ** -BITS[dtype]


def guarded(context: Any, function: Any, *values: Any) -> Any:
    """``function(context, *values)`` as a real number.

    A pole is an infinity or nan as in floating point, and what leaves the real line
    is nan: both are values that a report speaks of, never exceptions. What is `FAR` out
    is an infinity, too.
    """
    try:
        result = function(context, *values)
    except (ZeroDivisionError, ValueError):
        return context.nan
    except (OverflowError, MemoryError):
        return context.inf
    if not isinstance(result, context.mpf):
        result = _real(context, result)
    power = getattr(result, "_mpf_", _NEAR)[2]
    return result if power < FAR else context.inf * context.sign(result)


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


def whole_power(exponent: int, context: Any, a: Any) -> Any:
    """``a ** exponent`` for a whole exponent, with the infinities of floating point."""
    if exponent < 0:
        return divide(context, context.one, a**-exponent) if a else context.inf
    return a**exponent
