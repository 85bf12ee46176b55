"""Terms: what the checker computes with instead of numbers.

A term is a scalar function applied to terms, an input's entry, or a number; it knows
its value at the point to 50 digits, so a program decides its branches on terms as it
does on arrays. SymPy expressions are made from terms only when they are wanted, so a
program of a hundred thousand scalar steps costs no SymPy.

Invariant: a term is made after its arguments, so ``serial`` orders any set of terms
for a pass without recursion; terms never change.

    terms = Terms()
    x = terms.symbol("x", 0.5)
    y = terms.apply("sin", x)           # y.value is sin(0.5)
    terms.decisions, terms.choices      # what was decided on the way
    terms.ties, terms.kinks             # where the point lies on a turning
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import Any, Final

from .precision import EXACT, guarded
from .scalars import SCALARS
from .system import RELATIONS, Number, exact, to_context

_serial = count()

LONG: Final = 10**300
"""Where a number of a program is no longer computed with exactly: in a loop it would
get twice as long at every step."""

HUGE: Final = 10**9
"""Where the size of a term written out as a tree is no longer counted."""


class Term:
    """``name`` applied to ``args``; ``content`` is a number's value, a symbol's label.

    ``constant`` says that no input's entry is below; ``size`` counts the nodes of the
    term written out as a tree.
    """

    __slots__ = ("args", "constant", "content", "name", "serial", "size", "value")
    constant: bool
    size: int

    def __init__(
        self, name: str, args: tuple[Term, ...], value: Any, content: Any = None
    ) -> None:
        self.name = name
        self.args = args
        self.value = value
        self.content = content
        self.serial = next(_serial)
        constant, size = name != "symbol", 1
        for a in args:
            constant = constant and a.constant
            size += a.size
        self.constant = constant
        self.size = size if size < HUGE else HUGE

    def __repr__(self) -> str:
        inside = ", ".join(a.name for a in self.args) or str(self.content)
        return f"<{self.name}({inside}) = {EXACT.nstr(self.value, 6)}>"


@dataclass(frozen=True, slots=True)
class Decision:
    """A comparison decided by value. Strict: the results hold where it holds; a tie
    (``==``): the two sides meet at the point."""

    relation: str
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Kink:
    """A term that lies where a function of it has no derivative."""

    term: Term
    what: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A term that was picked among others, and the decisions that it took."""

    term: Term
    decisions: tuple[Decision, ...]


_EXACTLY: Final[dict[str, Callable[..., Any]]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
}
"""What stays exact on the numbers of a program."""


class Terms:
    """The system whose elements are terms; one per program that is checked."""

    def __init__(self, lean: int = 0) -> None:
        """``lean`` decides ties: 0 as equal, -1 as less, 1 as greater."""
        self.lean = lean
        self.decisions: dict[tuple[str, int, int], Decision] = {}
        self.choices: dict[int, Choice] = {}
        self.kinks: dict[int, Kink] = {}
        self.ties: dict[tuple[int, int], Decision] = {}
        self.looked_at: dict[int, Term] = {}
        """Terms whose value decided something."""
        self._numbers: dict[Number, Term] = {}

    def symbol(self, label: str, value: float) -> Term:
        """An input's entry: its value is the exact value of the float."""
        return Term("symbol", (), EXACT.mpf(value), label)

    def lift(self, number: Number) -> Term:
        number = exact(number)
        found = self._numbers.get(number)
        if found is None or number != number:
            found = Term("number", (), to_context(EXACT, number), number)
            self._numbers[number] = found
        return found

    def apply(self, name: str, *elements: Term) -> Term:
        simple = _FOLDS.get(name)
        if simple is not None:
            found = simple(*elements)
            if found is not None:
                return found
        if elements[0].name == "number":
            folded = self._fold(name, elements)
            if folded is not None:
                return folded
        self._note_edges(name, elements)
        values = [e.value for e in elements]
        return Term(name, elements, guarded(EXACT, SCALARS[name].number, *values))

    def _fold(self, name: str, elements: Sequence[Term]) -> Term | None:
        numbers = [e.content for e in elements if e.name == "number"]
        if len(numbers) < len(elements):
            return None
        if not all(isinstance(n, int | Fraction) and _short(n) for n in numbers):
            return None
        if name in _EXACTLY:
            return self.lift(_EXACTLY[name](*numbers))
        if name == "div" and numbers[1]:
            return self.lift(_lowest(Fraction(numbers[0]) / Fraction(numbers[1])))
        return None

    def total(self, elements: Sequence[Term]) -> Term:
        kept = tuple([e for e in elements if not _is(e, 0)])
        if len(kept) < 2:
            return kept[0] if kept else self.lift(0)
        values = [e.value for e in kept]
        return Term("total", kept, guarded(EXACT, SCALARS["total"].number, *values))

    def value(self, element: Term) -> Any:
        return element.value

    def compare(self, relation: str, a: Term, b: Term) -> bool:
        self.looked_at.update({a.serial: a, b.serial: b})
        a, b = chosen(a), chosen(b)
        if a is b or (a.constant and b.constant):
            return bool(RELATIONS[relation](a.value, b.value))
        if a.value == b.value:
            self.ties.setdefault((a.serial, b.serial), Decision("==", a, b))
            return bool(RELATIONS[relation](self.lean, 0))
        holds = bool(RELATIONS[relation](a.value, b.value))
        shown = relation if holds else _OPPOSITE[relation]
        shown = _STRICT.get(shown, shown)
        self.decisions.setdefault((shown, a.serial, b.serial), Decision(shown, a, b))
        return holds

    def choice(self, pick: Callable[[], Term]) -> Term:
        """The decisions that ``pick`` makes are kept apart: where nothing depends on
        what is chosen they are no conditions."""
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
        term = Term("choice", (picked,), picked.value)
        self.choices[term.serial] = Choice(term, tuple(made.values()))
        return term

    def fixed(self, element: Term, value: Number) -> Term:
        self.looked_at[element.serial] = element
        return self.lift(value)

    def stop(self, element: Term) -> Term:
        if element.constant:
            return element
        stopped = Term("stop", (element,), element.value)
        stopped.constant = True
        return stopped

    def kink(self, element: Term, what: str) -> None:
        if not element.constant:
            self.kinks.setdefault(element.serial, Kink(element, what))

    def _note_edges(self, name: str, elements: Sequence[Term]) -> None:
        for position, relation, bound in SCALARS[name].domain(*elements):
            term = elements[position]
            if relation != "==" and term.value == bound:
                self.kink(term, f"{name} has no derivative at {bound}")

    def domains(self, terms: Sequence[Term]) -> Iterator[Decision]:
        """What the functions that made these terms ask of their arguments."""
        for term in terms:
            if term.name in SCALARS:
                for position, relation, bound in SCALARS[term.name].domain(*term.args):
                    argument = chosen(term.args[position])
                    if not argument.constant:
                        yield Decision(relation, argument, self.lift(bound))


def chosen(term: Term) -> Term:
    """What a choice was made for; any other term as it is."""
    while term.name == "choice":
        term = term.args[0]
    return term


_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_STRICT = {"<=": "<", ">=": ">"}


def _short(number: int | Fraction) -> bool:
    return abs(number.numerator) < LONG and number.denominator < LONG


def _lowest(ratio: Fraction) -> Number:
    return ratio.numerator if ratio.denominator == 1 else ratio


def _is(term: Term, number: int) -> bool:
    return term.name == "number" and bool(term.content == number)


def _fold_add(a: Term, b: Term) -> Term | None:
    if _is(a, 0):
        return b
    return a if _is(b, 0) else None


def _fold_mul(a: Term, b: Term) -> Term | None:
    if _is(a, 1):
        return b
    if _is(b, 1):
        return a
    if _is(a, 0) and EXACT.isfinite(b.value):
        return a
    return b if _is(b, 0) and EXACT.isfinite(a.value) else None


_FOLDS: Final[dict[str, Callable[..., Term | None]]] = {
    "add": _fold_add,
    "mul": _fold_mul,
    "sub": lambda a, b: a if _is(b, 0) else None,
    "div": lambda a, b: a if _is(b, 1) else None,
}
"""Identities of real numbers that keep zeros and ones out of the terms."""


def ordered(roots: Sequence[Term]) -> list[Term]:
    """All terms below ``roots``, arguments before what is made of them."""
    found: dict[int, Term] = {}
    stack = list(roots)
    while stack:
        term = stack.pop()
        if term.serial not in found:
            found[term.serial] = term
            stack.extend(term.args)
    return [found[serial] for serial in sorted(found)]
