"""What a float is worth beside the true number: certified, rounded or refuted.

The true number comes as a ball. What the engine's own rules give on balls has to meet
it before rounding explains anything; then running error analysis of the engine's steps
says how far rounding can carry a float.

Invariant: a number that is `certified` has an error with a proven bound, and the digits
that `DIGITS` asks of its type; one that is `refuted` is off by more than rounding makes
of it, or its rules are wrong.

    judge(0.877, Reference(true, rule, step), roundings, size=1.0).verdict
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, isfinite, isinf, isnan, log10
from typing import Final

from ..numbers.balls import (
    Ball,
    ball,
    close,
    is_known,
    size,
    text,
    to_float,
    working,
)
from ..numbers.limits import ACCURATE_BITS, LOST_RELATIVE_ERROR
from ..numbers.rounding import (
    BITS,
    LEAST_POWERS,
    MAX_POWERS,
    Roundings,
    least_normal,
)
from .process.job import CERTIFIED, REFUTED, ROUNDED, UNKNOWN

DIGITS: Final = {"float64": 6, "float32": 3, "float16": 1}
"""Correct digits that a number needs to be certified."""

NEAR_UNITS: Final = 64
"""Units of rounding that any program may lose without being asked how."""

FEW_UNITS: Final = 1024
"""Units of rounding that may be lost where the rules do not run on balls."""

FAIR: Final = 16
"""Factor by which an error may be above its bound of the first order."""

CONSTANT_UNITS: Final = 8
"""Units of float64's rounding that a rule's own constants, or a series that stands in
it, may put it beside the true number."""

LAST_STEPS: Final = 4
"""Steps between the smallest numbers of a type that are rounding there."""

START: Final = 96
"""Bits that comparisons of balls with floats are computed in."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A true number, and what the engine's rules give for it.

    rule  what the rules give on balls; None: they do not run there
    step  the step that the rules give; the program's own for a value
    lone  that the rules are made of numbers alone, so that a NaN is one of theirs
    growth  how many times the rounding of a constant exponent is found in the rules'
            number; 0 where they have no such power
    """

    true: Ball
    rule: Ball | None = None
    step: int | None = None
    lone: bool = False
    growth: float = 0.0


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict on one number, with its error.

    error   relative, and proven; None where there is nothing to be relative to
    ulps    the same in units in the last place
    absolute  a proven bound of the error itself, where the true number is 0
    digits  how many are correct, where they are fewer than they should be
    """

    verdict: str
    error: float | None = None
    ulps: float | None = None
    reason: str | None = None
    digits: int | None = None
    absolute: float | None = None


def judge(
    number: float, reference: Reference, roundings: Roundings, beside: float
) -> Finding:
    """Compare the engine's number with the true one.

    Args:
        number: the engine's.
        reference: the true one.
        roundings: what rounding does to the engine's steps.
        beside: the largest number that stands beside it: what is 0 is measured by it.
    """
    with working(START):
        return _Judge(number, reference, roundings, beside).finding()


def is_right(number: float, true: Ball, roundings: Roundings) -> bool:
    """Tell whether a float is the true number but for a few units of rounding."""
    with working(START):
        known = is_known(true, ACCURATE_BITS) or _is_small(true)
        if not (known and true.is_finite() and isfinite(number)):
            return False
        error = abs(ball(number) - true)
        return _is_near(error, true, NEAR_UNITS, roundings)


def _is_near(error: Ball, true: Ball, units: int, roundings: Roundings) -> bool:
    last = LAST_STEPS * 2.0 ** LEAST_POWERS[roundings.dtype]
    return bool(error <= units * roundings.unit * abs(true) + last)


class _Judge:
    def __init__(
        self, number: float, reference: Reference, roundings: Roundings, beside: float
    ) -> None:
        self.number = number
        self.reference = reference
        self.roundings = roundings
        self.beside = max(1.0, beside)
        self.dtype = roundings.dtype
        self.true = reference.true
        self.shown = text(self.true)

    def finding(self) -> Finding:
        if not is_known(self.true, ACCURATE_BITS) and not _is_small(self.true):
            return Finding(UNKNOWN, reason=self._untold())
        if not self.true.is_finite():
            return Finding(UNKNOWN, reason=self._no_number())
        meets = self._rule_meets()
        error = abs(ball(self.number) - self.true) if isfinite(self.number) else None
        measures: tuple[float | None, float | None] = None, None
        if error is not None:
            measures = self._measures(error)
        rule = self.reference.rule
        if meets is False and rule is not None:
            given = text(rule)
            reason = f"{self._both()}; exactly, the engine's rules give {given}"
            return Finding(REFUTED, *measures, reason)
        if error is None:
            return self._beyond(meets)
        near = self._is_near(error, NEAR_UNITS if meets else FEW_UNITS)
        if meets is None and not near:
            return Finding(
                UNKNOWN, *measures, f"{self._both()}; its rules have no value on balls "
                "that could be told"
            )  # fmt: skip
        if not near and not self._is_explained(error):
            return Finding(REFUTED, *measures, self._both())
        if rule is not None and _is_small(self.true) and not rule.contains(0):
            # More bits than the true value was given tell it from 0.
            reason = (
                f"the engine gave {self.number!r}, the true value is less than any "
                f"{self.dtype}: underflow, 0 correct digits"
            )
            return Finding(ROUNDED, reason=reason, digits=0)
        digits = self._digits(error)
        if digits >= DIGITS[self.dtype]:
            off = _up(error) if measures[0] is None else None
            return Finding(CERTIFIED, *measures, absolute=off)
        return Finding(ROUNDED, *measures, self._rounded(digits), digits)

    def _least(self) -> float:
        """Return the smallest number of the engine's type."""
        return float(2.0 ** LEAST_POWERS[self.dtype])

    def _untold(self) -> str:
        bits = self.roundings.evaluation.bits
        return (
            f"the engine gave {self.number!r}; {bits} bits do not tell the true value"
        )

    def _no_number(self) -> str:
        if isfinite(self.number):
            return "the derivative has no finite value at this point"
        if isnan(self.number):
            return "nan: the derivative is not defined at this point"
        return "the derivative is infinite at this point"

    def _both(self) -> str:
        return f"the engine gave {self.number!r}, the true value is {self.shown}"

    def _rule_meets(self) -> bool | None:
        """Tell whether the engine's rules, run on balls, give the true number; None
        where that cannot be told."""
        rule = self.reference.rule
        if rule is None:
            return None
        if rule.is_nan():
            return False if self.reference.lone else None
        gap = rule - self.true
        if not is_known(rule, ACCURATE_BITS) and not _is_small(rule):
            # A rule that is sure enough to be elsewhere is wrong all the same.
            if rule.is_finite() and not gap.contains(0):
                return False
            return None
        if bool(abs(rule) < self._least()) and bool(abs(self.true) < self._least()):
            # Both are 0 in the engine's type.
            return True
        if self._is_beyond(to_float(rule)):
            # Both are the same infinity there.
            return True
        units = CONSTANT_UNITS * (1 + self.reference.growth)
        allowed = units * 2.0 ** -BITS["float64"] * size(self.true)
        return bool(gap.contains(0) or abs(gap) <= allowed)

    def _beyond(self, meets: bool | None) -> Finding:
        """Judge an infinity or nan where there is a finite number."""
        if self._is_beyond(self.number):
            reason = f"{self._both()}: overflow, beyond any {self.dtype}"
            return Finding(ROUNDED, reason=reason, digits=0)
        step = self.reference.step
        left = step is not None and not isfinite(self.roundings.rounded(step))
        if left and meets:
            reason = (
                f"{self._both()}; numbers on the way leave the range of {self.dtype}"
            )
            return Finding(ROUNDED, reason=reason, digits=0)
        if isnan(self.number):
            return Finding(UNKNOWN, reason=self._both())
        return Finding(REFUTED, reason=self._both())

    def _is_beyond(self, number: float) -> bool:
        """Tell whether a number is the infinity that the engine's type has for the true
        one."""
        largest = ball(2) ** MAX_POWERS[self.dtype] * (1 - 2.0 ** -BITS[self.dtype])
        side = self.true if number > 0 else -self.true
        return isinf(number) and bool(side >= largest)

    def _is_near(self, error: Ball, units: int) -> bool:
        return _is_near(error, self.true, units, self.roundings)

    def _is_explained(self, error: Ball) -> bool:
        """Tell whether rounding can carry the float so far."""
        step, roundings = self.reference.step, self.roundings
        assert step is not None
        floats = ball(roundings.rounded(step))
        if floats.is_finite() and self._is_near(abs(floats - self.number), NEAR_UNITS):
            # What the engine's steps give in floats, one after the other.
            return True
        slack = roundings.slack(step)
        if error <= slack and ball(slack) <= LOST_RELATIVE_ERROR * abs(self.true):
            return True
        if not roundings.is_linear(step):
            # Beyond the first order there is no bound; what comes of roundings that are
            # drawn anew says how far numbers go that are lost on the way.
            return bool(error <= FAIR * roundings.spread(step, self.true))
        if error <= slack:
            return True
        bound = roundings.bound(step)
        if not bound.is_finite():
            bound = roundings.spread(step, self.true)
        return bool(error <= FAIR * bound)

    def _digits(self, error: Ball) -> int:
        if _is_small(self.true):
            # Beside what it is nothing: as good as rounding can be, or worth nothing.
            fine = error <= FEW_UNITS * self.roundings.unit * self.beside
            return BITS[self.dtype] if fine else 0
        power = to_float((error / abs(self.true)).abs_upper())
        if not isfinite(power):
            return 0
        return max(0, floor(-log10(power))) if power > 0 else BITS[self.dtype]

    def _rounded(self, digits: int) -> str:
        why = "underflow, " if abs(self.true) < least_normal(self.dtype) else ""
        return f"{self._both()}: {why}{digits} correct digits"

    def _measures(self, error: Ball) -> tuple[float | None, float | None]:
        """Return the relative error and the error in units in the last place."""
        upper = error.abs_upper()
        if _is_small(self.true):
            return (0.0 if self.number == 0 and self.true.is_zero() else None), None
        relative = upper / abs(self.true).abs_lower()
        return _up(relative), _up(upper / last_place(self.true, self.dtype))


def last_place(true: Ball, dtype: str) -> Ball:
    """Return the distance between neighbouring numbers of ``dtype`` at a number."""
    significand, power = true.mid().man_exp()
    top = int(power) + int(significand).bit_length()
    return ball(2) ** max(top - BITS[dtype], LEAST_POWERS[dtype])


def _up(b: Ball) -> float:
    """Return the float at or above a bound."""
    found = to_float(b.abs_upper())
    if not found and not b.is_zero():
        return 2.0 ** LEAST_POWERS["float64"]
    return found * (1 + 2.0**-50) if isfinite(found) else found


def _is_small(b: Ball) -> bool:
    """Tell whether a number is 0 to every type of float."""
    return bool(b.is_finite() and b.contains(0) and b.abs_upper() < _SMALL)


_SMALL: Final = ball(2) ** -1200


def same(a: Ball, b: Ball, dtype: str | None = None) -> bool:
    """Tell whether two numbers, as far as they are known, are one; but for roundings of
    ``dtype``, where those decide."""
    relative = 0.0 if dtype is None else FEW_UNITS * 2.0 ** -BITS[dtype]
    with working(START):
        return close(a, b, relative)
