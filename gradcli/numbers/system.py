"""What an element of an object array can be.

A *system* makes elements from numbers and applies the scalar functions to them.
`gradcli.numbers.arrays` does all shape work and knows elements through this alone.

Invariant: a comparison is decided at once, by the values at the point, so that
branches, sorting and maxima run as they do on arrays.

    system.apply("sin", system.lift(1))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import e, isfinite, pi
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from .limits import MAX_SIMPLE_DENOMINATOR

if TYPE_CHECKING:
    from .balls import Ball

Number = int | float | Fraction

Element = TypeVar("Element")
"""What a system makes: a ball, a term, a step on a tape."""

CONSTANTS: Final = {"pi": pi, "e": e}
"""Real numbers that a float of a program stands for."""

RELATIONS: Final = {"<": lt, "<=": le, ">": gt, ">=": ge, "==": eq, "!=": ne}


class NoMeaning(ValueError):
    """There is no expression here, or one that is not a number."""


class System(Protocol[Element]):
    """The elements of an object array."""

    def lift(self, number: Number) -> Element:
        """The element that a number in a program is."""

    def apply(self, name: str, *elements: Element) -> Element:
        """A scalar function of the table on elements."""

    def total(self, elements: Sequence[Element]) -> Element:
        """The sum of any number of elements."""

    def value(self, element: Element) -> Ball:
        """The element's value at the point, as a ball."""

    def nearest(self, element: Element, number: Number) -> bool:
        """Whether the element's value is a number, or may be by rounding."""

    def is_zero(self, element: Element) -> bool:
        """Whether the element's value is 0, or may be."""

    def rounded(self, element: Element) -> float:
        """The value as the engine's numbers have it, as far as that is known."""

    def compare(self, relation: str, a: Element, b: Element) -> bool:
        """Whether the relation holds at the point."""

    def fixed(self, element: Element, value: Number) -> Element:
        """``value``, which is what a locally constant function of ``element`` is."""

    def choice(self, pick: Callable[[], Element]) -> Element:
        """What ``pick`` gives: one of several elements, by comparisons made in it."""

    def stop(self, element: Element) -> Element:
        """The same value, through which no derivative is taken."""

    def kink(self, element: Element, what: str) -> None:
        """Take note that ``element`` lies where ``what`` has no derivative."""


@lru_cache(maxsize=4096, typed=True)
def exact(number: Number) -> Number:
    """The rational number that a float stands for: 1/10 for ``0.1``, 1/3 for ``1/3``.

    The fraction has this very float as its nearest, so the choice is within the
    rounding that the engine's own constant has.
    """
    if isinstance(number, float) and isfinite(number):
        if number.is_integer():
            return int(number)
        written = Fraction(repr(number))
        simple = written.limit_denominator(MAX_SIMPLE_DENOMINATOR)
        return simple if float(simple) == number else written
    return int(number) if isinstance(number, bool) else number


@lru_cache(maxsize=4096, typed=True)
def multiple(number: Number) -> tuple[str, Fraction] | None:
    """The constant that a number is a simple multiple of, and how many times: ``pi``
    and 1/2 for ``1.5707963267948966``; None: it is of none.

    A float is taken for the multiple only if it is what the product is in floats.
    """
    near = float(number) if isinstance(number, Fraction) else 0.0
    if not near:
        return None
    for name, constant in CONSTANTS.items():
        times = Fraction(near / constant).limit_denominator(MAX_SIMPLE_DENOMINATOR)
        p, q = times.as_integer_ratio()
        if abs(p) > MAX_SIMPLE_DENOMINATOR or not p:
            continue
        if near in (p * constant / q, p / q * constant, constant / q * p):
            return name, times
    return None


def is_float(number: Number) -> bool:
    """Whether some float is this very number."""
    parts = number.as_integer_ratio() if isfinite(number) else (0, 1)
    return parts[1] & (parts[1] - 1) == 0 and abs(parts[0]) <= 2**53
