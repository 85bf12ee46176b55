"""How far a float may lie from the 50-digit number before it is wrong.

What rounding alone can do is not guessed but computed: the same sums are run once more
at the engine's own precision, both the independent ones and the engine's rules. What
they lose there is the natural error of this program at this point.

Invariant: a number outside the allowance cannot be explained by rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, isinf, isnan
from typing import Any, Final

from .precision import BITS, EXACT, SHAKEN, unit_roundoff

ORDERS: Final = 1024
"""Roundings in the worst path: ten bits for other orders of the same sums, and for
library functions that are good to a few units in the last place."""

NATURAL: Final = 64
"""Allowed multiple of the natural error; its own size is partly chance."""

LARGEST: Final = {"float64": 1.7976931348623157e308, "float32": 3.4028234663852886e38}
TINY: Final = {"float64": 1e-290, "float32": 1e-36}
"""Near here numbers lose digits, and then vanish."""


WORTHLESS: Final = 1e-3
"""A relative error that no reader takes for rounding, though it is nothing else."""

DOUBTFUL: Final = 1e-8
"""Relative loss at the engine's precision from which on 50 digits are doubted."""

SETTLED: Final = EXACT.mpf("1e-20")
"""Relative change with more digits up to which a number stands."""

VANISHED: Final = EXACT.mpf("1e-45")
"""What is left, relative to what was added up, where the sum is in truth zero."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A 50-digit number and what rounding may do to its float.

    scale    how many units a unit of rounding in each step can make of it
    natural  the error of the same sums at the engine's precision
    settled  more digits would not change what is shown of it
    """

    value: Any
    scale: Any
    natural: Any
    settled: bool = True


@dataclass(frozen=True, slots=True)
class Distance:
    """``error`` is relative, ``ulps`` the same in units in the last place of the exact
    number; None where there is none to speak of."""

    right: bool
    error: float | None
    reason: str | None = None
    ulps: float | None = None


def distance(number: float, reference: Reference, dtype: str) -> Distance:
    """Compare the engine's number with the reference."""
    exact = reference.value
    if not reference.settled:
        return Distance(False, None, _unsettled(number))
    if not EXACT.isfinite(exact):
        return Distance(False, None, _no_reference(number, exact))
    if isnan(number):
        shown = EXACT.nstr(exact, 8)
        return Distance(
            False, None, f"the number is nan; SymPy's derivative is {shown}"
        )
    if isinf(number):
        overflow = abs(exact) > LARGEST[dtype] and (exact > 0) == (number > 0)
        lost = not overflow and not EXACT.isfinite(reference.natural)
        return Distance(overflow, None, _left(number, exact, dtype) if lost else None)
    error = abs(EXACT.mpf(number) - exact)
    natural = reference.natural if EXACT.isfinite(reference.natural) else abs(exact)
    allowed = ORDERS * unit_roundoff(dtype) * max(abs(exact), reference.scale)
    allowed += NATURAL * natural + TINY[dtype]
    if abs(exact) <= VANISHED * reference.scale:
        relative = float(error / (reference.scale or EXACT.one))
    else:
        relative = float(error / max(abs(exact), TINY[dtype]))
    ulps = float(error / last_place(exact, dtype)) if exact else None
    if error > allowed:
        return Distance(False, relative, None, ulps)
    # What is tiny beside what was added up to it may lose all its digits.
    noticed = ORDERS * unit_roundoff(dtype) * min(EXACT.one, reference.scale)
    if relative > WORTHLESS and error > noticed:
        return Distance(False, relative, _worthless(number, exact), ulps)
    return Distance(True, relative, None, ulps)


def amplified(exact: Any, moved: Any, dtype: str) -> Any:
    """What one relative unit of change in every step makes of a number.

    Args:
        exact: the number.
        moved: what it is where every step was moved by up to `SHAKEN` roundings.
        dtype: of the roundings.
    """
    gap = abs(EXACT.mpf(moved) - exact)
    if not EXACT.isfinite(gap):
        return abs(exact)
    return gap / (SHAKEN * unit_roundoff(dtype))


def last_place(exact: Any, dtype: str) -> Any:
    """The distance between neighbouring numbers of ``dtype`` at a number."""
    return EXACT.ldexp(1, EXACT.mag(exact) - BITS[dtype])


def _worthless(number: float, exact: Any) -> str:
    shown = EXACT.nstr(exact, 17)
    return f"rounding left few digits or none: {number!r}, with 50 digits {shown}"


def worst(*losses: Any) -> Any:
    """The largest; what is not a number is a loss without bound."""
    return max([EXACT.inf if EXACT.isnan(loss) else loss for loss in losses])


def _left(number: float, exact: Any, dtype: str) -> str:
    shown = EXACT.nstr(exact, 17)
    return (
        f"numbers on the way leave the range of {dtype}: {number!r}, with 50 digits "
        f"{shown}"
    )


def _unsettled(number: float) -> str:
    return (
        f"rounding left few digits or none: {number!r}; {EXACT.dps} digits are too few "
        "to tell them"
    )


def doubtful(value: Any, natural: Any) -> bool:
    """Whether rounding takes so much that 50 digits may not be enough either."""
    return bool(EXACT.isfinite(value) and natural > DOUBTFUL * abs(value))


def settled(before: Any, after: Any, scale: Any) -> bool:
    """Whether a number computed with more digits is the same beside ``scale``, what
    roundings are relative to; or a zero that has only come closer to zero."""
    if not EXACT.isfinite(after):
        return bool(before == after)
    gap = abs(EXACT.mpf(after) - before)
    size = max(abs(before), scale)
    return bool(gap <= SETTLED * size or abs(after) <= SETTLED * abs(before))


def _no_reference(number: float, exact: Any) -> str:
    if isfinite(number):
        return "SymPy's derivative has no finite value at this point"
    if isnan(number):
        return "nan: the derivative is not defined at this point"
    return "the derivative is infinite at this point"
