"""Terms whose constants are the numbers that were meant in a formula on paper.

A constant comes here as the float that the language made of it: ``0.1*3`` and ``2*pi``
carry the rounding of their own arithmetic, which nobody claims anything about. A number
that is, within that rounding, a simple fraction, a simple multiple or quotient of pi,
or the square root of one, is taken for it.

Invariant: a constant changes by no more than `ROUNDING` of its size; an input's value
never does.

    Meant().lift(0.1 * 3).content       # Fraction(3, 10)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from .system import Number
from .term import Term
from .terms import Terms

ROUNDING: Final = 1e-15
"""Relative error of a constant that a few operations on floats made."""

LARGEST: Final = 1000
"""Largest numerator and denominator of a fraction that a constant may have meant."""


class Meant(Terms):
    """Terms that restore constants."""

    def lift(self, number: Number) -> Term:
        if not isinstance(number, float) or not math.isfinite(number) or not number:
            return super().lift(number)
        for fraction, pis, root in _readings(abs(number)):
            found = super().lift(fraction)
            if pis:
                by = "mul" if pis > 0 else "div"
                found = self.apply(by, found, self.apply("acos", super().lift(-1)))
            if root:
                found = self.apply("sqrt", found)
            return found if number > 0 else self.apply("neg", found)
        return super().lift(number)


def _readings(number: float) -> Iterator[tuple[Fraction, int, bool]]:
    """A fraction, the power of pi that it is multiplied by, whether its square root is
    meant; the plainest first."""
    for root in (False, True):
        for pis in (0, 1, -1):
            bare = (number * number if root else number) / math.pi**pis
            near = Fraction(bare).limit_denominator(LARGEST)
            if 0 < near.numerator <= LARGEST and (
                abs(float(near) - bare) <= ROUNDING * bare
            ):
                yield near, pis, root
