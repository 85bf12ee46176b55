"""Terms: what the checker computes with instead of numbers.

A term is a scalar function applied to terms, an input's entry, or a number; it knows
its value at the point to 50 digits, so a program decides its branches on terms as it
does on arrays. SymPy expressions are made from terms only when they are wanted, so a
program of a hundred thousand scalar steps costs no SymPy.

Invariant: where roundings are known, what lies within rounding of a tie or a jump is
taken for one: it is decided as the engine's numbers are, and remembered.

    terms = Terms()
    x = terms.symbol("x", 0.5)
    y = terms.apply("sin", x)           # y.value is sin(0.5)
    terms.decisions, terms.choices      # what was decided on the way
    terms.ties, terms.kinks             # where the point lies on a turning
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

from .precision import EXACT, guarded
from .scalars import SCALARS
from .system import RELATIONS, Number, exact, to_context
from .term import Choice, Decision, Kink, Term, chosen
from .values import Roundings

LONG: Final = 10**300
"""Where a number of a program is no longer computed with exactly: in a loop it would
get twice as long at every step."""

_EXACTLY: Final[dict[str, Callable[..., Any]]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
}
"""What stays exact on the numbers of a program."""


class Terms:
    """The system whose elements are terms; one per program that is checked."""

    def __init__(self, lean: int = 0, roundings: Roundings | None = None) -> None:
        """``lean`` decides ties: 0 as the engine's numbers do, -1 as less, 1 as
        greater. Without ``roundings`` a tie is an equality of values."""
        self.lean = lean
        self.roundings = roundings
        self.decisions: dict[tuple[str, int, int], Decision] = {}
        self.choices: dict[int, Choice] = {}
        self.kinks: dict[int, Kink] = {}
        self.ties: dict[tuple[int, int], Decision] = {}
        self.unsure = False
        """Whether roundings decide a tie or a jump."""
        self.looked_at: dict[int, Term] = {}
        """Terms whose value decided something."""
        self._numbers: dict[Number, Term] = {}
        self._stopped: dict[int, Term] = {}

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
        holds = RELATIONS[relation]
        if a is b:
            return bool(holds(a.value, b.value))
        constant = a.constant and b.constant
        slack = self.slack(a) + self.slack(b)
        meet = abs(a.value - b.value) <= slack if slack else a.value == b.value
        if meet and (slack or not constant):
            self.unsure = self.unsure or bool(slack)
            self.ties.setdefault((a.serial, b.serial), Decision("==", a, b))
            if self.lean or not slack:
                return bool(holds(self.lean, 0))
            return bool(holds(self.rounded(a), self.rounded(b)))
        held = bool(holds(a.value, b.value))
        if not constant:
            shown = relation if held else _OPPOSITE[relation]
            shown = _STRICT.get(shown, shown)
            decision = Decision(shown, a, b)
            self.decisions.setdefault((shown, a.serial, b.serial), decision)
        return held

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
        stopped = self._stopped.get(element.serial)
        if stopped is None:
            stopped = Term("stop", (element,), element.value)
            stopped.constant = True
            self._stopped[element.serial] = stopped
        return stopped

    def kink(self, element: Term, what: str) -> None:
        self.unsure = self.unsure or bool(self.slack(element))
        if not element.constant:
            self.kinks.setdefault(element.serial, Kink(element, what))

    def slack(self, element: Term) -> Any:
        """How far the engine's number may lie from the element's value."""
        return EXACT.zero if self.roundings is None else self.roundings.slack(element)

    def rounded(self, element: Term) -> Any:
        """The element's value as the engine's numbers have it."""
        if self.roundings is None:
            return element.value
        return EXACT.mpf(self.roundings.rounded(element))

    def _note_edges(self, name: str, elements: Sequence[Term]) -> None:
        for position, relation, bound in SCALARS[name].domain(*elements):
            term = elements[position]
            if relation == "==" or term.constant:
                continue
            if term.value == bound or abs(term.value - bound) <= self.slack(term):
                self.kink(term, f"{name} has no derivative at {bound}")

    def domains(self, terms: Sequence[Term]) -> Iterator[Decision]:
        """What the functions that made these terms ask of their arguments."""
        for term in terms:
            if term.name in SCALARS:
                for position, relation, bound in SCALARS[term.name].domain(*term.args):
                    argument = chosen(term.args[position])
                    if not argument.constant:
                        yield Decision(relation, argument, self.lift(bound))


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
