"""Runs of programs over a box, in which each entry of an input lies in an interval.

A run follows one way through the program. A comparison that the box leaves open is
decided by a script, so that all ways are taken one after another; what holds for each
of the runs holds for the program at every point of the box.

Invariant: a program that such runs cannot follow raises `Unresolved`; nothing is
decided by the middle of a box.

    for terms, result in ways(run, {"x": arb(0, 1)}):       # one per way
        terms.kinks, terms.evaluation
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final, TypeVar

from flint import arb

from ..engine.raw import Host
from .balls import START_BITS, UNTOLD, ZERO, Ball, ball, to_float, working
from .decided import ratio
from .graph import Elsewhere, Evaluation
from .namespace import ObjectNamespace
from .system import Number, compared
from .terms import Term, Terms, chosen

MAX_WAYS: Final = 32
"""Largest number of ways through a program that are followed on one box."""

MAX_OPEN: Final = 12
"""Largest number of open decisions on one way; without it a loop may not end."""

SLOPES: Final[Mapping[str, Ball]] = {"abs": arb(0, 1)}
"""Balls that contain all derivatives of a function with a kink, by its name."""

Result = TypeVar("Result")


class Unresolved(BaseException):
    """An error: a program's values on a box cannot be enclosed by following its ways.
    It is no `Exception`, so that the engine does not report it as its own failure."""


class Enclosures(Evaluation):
    """An evaluation whose balls hold all values and derivatives on a box."""

    def slope(self, step: int, position: int, bits: int) -> Ball:
        found = super().slope(step, position, bits)
        if found.is_finite():
            return found
        return SLOPES.get(self.graph.name(step), found)

    def bends(
        self, outputs: Sequence[int], weights: Sequence[float],
        entries: Sequence[int], along: int,
    ) -> list[Ball]:  # fmt: skip
        """Return the derivative, along one entry, of the gradient by some entries."""
        with working(START_BITS, 3):
            return self._second(outputs, weights, entries, along, START_BITS)

    def change(self, output: int, along: int) -> Ball:
        """Return the derivative of a step's value by an entry."""
        with working(START_BITS):
            return self.tangents([output], along, START_BITS).get(output, ZERO)

    def moving(self, step: int) -> Iterable[tuple[int, int]]:
        """Return all arguments: detached values change with an entry all the same."""
        return enumerate(self.graph.args(step))

    def moved(self, box: Mapping[str, Ball]) -> Enclosures:
        """Return the same run's evaluation on another part of its box."""
        symbols = self.graph.symbols  # type: ignore[attr-defined]
        return Enclosures(
            Elsewhere(self.graph, {symbols[name]: b for name, b in box.items()})
        )


class BoxTerms(Terms):
    """Terms whose inputs lie in intervals; open comparisons follow a script."""

    def __init__(self, box: Mapping[str, Ball], script: Sequence[int] = ()) -> None:
        """Start a run that follows ``script``, the outcomes of open decisions in order;
        later ones take outcome 0. ``box`` has intervals by the labels of entries."""
        super().__init__()
        self.evaluation: Enclosures = Enclosures(self)
        self._at_start = self.evaluation.known[START_BITS]
        self.box = box
        self.script = script
        self.taken: list[tuple[int, int]] = []
        """Outcome of each open decision, with the number of its possible outcomes."""
        self.symbols: dict[str, int] = {}
        self.tied = False
        """Whether a comparison that depends on an input had equal sides."""
        self._known: dict[Hashable, int] = {}

    def _outcome(self, key: object, outcomes: int) -> int:
        if key not in self._known:
            place = len(self.taken)
            if place >= MAX_OPEN:
                raise Unresolved("too many comparisons are open")
            taken = self.script[place] if place < len(self.script) else 0
            self.taken.append((taken, outcomes))
            self._known[key] = taken
        return self._known[key]

    def symbol(self, label: str, value: object) -> Term:
        made = super().symbol(label, self.box.get(label, value))
        self.symbols[label] = made.serial
        return made

    def apply(self, name: str, *elements: Term) -> Term:
        if name in UNTOLD:
            raise Unresolved("values whose vectors are asked for may be equal, or 0")
        return super().apply(name, *elements)

    def value(self, element: Term) -> Ball:
        if element.value.is_finite() or element.value.is_exact():
            return element.value
        raise Unresolved("a value has no bound")

    def compare(self, relation: str, a: Term, b: Term) -> bool:
        return compared(self, relation, chosen(a), chosen(b))

    def side(self, a: Term, b: Term) -> int:
        if a is b:
            return 0
        with working(START_BITS):
            gap = a.value - b.value
        if gap.is_zero():
            self.tied = self.tied or not (a.constant and b.constant)
            return 0
        if gap.contains(0):
            key = (a.serial, b.serial) if a.serial < b.serial else (b.serial, a.serial)
            side = self._outcome(key, 3) - 1
            return side if key[0] == a.serial else -side
        return 1 if gap > 0 else -1

    def is_zero(self, element: Term) -> bool:
        if element.value.contains(0) and not element.value.is_zero():
            raise Unresolved("it is open whether a value is 0")
        return bool(element.value.is_zero())

    def is_settled(self, element: Term) -> bool:
        return False

    def narrowed(self, element: Term) -> Ball:
        return self.value(element)

    def nearest(self, element: Term, number: Number) -> bool:
        return bool(element.value.contains(ball(number)))

    def landed(self, element: Term, jump: Fraction, away: Fraction) -> Fraction:
        if not self.nearest(element, jump):
            return super().landed(element, jump, away)
        low, high = element.value.lower(), element.value.upper()
        if not high - low < 1:
            raise Unresolved("a value passes several jumps")
        end = high if self._outcome(element.serial, 2) else low
        return Fraction(*ratio(end))

    def note(self, element: Term, relation: str, number: Number) -> None:
        """Note nothing: no condition is needed, because every way is followed."""

    def read(self, element: Term, value: float) -> None:
        if not element.value.is_exact():
            raise Unresolved("a value is taken for an index, or for a plain number")

    def classify(self, element: Term) -> None:
        """Note nothing: `value` already refuses a value without a bound."""

    def fixed(self, element: Term, value: Number) -> Term:
        if isinstance(value, float) and not element.value.is_exact():
            raise Unresolved("a value that may be no number is replaced")
        return super().fixed(element, value)


class BoxNamespace(ObjectNamespace):
    """The namespace in which programs run over a box."""

    def argsort(self, x: object, dim: int = -1, descending: bool = False) -> Host:
        for row in self._rows(x, dim)[0].reshape(-1, self.elements(x).shape[dim]):
            ordered = sorted((e.value for e in row), key=lambda b: to_float(b))
            if not all(low < high for low, high in pairwise(ordered)):
                raise Unresolved("an order is open")
        return super().argsort(x, dim, descending)


def ways(
    run: Callable[[BoxTerms], Result], box: Mapping[str, Ball]
) -> Iterator[tuple[BoxTerms, Result]]:
    """Yield the terms of each way through a program on a box, and what ``run`` returns;
    raise `Unresolved` if there are too many, or one cannot be followed."""
    script: list[int] = []
    for _ in range(MAX_WAYS):
        terms = BoxTerms(box, script)
        yield terms, run(terms)
        taken = terms.taken
        while taken and taken[-1][0] + 1 == taken[-1][1]:
            taken = taken[:-1]
        if not taken:
            return
        script = [way for way, _ in taken]
        script[-1] += 1
    raise Unresolved("there are too many ways through the program")
