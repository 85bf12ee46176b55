"""Verdicts on one float compared with the true number: certified, rounded or refuted.

The true number is a ball. Rounding explains an error only if the engine's own rules,
run on balls, give the true number; running error analysis of the engine's steps then
bounds how large a rounding error can be.

Invariant: a `certified` number has an error with a proven bound, and as many digits as
`DIGITS` asks of its type; a `refuted` one has an error beyond what rounding explains,
or a rule that is wrong.

    judge(0.877, Reference(true, rule, step), roundings, size=1.0).verdict
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, isfinite, isinf, isnan, log10
from typing import Final

from .balls import ZERO, Ball, ball, close, is_known, size, text, to_float, working
from .graph import ACCURATE_BITS, is_nothing
from .process.job import CERTIFIED, REFUTED, ROUNDED, UNKNOWN
from .rounding import (
    BITS,
    LEAST_POWERS,
    LOST_RELATIVE_ERROR,
    MAX_POWERS,
    Roundings,
    least_normal,
)

DIGITS: Final = {"float64": 6, "float32": 3, "float16": 1}
"""Number of correct digits that a certified float must have, by its type."""

NEAR_UNITS: Final = 64
"""Largest error, in units of rounding, that is accepted without an analysis."""

FEW_UNITS: Final = 1024
"""Largest error, in units of rounding, that is accepted if no rule runs on balls."""

FAIR: Final = 16
"""Factor by which an error may exceed its first-order bound."""

CONSTANT_UNITS: Final = 8
"""Largest distance, in units of float64's rounding, of a rule's number from the true
one that comes of the rule's own constants or series; also the largest error of a number
that a Python program computed."""

LAST_STEPS: Final = 4
"""Number of steps between a type's smallest floats that count as rounding."""

START: Final = 96
"""Precision, in bits, of comparisons of balls with floats."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A true number, and the number that the engine's rules give for it.

    rule  the ball that the rules give; None: they do not run on balls
    step  the step that the rules give, or the program's own step for a value
    lone  whether the rules use finite numbers alone, so that a NaN is the rules' own
    growth  the factor by which the rounding of a constant exponent is magnified in the
            rules' number; 0 if they have no such power
    moved  the distance by which roundings of numbers that a Python program computed
           move the rules' number from the true one
    """

    true: Ball
    rule: Ball | None = None
    step: int | None = None
    lone: bool = False
    growth: float = 0.0
    moved: Ball = ZERO


@dataclass(slots=True, kw_only=True)
class Finding:
    """A verdict on one number, with bounds of its error.

    error   a bound of the relative error; None if the true number is 0
    ulps    a bound of the error in units in the last place
    absolute  a bound of the absolute error, if the true number is 0
    digits  the number of correct digits, if there are fewer than there should be
    """

    verdict: str = UNKNOWN
    error: float | None = None
    ulps: float | None = None
    absolute: float | None = None
    digits: int | None = None
    reason: str | None = None


def judge(
    number: float, reference: Reference, roundings: Roundings, beside: float
) -> Finding:
    """Return the verdict on the engine's number, compared with the true one. Errors at
    0 are measured by ``beside``, the largest number of the same row."""
    with working(START):
        return _Judge(number, reference, roundings, max(1.0, beside)).finding()


def is_right(number: float, true: Ball, roundings: Roundings) -> bool:
    """Tell whether a float is the true number up to a few units of rounding."""
    with working(START):
        known = is_known(true, ACCURATE_BITS) or _is_small(true)
        if not (known and true.is_finite() and isfinite(number)):
            return False
        return _is_near(abs(ball(number) - true), true, NEAR_UNITS, roundings)


def _is_near(error: Ball, true: Ball, units: int, roundings: Roundings) -> bool:
    last = LAST_STEPS * roundings.least
    return bool(error <= units * roundings.unit * abs(true) + last)


class _Judge:
    def __init__(
        self, number: float, reference: Reference, roundings: Roundings, beside: float
    ) -> None:
        self.number, self.beside = number, beside
        self.reference = reference
        self.true, self.rule = reference.true, reference.rule
        self.roundings, self.dtype = roundings, roundings.dtype

    def finding(self) -> Finding:
        true, rule = self.true, self.rule
        if not is_known(true, ACCURATE_BITS) and not _is_small(true):
            untold = f"{self.roundings.evaluation.bits} bits do not tell the true value"
            return Finding(reason=f"the engine gave {self.number!r}; {untold}")
        if not true.is_finite():
            return Finding(reason=self._no_number())
        meets = self._rule_meets()
        error = abs(ball(self.number) - true) if isfinite(self.number) else None
        found = Finding() if error is None else self._measured(error)
        if meets is False and rule is not None:
            given = f"exactly, the engine's rules give {text(rule)}"
            found.verdict, found.reason = REFUTED, f"{self._both()}; {given}"
            if rule.is_nan() and error is not None and self._is_near(error, NEAR_UNITS):
                # The number is right, though the rules have no value at this point.
                found.verdict = UNKNOWN
        elif error is None:
            return self._beyond(meets)
        elif not self._is_near(error, NEAR_UNITS if meets else FEW_UNITS) and (
            meets is None or not self._is_explained(error)
        ):
            found.verdict, found.reason = REFUTED, self._both()
            if meets is None:
                found.verdict = UNKNOWN
                found.reason += "; its rules have no value on balls that could be told"
        elif rule is not None and _is_small(true) and not rule.contains(0):
            # With the rule's larger precision the true value is not 0.
            reason = (
                f"the engine gave {self.number!r}, the true value is less than any "
                f"{self.dtype}: underflow, 0 correct digits"
            )
            return Finding(verdict=ROUNDED, reason=reason, digits=0)
        else:
            digits = self._digits(error)
            if digits >= DIGITS[self.dtype]:
                found.verdict = CERTIFIED
                found.absolute = _up(error) if found.error is None else None
            else:
                tiny = not true.is_zero() and abs(true) < least_normal(self.dtype)
                why = "underflow, " if tiny else ""
                found.reason = f"{self._both()}: {why}{digits} correct digits"
                found.verdict, found.digits = ROUNDED, digits
        return found

    def _no_number(self) -> str:
        if isfinite(self.number):
            return "the derivative has no finite value at this point"
        if isnan(self.number):
            return "nan: the derivative is not defined at this point"
        return "the derivative is infinite at this point"

    def _both(self) -> str:
        return f"the engine gave {self.number!r}, the true value is {text(self.true)}"

    def _rule_meets(self) -> bool | None:
        """Tell whether the engine's rules, run on balls, give the true number; None if
        that cannot be decided."""
        rule, reference, least = self.rule, self.reference, self.roundings.least
        if rule is None:
            return None
        if rule.is_nan():
            return False if reference.lone else None
        gap = rule - self.true
        if not is_known(rule, ACCURATE_BITS) and not _is_small(rule):
            # Even a wide ball shows that a rule is wrong if it misses the true number.
            return False if rule.is_finite() and not gap.contains(0) else None
        if bool(abs(rule) < least) and bool(abs(self.true) < least):
            # Both round to 0 in the engine's type.
            return True
        if gap.contains(0) or self._is_beyond(to_float(rule)):
            # In the second case both are the same infinity in the engine's type.
            return True
        unit = 2.0 ** -BITS["float64"] * size(self.true)
        allowed = unit * (1 + reference.growth)
        rooms = allowed, allowed + reference.moved
        return any(bool(abs(gap) <= CONSTANT_UNITS * room) for room in rooms)

    def _beyond(self, meets: bool | None) -> Finding:
        """Return the verdict on an infinity or nan where the true number is finite."""
        step, both = self.reference.step, self._both()
        if self._is_beyond(self.number):
            why = f": overflow, beyond any {self.dtype}"
        elif meets and step is not None and not isfinite(self.roundings.rounded(step)):
            why = f"; numbers on the way leave the range of {self.dtype}"
        else:
            lost = UNKNOWN if isnan(self.number) else REFUTED
            return Finding(verdict=lost, reason=both)
        return Finding(verdict=ROUNDED, reason=both + why, digits=0)

    def _is_beyond(self, number: float) -> bool:
        """Tell whether a number is the infinity that the true number rounds to in the
        engine's type."""
        largest = ball(2) ** MAX_POWERS[self.dtype] * (1 - 2.0 ** -BITS[self.dtype])
        side = self.true if number > 0 else -self.true
        return isinf(number) and bool(side >= largest)

    def _is_near(self, error: Ball, units: int) -> bool:
        return _is_near(error, self.true, units, self.roundings)

    def _is_explained(self, error: Ball) -> bool:
        step, roundings = self.reference.step, self.roundings
        assert step is not None
        floats = ball(roundings.rounded(step))
        if floats.is_finite() and self._is_near(abs(floats - self.number), NEAR_UNITS):
            # Running the engine's steps one by one in floats gives this number, too.
            return True
        slack = roundings.slack(step)
        if error <= slack and ball(slack) <= LOST_RELATIVE_ERROR * abs(self.true):
            return True
        linear = roundings.is_linear(step)
        if linear and error <= slack:
            return True
        bound = roundings.bound(step) if linear else None
        if bound is None or not bound.is_finite():
            # A first-order bound does not hold here. The spread of results under random
            # roundings tells how large the error of lost digits may be.
            bound = roundings.spread(step, self.true)
        return bool(error <= FAIR * bound)

    def _digits(self, error: Ball) -> int:
        if _is_small(self.true):
            # Such a number is right if its error is small beside its row.
            fine = error <= FEW_UNITS * self.roundings.unit * self.beside
            return BITS[self.dtype] if fine else 0
        power = to_float((error / abs(self.true)).abs_upper())
        if not isfinite(power):
            return 0
        return max(0, floor(-log10(power))) if power > 0 else BITS[self.dtype]

    def _measured(self, error: Ball) -> Finding:
        upper = error.abs_upper()
        if _is_small(self.true):
            exact = self.number == 0 and self.true.is_zero()
            return Finding(error=0.0 if exact else None)
        relative = _up(upper / abs(self.true).abs_lower())
        return Finding(
            error=relative, ulps=_up(upper / last_place(self.true, self.dtype))
        )


def last_place(true: Ball, dtype: str) -> Ball:
    """Return the distance between neighbouring floats of ``dtype`` at a number."""
    significand, power = true.mid().man_exp()
    top = int(power) + int(significand).bit_length()
    return ball(2) ** max(top - BITS[dtype], LEAST_POWERS[dtype])


def _up(b: Ball) -> float:
    """Return a float at or above the upper end of a ball's absolute value."""
    found = to_float(b.abs_upper())
    if not found and not b.is_zero():
        return 2.0 ** LEAST_POWERS["float64"]
    return found * (1 + 2.0**-50) if isfinite(found) else found


def _is_small(b: Ball) -> bool:
    return is_nothing(b) and bool(b.contains(0))


def same(a: Ball, b: Ball, dtype: str | None = None) -> bool:
    """Tell whether two balls may be the same number; with ``dtype``, up to a few of its
    roundings."""
    relative = 0.0 if dtype is None else FEW_UNITS * 2.0 ** -BITS[dtype]
    with working(START):
        return close(a, b, relative)
