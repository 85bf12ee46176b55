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
from math import inf, isfinite
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from ..ops.exact import Exact
from .limits import SURE_DIGITS

if TYPE_CHECKING:
    from .balls import Ball

Number = int | float | Fraction

Element = TypeVar("Element")
"""Scalar of a number system: a ball, a term, a step on a tape."""

RELATIONS: Final = {"<": lt, "<=": le, ">": gt, ">=": ge, "==": eq, "!=": ne}


class NoMeaning(ValueError):
    """An error: there is no expression here, or one that is not a number."""


class System(Protocol[Element]):
    """A number system: it makes the elements of an object array."""

    def lift(self, number: Number) -> Element:
        """Return the element that a number in a program is."""

    def apply(self, name: str, *elements: Element) -> Element:
        """Apply a scalar function of the table to elements."""

    def total(self, elements: Sequence[Element]) -> Element:
        """Return the sum of any number of elements."""

    def value(self, element: Element) -> Ball:
        """Return the element's value at the point, as a ball."""

    def nearest(self, element: Element, number: Number) -> bool:
        """Tell whether the element's value is a number, or may be by rounding."""

    def is_zero(self, element: Element) -> bool:
        """Tell whether the element's value is 0, or may be."""

    def rounded(self, element: Element) -> float:
        """Return the value as the engine's numbers have it, as far as that is known."""

    def compare(self, relation: str, a: Element, b: Element) -> bool:
        """Tell whether the relation holds at the point."""

    def fixed(self, element: Element, value: Number) -> Element:
        """Return ``value``, which a locally constant function of ``element`` has."""

    def note(self, element: Element, relation: str, number: Number) -> None:
        """Take note that what follows holds where the element stands so to a number."""

    def read(self, element: Element, value: float) -> None:
        """Take note that an element's value is taken for a plain number."""

    def classify(self, element: Element) -> None:
        """Take note that it was asked whether an element is a finite number."""

    def choice(self, pick: Callable[[], Element]) -> Element:
        """Return what ``pick`` chooses by its comparisons: one of several elements."""

    def stop(self, element: Element) -> Element:
        """Return the same value, through which no derivative is taken."""

    def kink(self, element: Element, what: str) -> None:
        """Take note that ``element`` lies where ``what`` has no derivative."""

    def unsigned(self, element: Element) -> None:
        """Take note that the sign of ``element``, which is 0, decides something."""


@lru_cache(maxsize=4096, typed=True)
def exact(number: Number) -> Number:
    """Return the fraction that a float of Python stands for: a decimal of no more
    digits than every float keeps, as a person types it; any other float is itself."""
    if isinstance(number, float) and isfinite(number):
        if number.is_integer():
            return int(number)
        return Fraction(number) if has_many_digits(number) else Fraction(repr(number))
    return int(number) if isinstance(number, bool) else number


def has_many_digits(number: float) -> bool:
    """Tell whether a float needs more digits than every float keeps."""
    digits = repr(number).partition("e")[0].replace(".", "").strip("-0")
    return len(digits) > SURE_DIGITS


def lifted(
    number: Number,
    leaf: Callable[[Number, float], Element],
    apply: Callable[..., Element],
    known: dict[int, tuple[Exact, Element]],
) -> Element:
    """Return the element that a plain number is.

    Args:
        leaf: makes an element of a rational number, or of one that is not finite, and
            of how far from it the engine's float is, beyond its own rounding.
        apply: makes one of a function of elements.
        known: the elements of exact numbers, by the number's ``id``.
    """
    if not isinstance(number, Exact):
        return leaf(exact(number), 0.0)
    waiting: list[Any] = [number]
    while waiting:
        each = waiting[-1]
        missing = []
        if id(each) not in known and each.name not in ("number", "element"):
            missing = [a for a in each.args if id(a) not in known]
        if missing:
            waiting += missing
            continue
        waiting.pop()
        if id(each) not in known:
            if each.name == "element":
                (made,) = each.args
            elif each.name == "number":
                made = leaf(*_rational(each))
            else:
                made = apply(each.name, *[known[id(a)][1] for a in each.args])
            known[id(each)] = each, made
    return known[id(number)][1]


def _rational(number: Exact) -> tuple[int | Fraction, float]:
    """Return the number, and how far its float is off beyond rounding."""
    p, q = number.args
    written, near = p if q == 1 else Fraction(p, q), float(number)
    if not isfinite(near):
        return written, inf
    off = Fraction(near) - written
    return written, 0.0 if abs(off) <= abs(written) / 2**53 else float(abs(off))


def is_float(number: Number, bits: int = 53) -> bool:
    """Tell whether some float of so many bits is this very number."""
    p, q = number.as_integer_ratio() if isfinite(number) else (0, 1)
    return q & (q - 1) == 0 and (abs(p) // (p & -p or 1)).bit_length() <= bits
