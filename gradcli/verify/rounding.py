"""How far a float may lie from the 50-digit number before it is wrong.

What rounding alone can do is not guessed but computed: the same sums are run once more
at the engine's own precision, both the independent ones and the engine's rules. What
they lose there is the natural error of this program at this point; what the rules lose
counts only where they are right: where, in exact arithmetic, they give the reference.

Invariant: a number outside the allowance cannot be explained by rounding; one inside is
right only if it has digits of the reference, or none is to be had beside the sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isinf, isnan
from typing import Any, Final

from ..numbers.precision import BITS, EXACT, FINER, REACH, SHAKEN, unit_roundoff

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

LAST_STEPS: Final = 4
"""Steps between the smallest numbers of a type that are rounding there."""

DOUBTFUL: Final = 1e-8
"""Relative loss at the engine's precision from which on 50 digits are compared with
more: it may have lost all."""

SETTLED: Final = EXACT.mpf("1e-20")
"""Relative distance up to which two ways of computing a number give the same."""

LEAST: Final = EXACT.mpf("1e-308")
"""Where the numbers of all types end."""

SPARE: Final = 5
"""Digits of a precision that the steps themselves may cost."""

CONSTANTS: Final = 8 * unit_roundoff("float64")
"""Relative error of a rule's own constants, and of a series that stands in it."""

APART: Final = EXACT.mpf("1e-10")
"""Change with more digits, beside the distance from the reference, from which on a
rule's number is sure to be another."""


@dataclass(frozen=True, slots=True)
class Reference:
    """An exact number and what rounding may do to its float.

    scale    how many units a unit of rounding in each step can make of it
    natural  the error of the engine's sums at its precision; nan: no such sums are
             known to be right
    settled  more digits would not change what is shown of it
    context  the precision that it is told in
    rule     what the engine's rules give in exact arithmetic, where that is another
             number
    size     of what it stands beside: what is nothing there is nothing
    """

    value: Any
    scale: Any
    natural: Any
    settled: bool = True
    context: Any = EXACT
    rule: Any = None
    size: Any = 1

    def unsure(self, context: Any) -> Any:
        """What a precision may have it wrong by, as far as roundings show that."""
        return self.scale * EXACT.mpf(10) ** (SPARE - context.dps)

    @property
    def vanishes(self) -> bool:
        """Whether it is zero as far as its precision can tell."""
        return bool(abs(self.value) <= self.unsure(self.context))

    def is_known(self, context: Any) -> bool:
        """Whether a precision is enough to tell it, or that it is no float but 0."""
        return bool(self.unsure(context) <= SETTLED * max(abs(self.value), LEAST))

    def is_also(self, value: Any) -> bool:
        """Whether this is the same number, computed in some other way."""
        if not EXACT.isfinite(value) or not EXACT.isfinite(self.value):
            return bool(value == self.value)
        gap = abs(value - self.value)
        return bool(gap <= max(SETTLED * abs(self.value), LEAST * SETTLED))

    def is_rule(self, value: Any) -> bool:
        """Whether a rule that gives ``value`` is right, but for its constants."""
        gap = abs(value - self.value)
        return bool(gap <= CONSTANTS * max(abs(self.value), self.scale)) or (
            self.is_also(value)
        )


@dataclass(frozen=True, slots=True)
class Distance:
    """``error`` is relative, ``ulps`` the same in units in the last place of the exact
    number; None where there is none to speak of."""

    right: bool
    error: float | None
    reason: str | None = None
    ulps: float | None = None


def distance(
    number: float, reference: Reference, dtype: str, loose: bool = False
) -> Distance:
    """Compare the engine's number with the reference.

    Args:
        number: the engine's.
        reference: the true one.
        dtype: the type of the engine's number.
        loose: what is tiny beside what was added up to it may lose all its digits, as
            zero may.
    """
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
        left = not overflow and not EXACT.isfinite(reference.natural)
        return Distance(overflow, None, _left(number, exact, dtype) if left else None)
    error = abs(EXACT.mpf(number) - exact)
    rounding = ORDERS * unit_roundoff(dtype)
    allowed = rounding * max(abs(exact), reference.scale) + TINY[dtype]
    if EXACT.isfinite(reference.natural):
        allowed += NATURAL * reference.natural
    elif EXACT.isinf(reference.natural):
        allowed += NATURAL * abs(exact)
    vanished = reference.vanishes
    normal = EXACT.ldexp(1, REACH[dtype][0] + BITS[dtype] - 1)
    relative = float(error / max(reference.scale if vanished else abs(exact), normal))
    ulps = float(error / last_place(exact, dtype)) if exact else None
    if reference.rule is not None:
        return Distance(False, relative, None, ulps)
    if error > allowed:
        unsure = EXACT.isnan(reference.natural)
        return Distance(False, relative, _untold(number, exact) if unsure else None,
                        ulps)  # fmt: skip
    noticed = EXACT.ldexp(LAST_STEPS, REACH[dtype][0])
    if vanished or loose:
        noticed = max(noticed, rounding * min(reference.size, reference.scale))
    if error > noticed and (vanished or error > WORTHLESS * abs(exact)):
        return Distance(False, relative, _worthless(number, exact), ulps)
    return Distance(True, relative, None, ulps)


def amplified(exact: Any, moved: Sequence[Any], dtype: str) -> Any:
    """What one relative unit of change in every step makes of a number.

    Args:
        exact: the number.
        moved: what it is in trials where every step was moved by up to `SHAKEN`
            roundings.
        dtype: of the roundings.
    """
    gap = max([lost(trial, exact) for trial in moved])
    if not EXACT.isfinite(gap):
        return abs(exact)
    return gap / (SHAKEN * unit_roundoff(dtype))


def last_place(exact: Any, dtype: str) -> Any:
    """The distance between neighbouring numbers of ``dtype`` at a number."""
    return EXACT.ldexp(1, EXACT.mag(exact) - BITS[dtype])


def _worthless(number: float, exact: Any) -> str:
    shown = EXACT.nstr(exact, 17)
    return (
        f"the program loses its digits here: it gave {number!r}, with 50 digits {shown}"
    )


def _untold(number: float, exact: Any) -> str:
    shown = EXACT.nstr(exact, 17)
    return (
        f"the engine gave {number!r}, with 50 digits {shown}, and its rules have no "
        "value in exact arithmetic that could be told"
    )


def lost(nearly: Any, exact: Any) -> Any:
    """What rounding took; without bound if it left no number."""
    gap = abs(EXACT.mpf(nearly) - exact)
    return EXACT.inf if EXACT.isnan(gap) else gap


def _left(number: float, exact: Any, dtype: str) -> str:
    shown = EXACT.nstr(exact, 17)
    return (
        f"numbers on the way leave the range of {dtype}: {number!r}, with 50 digits "
        f"{shown}"
    )


def _unsettled(number: float) -> str:
    return (
        f"the program loses its digits here: it gave {number!r}, and "
        f"{FINER[-1].dps} digits are too few to tell the true number"
    )


def settle(references: list[Reference], again: Callable[[Any], list[Any]]) -> None:
    """Tell all numbers in as many digits as they take, in place.

    A number stands if roundings show that its digits are enough; where rounding takes
    much of it, only if more digits give the same.

    Args:
        references: the numbers in `EXACT`.
        again: all of them in another precision; asked only if there is a doubt.
    """
    doubts = [i for i, r in enumerate(references) if _is_doubtful(r)]
    coarse = EXACT
    for finer in FINER:
        if not doubts:
            return
        values = again(finer)
        left = []
        for i in doubts:
            told = replace(references[i], value=values[i], context=finer)
            gap = abs(told.value - references[i].value)
            alike = told.is_also(references[i].value) or gap <= told.unsure(coarse)
            stands = bool(alike and told.is_known(finer))
            references[i] = replace(told, settled=stands)
            if not stands:
                left.append(i)
        doubts, coarse = left, finer


def side_by_side(references: Sequence[Reference]) -> list[Reference]:
    """The references, each beside the largest of all."""
    known = [abs(r.value) for r in references if r.settled]
    size = max([v for v in known if EXACT.isfinite(v)], default=EXACT.one)
    return [replace(r, size=max(EXACT.one, size)) for r in references]


def _is_doubtful(reference: Reference) -> bool:
    if not EXACT.isfinite(reference.value):
        return False
    return not reference.is_known(EXACT) or not (
        reference.natural <= DOUBTFUL * abs(reference.value)
    )


@dataclass(frozen=True, slots=True)
class Rules:
    """What the engine's rules give for a number.

    exactly  in `EXACT`
    again    in another precision; asked only where the first is not the reference
    nearly   at the engine's precision
    moved    in trials where every step is moved by up to `SHAKEN` roundings
    """

    exactly: Any
    again: Callable[[Any], Any]
    nearly: Any
    moved: Sequence[Any]


def ruled(reference: Reference, rules: Rules, dtype: str) -> Reference:
    """The reference, and what the engine's rules are worth beside it."""
    if not reference.settled or not EXACT.isfinite(reference.value):
        return reference
    right = replace(reference, natural=lost(rules.nearly, reference.value))
    if reference.is_rule(rules.exactly):
        return right
    gap = max([lost(trial, rules.exactly) for trial in rules.moved])
    scale = gap / (SHAKEN * unit_roundoff(dtype))
    before = rules.exactly
    for finer in FINER:
        after = rules.again(finer)
        if reference.is_rule(after):
            return right
        change = abs(after - before) + scale * EXACT.mpf(10) ** (SPARE - finer.dps)
        if change <= APART * abs(after - reference.value):
            return replace(reference, rule=after)
        before = after
    return replace(reference, natural=EXACT.nan)


def _no_reference(number: float, exact: Any) -> str:
    if isfinite(number):
        return "SymPy's derivative has no finite value at this point"
    if isnan(number):
        return "nan: the derivative is not defined at this point"
    return "the derivative is infinite at this point"
