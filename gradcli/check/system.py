"""Number systems: what the elements of object arrays can be.

A *system* makes elements from numbers and applies the scalar functions to them.
The namespaces of object arrays know elements through this protocol alone.

Invariant: a comparison is decided at once, by the values at the point, so that
branches, sorting and maxima run as they do on arrays.

    Balls().apply("sin", ball(1))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import inf, isfinite
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final, Protocol, TypeVar

from ..ops.exact import Exact
from .balls import Ball, apply, ball, is_infinite, is_nan, to_float

SURE_DIGITS: Final = 15
"""Largest number of significant digits of a decimal that a float always keeps."""

Number = int | float | Fraction

Element = TypeVar("Element")
"""Scalar of a number system: a ball, a term, a step on a tape."""

RELATIONS: Final = {"<": lt, "<=": le, ">": gt, ">=": ge, "==": eq, "!=": ne}


class NoMeaning(ValueError):
    """An error: something has no expression, or an expression has no value."""


class System(Protocol[Element]):
    """A number system: it makes the elements of an object array. For one of numbers
    alone the notes that it is given, and the stops of derivatives, do nothing.

    in_floats  whether a program's constants are computed as the engine does, in floats
    """

    in_floats: bool = False

    def lift(self, number: Number) -> Element:
        """Return the element for a number of a program."""

    def apply(self, name: str, *elements: Element) -> Element:
        """Return a scalar function of the table, applied to elements."""

    def total(self, elements: Sequence[Element]) -> Element:
        """Return the sum of any number of elements."""

    def value(self, element: Element) -> Ball:
        """Return the element's value at the point, as a ball."""

    def compute_in_floats(
        self, name: str, elements: Sequence[Element]
    ) -> Element | None:
        """Return what the engine computes of constants, in floats, by the function of
        the table with this name; None if constants are exact, or these are none."""
        return None

    def narrowed(self, element: Element) -> Ball:
        """Return the value, as a ball narrow beside 1 where that is possible."""
        return self.value(element)

    def is_settled(self, element: Element) -> bool:
        """Tell whether the exact value alone decides: it depends on no input."""
        return False

    def nearest(self, element: Element, number: Number) -> bool:
        """Tell whether the element's value is ``number``, or may be within rounding."""

    def landed(self, element: Element, jump: Fraction, away: Fraction) -> Fraction:
        """Return ``jump``, or a number beside it, at a distance ``away``, on the side
        where the element lies."""
        return jump + self.side(element, self.lift(jump)) * away

    def is_zero(self, element: Element) -> bool:
        """Tell whether the element's value is 0, or may be."""

    def side(self, a: Element, b: Element) -> int:
        """Return 1, 0 or -1 if ``a`` is greater than, equal to or less than ``b``."""
        middle = (self.value(a) - self.value(b)).mid()
        return int(middle > 0) - int(middle < 0)

    def compare(self, relation: str, a: Element, b: Element) -> bool:
        """Tell whether the relation holds at the point."""
        return compared(self, relation, a, b)

    def fixed(self, element: Element, value: Number) -> Element:
        """Return ``value``, which a step function has at ``element``, as an element."""
        return self.lift(value)

    def note(self, element: Element, relation: str, number: Number) -> None:
        """Note the condition that the element stands in the relation to a number."""
        return None

    def read(self, element: Element, value: float) -> None:
        """Note that an element was read as the plain number ``value``."""
        return None

    def classify(self, element: Element) -> None:
        """Note that the program asks whether an element is nan or infinite."""
        return None

    def choice(self, pick: Callable[[], Element]) -> Element:
        """Return the element that ``pick`` chooses among several by comparisons."""
        return pick()

    def stop(self, element: Element) -> Element:
        """Return the same value, through which no derivative is taken."""
        return element

    def kink(self, element: Element, what: str) -> None:
        """Note that ``element`` lies at a point without a derivative; ``what``: why."""
        return None

    def unsigned(self, element: Element) -> None:
        """Note that the sign of ``element``, which is 0, decides something."""
        return None


def compared(system: System[Element], relation: str, a: Element, b: Element) -> bool:
    """Tell whether a relation holds: nan is unequal to all, and numbers have sides."""
    holds = RELATIONS[relation]
    left, right = system.value(a), system.value(b)
    if is_nan(left) or is_nan(right):
        return relation == "!="
    if is_infinite(left) or is_infinite(right):
        return bool(holds(to_float(left), to_float(right)))
    return bool(holds(system.side(a, b), 0))


class Balls(System[Ball]):
    """The system whose elements are balls; run it in ``working(bits)``."""

    def __init__(self) -> None:
        self.undecided = 0
        """Number of decisions that a higher precision may change."""

    def lift(self, number: Number) -> Ball:
        return lifted(number, lambda plain, off: ball(plain), apply, {})

    def apply(self, name: str, *elements: Ball) -> Ball:
        return apply(name, *elements)

    def total(self, elements: Sequence[Ball]) -> Ball:
        return apply("total", *elements)

    def value(self, element: Ball) -> Ball:
        return element

    def nearest(self, element: Ball, number: Number) -> bool:
        met = bool(element.contains(ball(number)))
        self.undecided += met and not element.is_exact()
        return met and bool(element.is_exact())

    def is_zero(self, element: Ball) -> bool:
        near = bool(element.contains(0))
        self.undecided += near and not element.is_exact()
        return near

    def side(self, a: Ball, b: Ball) -> int:
        gap = a - b
        self.undecided += bool(gap.contains(0) and not gap.is_zero())
        return super().side(a, b)


@lru_cache(maxsize=4096, typed=True)
def exact(number: Number) -> Number:
    """Return the exact number that a number of Python stands for: a float with few
    digits stands for the decimal that a person types, any other one for itself."""
    if isinstance(number, float) and isfinite(number):
        if number.is_integer():
            return int(number)
        return Fraction(number) if has_many_digits(number) else Fraction(repr(number))
    # A whole number is one element, whoever wrote it.
    whole = isinstance(number, bool) or getattr(number, "denominator", 0) == 1
    return int(number) if whole else number


def has_many_digits(number: float) -> bool:
    """Tell whether a float is written with more than `SURE_DIGITS` digits."""
    digits = repr(number).partition("e")[0].replace(".", "").strip("-0")
    return len(digits) > SURE_DIGITS


def lifted(
    number: Number,
    leaf: Callable[[Number, float], Element],
    apply: Callable[..., Element],
    known: dict[int, tuple[Exact, Element]],
) -> Element:
    """Return the element for a plain number. ``leaf`` makes one from a rational or
    infinite number or nan, and from the error that the engine's float of it has beyond
    its own rounding; ``known`` has the exact numbers that have elements, with these, by
    ``id``."""
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
    """Return an exact number as a rational, and its float's error beyond rounding."""
    p, q = number.args
    written, near = p if q == 1 else Fraction(p, q), float(number)
    if not isfinite(near):
        return written, inf
    off = Fraction(near) - written
    return written, 0.0 if abs(off) <= abs(written) / 2**53 else float(abs(off))


def in_range(number: Number) -> float:
    """Return the float nearest to a number that is not negative, or infinity."""
    try:
        return float(number)
    except OverflowError:
        return inf


def is_float(number: Number, bits: int = 53) -> bool:
    """Tell whether a number is exactly a float with a significand of ``bits`` bits."""
    infinite = isinstance(number, float) and not isfinite(number)
    p, q = (0, 1) if infinite else number.as_integer_ratio()
    return q & (q - 1) == 0 and (abs(p) // (p & -p or 1)).bit_length() <= bits
