"""Terms whose constants are the numbers that a formula on paper stands for.

A constant comes here as the float that the language made of it: ``0.1*3`` and ``2*pi``
carry the rounding of their own arithmetic, which nobody claims anything about. A number
that is, within that rounding, a simple fraction, a simple multiple or quotient of pi,
or the square root of one, is taken for it. What was typed carries no such rounding: it
is what it says, or a number that every float has to be written so for.

Invariant: a constant changes by no more than `CONSTANT_RELATIVE_ERROR` of its size, one
that was typed by less than a float can tell, and a note says so. An input's value never
changes.

    Meant().lift(0.1 * 3).content       # Fraction(3, 10)
    Meant({1.0000000000000002}).lift(1.0000000000000002).content    # no other number
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from fractions import Fraction

from ...lang.parser import parse
from ...lang.syntax import Literal, walk
from ...numbers.balls import to_float
from ...numbers.system import Number
from ...numbers.term import Term
from ...numbers.terms import Terms
from ..conditions import shown
from ..limits import CONSTANT_RELATIVE_ERROR, MAX_FRACTION_TERM


class Meant(Terms):
    """Terms that restore constants, other than those ``typed``."""

    def __init__(self, typed: Collection[float] = ()) -> None:
        super().__init__()
        self._typed = frozenset(map(abs, typed))
        self._taken: dict[float, Term] = {}

    def lift(self, number: Number) -> Term:
        if not isinstance(number, float) or not math.isfinite(number) or not number:
            return super().lift(number)
        size = abs(number)
        typed = size in self._typed
        for fraction, pis, root in _readings(size):
            found = self._of(fraction, pis, root)
            same = to_float(found.value) == size
            if typed and not same:
                continue
            if fraction != Fraction(repr(size)) and (typed or not same):
                self._taken[size] = found
            return found if number > 0 else self.apply("neg", found)
        return super().lift(number)

    def _of(self, fraction: Fraction, pis: int, root: bool) -> Term:
        found = super().lift(fraction)
        if pis:
            by = "mul" if pis > 0 else "div"
            found = self.apply(by, found, self.apply("acos", super().lift(-1)))
        return self.apply("sqrt", found) if root else found

    def taken(self) -> Iterator[str]:
        """Which constants are taken for which numbers, where that is a change."""
        for number, term in self._taken.items():
            yield f"{number!r} is taken for {shown(term)}"


def decimals(*texts: str | None) -> frozenset[float]:
    """The numbers with a decimal point or an exponent that are typed in programs."""
    return frozenset(
        node.value
        for text in texts
        if text is not None
        for node in walk(parse(text))
        if isinstance(node, Literal) and isinstance(node.value, float)
    )


def _readings(number: float) -> Iterator[tuple[Fraction, int, bool]]:
    """A fraction, the power of pi that it is multiplied by, whether its square root is
    meant; the plainest first."""
    for root in (False, True):
        for pis in (0, 1, -1):
            bare = (number * number if root else number) / math.pi**pis
            near = Fraction(bare).limit_denominator(MAX_FRACTION_TERM)
            if 0 < near.numerator <= MAX_FRACTION_TERM and (
                abs(float(near) - bare) <= CONSTANT_RELATIVE_ERROR * bare
            ):
                yield near, pis, root
