"""Terms: the scalar steps with which the checker computes instead of numbers.

A term is a scalar function applied to terms, an input's entry, or a number; it knows
its value at the point as a ball, so a program decides its branches on terms as it does
on arrays. SymPy expressions are made from terms only when they are wanted, so a program
of a hundred thousand scalar steps costs no SymPy.

Invariants: a comparison is decided with as many bits as tell the sides apart; sides
that no precision tells apart are a tie. If the engine's rounding errors are known, a
tie or a jump within them is decided as the engine's numbers decide it, and noted.
A term is made after its arguments, so ``serial`` orders the terms of one system for a
pass without recursion; terms never change.

    terms = Terms()
    x = terms.symbol("x", 0.5)
    y = terms.apply("sin", x)           # y.value is sin(0.5)
    terms.decisions, terms.choices      # what was decided on the way
    terms.ties, terms.kinks             # the non-smooth points that the point lies on
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain
from typing import Any, Final

from ..ops.basis import ARITHMETIC, NEUTRAL
from ..ops.records import compared_record
from .balls import (
    START_BITS,
    Ball,
    apply,
    ball,
    in_floats,
    is_infinite,
    is_nan,
    text,
    to_float,
    working,
)
from .decided import Deciding, Way, bounds_of, separated_difference
from .system import RELATIONS, Number, in_range, is_float

MAX_EXACT_NUMBER: Final = 10**300
"""Bound of numerators and denominators in exact arithmetic: in a loop they could double
in length at every step."""

MAX_COUNTED_TREE_NODES: Final = 10**9
"""Largest size of a term, in nodes of its tree, that is counted exactly."""


class Term:
    """A scalar step: ``name`` applied to ``args``; ``content`` of a leaf is its number
    or its label.

    ``value`` is the ball at the point, with `START_BITS`; ``constant`` says that no
    derivative by an input's entry goes through the term, ``known`` that it depends on
    no entry; ``size`` counts the nodes of the term written out as a tree.
    """

    __slots__ = (
        "args", "constant", "content", "known", "name", "serial", "size", "value",
    )  # fmt: skip
    constant: bool
    known: bool
    size: int

    def __init__(
        self, serial: int, name: str, args: tuple[Term, ...], value: Ball,
        content: Any = None,
    ) -> None:  # fmt: skip
        self.serial = serial
        self.name = name
        self.args = args
        self.value = value
        self.content = content
        constant, size = name != "symbol", 1
        known = constant
        for a in args:
            constant, known = constant and a.constant, known and a.known
            size += a.size
        self.constant, self.known = constant, known
        self.size = size if size < MAX_COUNTED_TREE_NODES else MAX_COUNTED_TREE_NODES

    def __index__(self) -> int:
        return self.serial

    def __repr__(self) -> str:
        inside = ", ".join(a.name for a in self.args) or str(self.content)
        return f"<{self.name}({inside}) = {text(self.value, 6)}>"


@compared_record
class Decision:
    """A comparison decided at the point; what is proved holds where it holds, too. Its
    relation is strict unless both sides are equal, as they are in a tie (``==``)."""

    relation: str
    left: Term
    right: Term


def chosen(term: Term) -> Term:
    """Return the term that a choice picked; any other term as it is."""
    while term.name == "choice":
        term = term.args[0]
    return term


def ordered(roots: Sequence[Term], known: Container[int] = ()) -> list[Term]:
    """Return ``roots`` and the terms below them, arguments first, without those in
    ``known`` and what these alone are made of."""
    found: dict[int, Term] = {}
    stack = list(roots)
    while stack:
        term = stack.pop()
        if term.serial not in found and term.serial not in known:
            found[term.serial] = term
            stack.extend(term.args)
    return [found[serial] for serial in sorted(found)]


class Terms(Deciding[Term]):
    """The system whose elements are terms, a `gradcli.check.graph.Graph` in which a
    step's number is a term's serial; one per program that is checked."""

    def __init__(self, tie_break: int | Way = 0, dtype: str | None = None) -> None:
        super().__init__(tie_break, dtype)
        self.dtype = dtype or "float64"
        self.decisions: dict[tuple[str, int, int], Decision] = {}
        self.choices: dict[int, tuple[Decision, ...]] = {}
        """Decisions that picked a term among others, by the choice's serial."""
        self.ties: dict[tuple[int, int], Decision] = {}
        self.looked_at: dict[int, Term] = {}
        """Terms whose value decided something, by serial."""
        self._met = False
        """Whether the sides of the last comparison were equal."""
        self.made: list[Term] = []
        self._at_start = self.evaluation.known[START_BITS]
        self._stopped: dict[int, Term] = {}
        self._folds: dict[tuple[Number, tuple[float, float]], Term] = {}

    # the graph

    @property
    def steps(self) -> int:
        return len(self.made)

    def name(self, step: int) -> str:
        return self.made[step].name

    def args(self, step: int) -> Sequence[int]:
        return [a.serial for a in self.made[step].args]

    def leaf(self, step: int) -> Any:
        return self.made[step].content if self.name(step) == "number" else (
            self._at_start[step])  # fmt: skip

    def carrying(self, step: int) -> Iterable[tuple[int, int]]:
        term = self.made[step]
        if term.constant or term.name == "stop":
            return ()
        return [(i, a.serial) for i, a in enumerate(term.args) if not a.constant]

    # making terms

    def make(
        self, name: str, args: tuple[Term, ...], value: Ball, content: object = None
    ) -> Term:
        """Return a new term, without simplifying it."""
        serial = len(self.made)
        term = Term(serial, name, args, value, content)
        self.made.append(term)
        self._at_start[serial] = value
        return term

    def symbol(self, label: str, value: Any) -> Term:
        """Return the term of an input's entry, whose value is exactly its float."""
        return self.make("symbol", (), ball(value), label)

    def written(self, number: Number) -> Term:
        return self.make("number", (), ball(number), number)

    def apply(self, name: str, *elements: Term) -> Term:
        simpler = self.compute_in_floats(name, elements)
        if simpler is None and name in ARITHMETIC:
            simpler = self._simplified(name, elements) or self._folded(name, elements)
        if simpler is not None:
            return simpler
        self.note_edges(name, elements)
        return self.make(name, elements, apply(name, *[e.value for e in elements]))

    def compute_in_floats(self, name: str, elements: Sequence[Term]) -> Term | None:
        if not self.in_floats or any(e.name != "number" for e in elements):
            return None
        floats = [float(e.content) for e in elements]
        return self.lift(float(in_floats(name, floats, self.dtype)))

    def _folded(self, name: str, elements: Sequence[Term]) -> Term | None:
        numbers = [e.content for e in elements if e.name == "number"]
        if len(numbers) < len(elements) or name == "pow":
            return None
        if not all(isinstance(n, int | Fraction) for n in numbers):
            return None
        if any(max(abs(n.numerator), n.denominator) >= MAX_EXACT_NUMBER
               for n in numbers):  # fmt: skip
            return None
        if name == "div" and not numbers[1]:
            return None
        exactly = map(Fraction, numbers) if name == "div" else numbers
        found = ARITHMETIC[name](*exactly)
        found = found.numerator if found.denominator == 1 else found
        units = self._units(name, elements, found)
        if not any(units):
            return self.lift(found)
        made = self._folds.get((found, units))
        if made is None:
            made = self._folds[found, units] = self.written(found)
            self.lost[made.serial] = units
        return made

    def _units(
        self, name: str, elements: Sequence[Term], found: Number
    ) -> tuple[float, float]:
        """Return the engine's error in a result before that is rounded, in two parts:
        an absolute error, and an error in units of rounding."""
        sizes = [abs(e.content) for e in elements]
        carried = [1.0] * len(elements)
        if name == "mul":
            carried = list(map(in_range, sizes[::-1]))
        elif name == "div":
            carried = [in_range(part / sizes[1]) for part in (Fraction(1), abs(found))]
        lost = [self.lost.get(e.serial, (0.0, 0.0)) for e in elements]
        own = [0.0 if is_float(e.content) else in_range(s)
               for e, s in zip(elements, sizes, strict=True)]  # fmt: skip
        return (
            sum(c * off for c, (off, _) in zip(carried, lost, strict=True) if off),
            sum(c * (units + o)
                for c, (_, units), o in zip(carried, lost, own, strict=True)
                if units + o),
        )  # fmt: skip

    def _is(self, term: Term, number: int) -> bool:
        """Tell whether a term is this number, and the engine's float is it exactly."""
        named = term.name == "number" and bool(term.content == number)
        return named and term.serial not in self.lost

    def _simplified(self, name: str, elements: Sequence[Term]) -> Term | None:
        """Return the element that the result is equal to, where one of them is 0 or 1
        and an identity of real numbers applies; else None."""
        neutral, positions = NEUTRAL.get(name, (0, ()))
        for position in positions:
            if self._is(elements[position], neutral):
                return elements[1 - position]
        if name == "mul":
            for zero, other in (elements, elements[::-1]):
                if self._is(zero, 0) and other.value.is_finite():
                    return zero
        return None

    def total(self, elements: Sequence[Term]) -> Term:
        kept = tuple([e for e in elements if not self._is(e, 0)])
        if len(kept) < 2:
            return kept[0] if kept else self.lift(0)
        simpler = self.compute_in_floats("total", kept)
        if simpler is not None:
            return simpler
        return self.make("total", kept, apply("total", *[e.value for e in kept]))

    # deciding

    def is_constant(self, element: Term) -> bool:
        return element.constant

    def is_settled(self, element: Term) -> bool:
        return element.known

    def compare(self, relation: str, a: Term, b: Term) -> bool:
        self.looked_at.update({a.serial: a, b.serial: b})
        a, b = chosen(a), chosen(b)
        if a is b:
            return relation == "!=" if is_nan(self.value(a)) else (
                bool(RELATIONS[relation](0, 0)))  # fmt: skip
        self._met = False
        holds = super().compare(relation, a, b)
        decided = relation if holds else _OPPOSITE[relation]
        self._decided(decided if self._met else _STRICT.get(decided, decided), a, b)
        return holds

    def note_tie(self, a: Term, b: Term, slack: float, side: int) -> bool:
        self._met = not side
        if a.known and b.known and not slack:
            return False
        tie = Decision("!=" if side else "==", a, b)
        self.ties.setdefault((a.serial, b.serial), tie)
        return True

    def tied_pairs(self) -> list[tuple[int, int]]:
        """Return the ties so far, as pairs of steps."""
        return [(t.left.serial, t.right.serial) for t in self.ties.values()]

    def live_ties(self, ties: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the ties that an entry may part: all of them."""
        return ties

    def crowd(self, ties: Sequence[tuple[int, int]]) -> list[int]:
        """Return the terms of ties in which one term is equal to several others."""
        met = Counter(s for tie in ties for s in tie if not self.made[s].constant)
        return [s for tie in ties if max(met[t] for t in tie) > 1 for s in tie]

    def work(self) -> int:
        """Return the number of steps that derivatives take."""
        return self.steps

    def edges(self, size: int) -> Iterator[tuple[int, str]]:
        """Yield nothing: functions without a derivative were noted in the run."""
        return iter(())

    def deciding(self) -> list[int]:
        """Return the steps whose values decided a branch or a choice."""
        return list(self.looked_at)

    def outside(self, roots: Sequence[int]) -> frozenset[int]:
        """Return the steps, below ``roots``, whose functions have no value around their
        arguments."""
        below = ordered([self.made[root] for root in roots])
        return frozenset(t.serial for t in below if self.is_outside(t))

    def exact_ties(self) -> Iterator[Decision]:
        """Yield the ties of equal numbers, without those within rounding."""
        return (tie for tie in self.ties.values() if tie.relation == "==")

    def is_crossed(self) -> bool:
        """Tell whether a decision was taken, by rounding, that exact numbers do not
        take: it does not hold at the point."""
        made = [*self.decisions.values(), *chain(*self.choices.values())]
        return not all(map(self._is_true, made))

    def _is_true(self, decision: Decision) -> bool:
        left, right, holds = decision.left, decision.right, decision.relation
        values = self.value(left), self.value(right)
        if not all(value.is_finite() for value in values):
            return True
        with working(START_BITS):
            gap = values[0] - values[1]
        if gap.contains(0) and not gap.is_zero():
            gap = separated_difference(self.evaluation, left.serial, right.serial)
        return bool(RELATIONS[holds](1 if gap > 0 else -1 if gap < 0 else 0, 0))

    def _decided(self, relation: str, a: Term, b: Term) -> None:
        if not (a.known and b.known):
            decision = Decision(relation, a, b)
            self.decisions.setdefault((relation, a.serial, b.serial), decision)

    def note(self, element: Term, relation: str, number: Number) -> None:
        self.looked_at[element.serial] = element
        self._decided(relation, chosen(element), self.lift(number))

    def read(self, element: Term, value: float) -> None:
        """Note the value as a condition or, if it is no float, the entries below it."""
        self.looked_at[element.serial] = element
        element = chosen(element)
        exactly = self.value(element)
        if exactly.is_exact() and exactly.is_finite() and exactly == ball(value):
            self._decided("==", element, self.lift(value))
        else:
            self._pin(element)

    def _pin(self, element: Term) -> None:
        for term in ordered([element]):
            if term.name == "symbol":
                self._decided("==", term, self.lift(to_float(term.value)))

    def classify(self, element: Term) -> None:
        if self.value(element).is_finite():
            for decision in self.domains(ordered([element])):
                self._decided(decision.relation, decision.left, decision.right)
        else:
            self._pin(element)

    def choice(self, pick: Callable[[], Term]) -> Term:
        """Return the term that ``pick`` picks; the decisions are kept with the choice,
        and are conditions unless nothing depends on the choice."""
        outer, seen = self.decisions, self.looked_at
        self.decisions, self.looked_at = {}, {}
        try:
            picked = pick()
        finally:
            made, self.decisions = self.decisions, outer
            looked_at, self.looked_at = self.looked_at, seen
        if picked.constant or not made:
            self.decisions.update(made)
            self.looked_at.update(looked_at)
            return picked
        term = self.make("choice", (picked,), picked.value)
        self.choices[term.serial] = tuple(made.values())
        return term

    def fixed(self, element: Term, value: Number) -> Term:
        self.looked_at[element.serial] = element
        return self.lift(value)

    def stop(self, element: Term) -> Term:
        if element.constant:
            return element
        stopped = self._stopped.get(element.serial)
        if stopped is None:
            stopped = self.make("stop", (element,), element.value)
            stopped.constant = True
            self._stopped[element.serial] = stopped
        return stopped

    def variable(self, element: Term) -> Term:
        """Return a new term of the same value, by which derivatives can be taken: a
        number is then no longer inserted, and a term is told from its other uses."""
        return self.make("choice", (element,), element.value)

    @property
    def cut(self) -> bool:
        """Whether a detached step keeps some derivative from the inputs' entries."""
        return bool(self._stopped)

    def note_edges(self, name: str, elements: Sequence[Term]) -> None:
        """Note the arguments at which a function has no derivative."""
        for term, what in self.edges_of(name, elements):
            self.kink(term, what)

    def domains(
        self, terms: Sequence[Term], constants: bool = False
    ) -> Iterator[Decision]:
        """Yield the bounds of the domains of the functions that made these terms; for
        arguments that depend on no entry only if ``constants`` is set."""
        for term in terms:
            for position, relation, bound in bounds_of(term.name, term.args):
                argument = chosen(term.args[position])
                if constants or not argument.known:
                    yield Decision(relation, argument, self.lift(bound))

    def is_outside(self, term: Term) -> bool:
        """Tell whether a term's arguments lie outside its function's domain or, if they
        depend on an input's entry, at a pole of the function."""
        finite = all(a.value.is_finite() for a in term.args)
        if finite and not term.known and is_infinite(term.value) and term.args:
            return True
        for asked in self.domains([term], constants=True):
            gap = asked.left.value - asked.right.value
            if gap < 0 if asked.relation == ">" else gap > 0 and asked.relation == "<":
                return True
        return False


_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_STRICT = {"<=": "<", ">=": ">"}
