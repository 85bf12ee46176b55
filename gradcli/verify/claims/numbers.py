"""Decimals as the numbers that a formula on paper stands for.

A number of a program is exact. A decimal that is written with all the digits that
a float shows, as ``0.3333333333333333``, may be a simple fraction, a simple multiple or
quotient of pi, or the square root of one, which was copied from where it was printed:
then it is taken for that.

Invariant: a constant changes by less than a float can tell, and a note says so. An
input's value never changes.

    Meant()("0.3333333333333333").args          # (1, 3)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from ...numbers.terms import Terms
from ...ops.exact import PI, Exact, decimal, fraction, function
from ..conditions import shown
from ..limits import CONSTANT_RELATIVE_ERROR, MAX_FRACTION_TERM


class Meant:
    """A reader of decimals as what they are the digits of, which remembers them."""

    def __init__(self) -> None:
        self._taken: dict[float, float] = {}

    def __call__(self, text: str) -> float:
        number = decimal(text)
        if not isinstance(number, Exact) or not _is_printed(number):
            return number
        for part, pis, root in _readings(float(number)):
            found = _exactly(part, pis, root)
            if found.args == number.args:
                break
            if found == number:
                self._taken[number] = found
                return found
        return number

    def taken(self, terms: Terms) -> Iterator[str]:
        """Say which decimals are taken for which numbers, in words of ``terms``."""
        for number, found in self._taken.items():
            yield f"{float(number)!r} is taken for {shown(terms.lift(found))}"


def _is_printed(number: Exact) -> bool:
    """Tell whether a decimal is what its float is printed as."""
    printed = decimal(repr(float(number)))
    return bool(number) and getattr(printed, "args", None) == number.args


def _exactly(part: Fraction, pis: int, root: bool) -> Exact:
    found: Any = fraction(*part.as_integer_ratio())
    if pis:
        found = found * PI if pis > 0 else found / PI
    return function("sqrt", math.sqrt(found), found) if root else found  # type: ignore[return-value]


def _readings(number: float) -> Iterator[tuple[Fraction, int, bool]]:
    """Yield a fraction, the power of pi that it is multiplied by, whether its square
    root is meant; the plainest first."""
    for root in (False, True):
        for pis in (0, 1, -1):
            bare = (number * number if root else number) / math.pi**pis
            near = Fraction(bare).limit_denominator(MAX_FRACTION_TERM)
            if 0 < near.numerator <= MAX_FRACTION_TERM and (
                abs(float(near) - bare) <= CONSTANT_RELATIVE_ERROR * bare
            ):
                yield near, pis, root
