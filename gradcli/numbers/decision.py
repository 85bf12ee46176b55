"""Decisions of systems whose elements are steps of a graph: two numbers are compared
as balls of more and more bits, until these are separate.

Invariants: numbers whose gap is exactly 0 are equal; those that no precision within the
bounds separates count as equal and are a tie. Where rounding is known, a number within
rounding of a tie or a jump counts as one: it is decided as the engine's numbers decide
it, and recorded.

    apart(evaluation, a, b)         # a ball on one side of 0, or 0
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Generic, SupportsIndex, TypeVar

from ..ops.exact import Exact
from .balls import NAN, ZERO, Ball, ball, is_infinite, is_nan, to_float, working
from .graph import Evaluation
from .limits import MAX_COMPARISON_BITS
from .rounding import Roundings
from .scalars import bounds_of
from .system import RELATIONS, Number, has_many_digits, lifted

Element = TypeVar("Element", bound=SupportsIndex)


class Deciding(Generic[Element]):
    """The base of systems that are graphs; ``int(element)`` is an element's step.

    tie_break  decides ties: 0 as the engine's numbers do, -1 as less, 1 as greater
    roundings  rounding errors of the engine's numbers; None: only equal values tie
    lost       errors of the engine's numbers beyond their own rounding, by the steps of
               the program's numbers: the absolute error, and one in units of rounding
    unsure     whether rounding decides a tie or a jump
    inexact    whether floats of many digits were computed, so that each of them is off
               by a rounding
    kinks      words for what has no derivative there, by step
    zeros      steps of value 0 whose sign, which only floats have, decides something
    """

    def __init__(self, tie_break: int, dtype: str | None) -> None:
        graph: Any = self
        self.tie_break = tie_break
        self.evaluation = Evaluation(graph)
        self.roundings = None if dtype is None else Roundings(self.evaluation, dtype)
        self.unsure = self.inexact = False
        self.kinks: dict[int, str] = {}
        self.lost: dict[int, tuple[float, float]] = {}
        self.zeros: set[int] = set()
        self._numbers: dict[tuple[Number, float], Element] = {}
        self._exact: dict[int, tuple[Exact, Element]] = {}

    def written(self, number: Number) -> Element:
        """Return a new element that is a number of the program."""
        raise NotImplementedError

    def note_tie(self, a: Element, b: Element, slack: float) -> bool:
        """Note that elements are equal within ``slack``; tell if that is a tie."""
        raise NotImplementedError

    def is_constant(self, element: Element) -> bool:
        """Tell whether no derivative by an input goes through an element."""
        raise NotImplementedError

    def note(self, element: Element, relation: str, number: Number) -> None:
        """Note nothing: only systems that make formulas keep conditions."""

    def read(self, element: Element, value: float) -> None:
        """Note nothing: only systems that make formulas keep conditions."""

    def classify(self, element: Element) -> None:
        """Note nothing: only systems that make formulas keep conditions."""

    def lift(self, number: Number) -> Element:
        apply: Callable[..., Element] = self.apply  # type: ignore[attr-defined]
        if self.inexact and isinstance(number, float) and has_many_digits(number):
            return self._leaf(Fraction(number), abs(number) / 2**53)
        return lifted(number, self._leaf, apply, self._exact)

    def _leaf(self, number: Number, off: float) -> Element:
        found = self._numbers.get((number, off))
        if found is None or number != number:
            found = self._numbers[number, off] = self.written(number)
            if off:
                self.lost[int(found)] = off, 0.0
        return found

    def value(self, element: Element) -> Ball:
        """Return the value, computed with more bits if it is not finite at first."""
        found = self.evaluation.value(int(element))
        if found.is_finite() or found.is_exact():
            return found
        return self.evaluation.settled([int(element)])[0]

    def compare(self, relation: str, a: Element, b: Element) -> bool:
        holds = RELATIONS[relation]
        gap = apart(self.evaluation, int(a), int(b))
        if is_nan(gap):
            return relation == "!="
        slack = sum(self.slack(e, gap) + self._underflow(e) for e in (a, b))
        if not bool(abs(gap) > slack):
            self.unsure = self.unsure or bool(slack)
            if self.note_tie(a, b, slack) or slack:
                if self.tie_break or not slack:
                    return bool(holds(self.tie_break, 0))
                return bool(holds(self.rounded(a), self.rounded(b)))
        return bool(holds(1 if gap > 0 else -1 if gap < 0 else 0, 0))

    def nearest(self, element: Element, number: Number) -> bool:
        """Tell whether the value is ``number``, or may be so within rounding."""
        with working(self.evaluation.bits):
            gap = self.value(element) - ball(number)
        if gap.contains(0) and not gap.is_zero():
            gap = apart(self.evaluation, int(element), int(self.lift(number)))
        return not abs(gap) > self.slack(element, gap)

    def is_zero(self, element: Element) -> bool:
        if not self.value(element).contains(0):
            return False
        return bool(apart(self.evaluation, int(element), int(self.lift(0))).is_zero())

    def slack(self, element: Element, distance: Ball = ZERO) -> float:
        """Return how far the engine's number may lie from the element's value."""
        if self.roundings is None or not distance.is_finite():
            return 0.0
        return self.roundings.slack(int(element))

    def _underflow(self, element: Element) -> float:
        """Return the smallest float if the element underflows in floats, else 0."""
        if self.roundings is None or self.is_constant(element):
            return 0.0
        value = abs(self.value(element))
        lost = bool(value < self.roundings.least) and not value.is_zero()
        return self.roundings.least if lost else 0.0

    def rounded(self, element: Element) -> float:
        """Return the element's value as the engine's numbers have it."""
        if self.roundings is None:
            return float(self.value(element).mid())
        return self.roundings.rounded(int(element))

    def kink(self, element: Element, what: str) -> None:
        self.unsure = self.unsure or bool(self.slack(element))
        if not self.is_constant(element):
            self.kinks.setdefault(int(element), what)

    def unsigned(self, element: Element) -> None:
        self.zeros.add(int(element))

    def edges_of(
        self, name: str, arguments: Sequence[Any]
    ) -> Iterator[tuple[Any, str]]:
        """Yield the arguments at which a function has no derivative, and why."""
        for position, relation, bound in bounds_of(name, arguments):
            argument = arguments[position]
            if relation == "==" or self.is_constant(argument):
                continue
            if argument.value.is_finite() and self.nearest(argument, bound):
                yield argument, f"{name} has no derivative at {bound}"


def apart(evaluation: Evaluation, a: int, b: int) -> Ball:
    """Return ``a - b`` as a ball without 0, or as 0 where no precision separates them,
    or as `NAN` where one of them is nan."""
    first = evaluation.bits
    for bits in evaluation.precisions([a, b], len(evaluation.known[first])):
        x, y = evaluation.values([a, b], bits)
        if is_nan(x) or is_nan(y):
            return NAN
        if is_infinite(x) or is_infinite(y):
            left, right = to_float(x), to_float(y)
            return ZERO if left == right else ball(float("inf" if left > right
                                                         else "-inf"))  # fmt: skip
        with working(bits):
            gap = x - y
        if gap.is_zero():
            return ZERO
        if gap > 0 or gap < 0:
            if bits <= MAX_COMPARISON_BITS:
                evaluation.bits = max(first, bits)
            return gap
        if bits - first >= MAX_COMPARISON_BITS and x.is_finite() and y.is_finite():
            break
    return ZERO
