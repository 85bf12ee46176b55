"""Texts of side conditions, of kinks, and of reasons why a value is undefined.

Invariants: each text is short and can be understood alone; conditions that are left out
are counted, unless they follow from those shown or nothing depends on them.

    side_conditions(terms, outputs, settled)    # ("x > 0",) of sqrt(x)*log(x)
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import sympy

from ..numbers.balls import LEAVES, STEPS, is_infinite, is_nan, to_float
from ..numbers.expressions import Expressions
from ..numbers.system import RELATIONS, NoMeaning
from ..numbers.terms import Choice, Decision, Term, Terms, ordered
from .closed import formula

MAX_SHOWN_CONDITIONS: Final = 12
"""Largest number of side conditions, or of kinks, that are shown."""

MAX_CONSIDERED_CONDITIONS: Final = 8 * MAX_SHOWN_CONDITIONS
"""Largest number of conditions that are tested for following from others."""

MAX_SHOWN_TERM_NODES: Final = 24
"""Largest number of nodes in the tree of a term that is shown."""

MAX_SHOWN_TERM_CHARACTERS: Final = 60
"""Largest length, in characters, of a term that is shown."""

MAX_IMPLIED_TERM_NODES: Final = 200
"""Largest size of a quantity whose sign is tested for following from other signs."""

PART: Final = "a part of the program"
"""Text that stands for a term that is too long to show."""


def shown(term: Term, book: Expressions | None = None) -> str | None:
    """Return a term in the language's syntax; None if that is too long."""
    if term.size > MAX_SHOWN_TERM_NODES:
        return None
    try:
        text = formula(written(book or Expressions(), term))
    except (ValueError, RecursionError):
        return None
    return text if text is not None and len(text) <= MAX_SHOWN_TERM_CHARACTERS else None


def written(book: Expressions, term: Term) -> sympy.Expr:
    """Return a term's expression, with the constants that it holds written out."""
    return book.released(book.of(term))


def side_conditions(
    terms: Terms, made: Sequence[Term], settled: frozenset[int] = frozenset()
) -> tuple[str, ...]:
    """Return the conditions of formulas, at most a dozen, and a count of the others.

    Args:
        terms: the terms of the run.
        made: the terms that a proof is about, the program's own first.
        settled: the choices that nothing depends on, found by `indifferent`.
    """
    picked = [
        decision
        for serial, choice in terms.choices.items()
        if serial not in settled
        for decision in choice.decisions
    ]
    inside = filter(_holds, terms.domains(ordered(made)))
    decided: dict[object, Decision] = {}
    for each in _held(terms, [*terms.decisions.values(), *picked, *inside]):
        key = each.relation, each.left.serial, each.right.serial
        decided.setdefault(key, each)
    # A condition that excludes one point often follows from others, so it is last.
    last = sorted(decided.values(), key=lambda d: d.relation == "!=")
    return _listed(_independent(last))


def _held(terms: Terms, decisions: Iterable[Decision]) -> Iterator[Decision]:
    """Yield the decisions; one made at a tie becomes an equation, because the reverse
    pass was seen only where the sides are equal."""
    met = {frozenset((t.left.serial, t.right.serial)) for t in terms.ties.values()}
    for each in decisions:
        at_tie = frozenset((each.left.serial, each.right.serial)) in met
        yield replace(each, relation="==") if at_tie else each


def indifferent(terms: Terms, free: Iterable[int]) -> frozenset[int]:
    """Return those of the choices ``free`` that decide nothing: no branch was taken and
    no number rounded by looking at the chosen value, and the reverse pass did not use
    it. The program's formula must not depend on the choices ``free``."""
    settled = frozenset(free) & terms.choices.keys()
    while True:
        looked_at = list(terms.looked_at.values())
        for serial, choice in terms.choices.items():
            if serial not in settled:
                looked_at += _sides(choice)
        left = settled - {term.serial for term in ordered(looked_at)}
        if left == settled:
            return settled
        settled = left


def _sides(choice: Choice) -> list[Term]:
    return [side for d in choice.decisions for side in (d.left, d.right)]


def kinks_shown(terms: Terms, own: Mapping[int, str]) -> tuple[str, ...]:
    """Return descriptions of the ties and poles that the point lies on.

    ``own`` are the program's kinks; those met only by the reverse pass are shown if
    there are no others. Kinks of terms made only of terms already shown are left out:
    where x is 0, so is 2*x.
    """
    on = [*(own or terms.kinks).items()][:MAX_CONSIDERED_CONDITIONS]
    fixed: set[int] = set()
    for step, _ in sorted(on):
        if not _follows(terms.made[step], fixed):
            fixed.add(step)
    poles = [
        f"{what}: {shown(term) or PART} = {to_float(term.value)!r}"
        for step, what in on
        if step in fixed
        for term in (terms.made[step],)
    ]
    ties = []
    for tie in [*terms.ties.values()][:MAX_CONSIDERED_CONDITIONS]:
        left, right = tie.left, tie.right
        if not (_follows(left, fixed) and _follows(right, fixed)):
            ties.append(_meeting(tie))
            fixed |= {a.serial for a, b in ((left, right), (right, left)) if b.constant}
    return (*poles[:MAX_SHOWN_CONDITIONS], *dict.fromkeys(ties[:MAX_SHOWN_CONDITIONS]))


def _follows(term: Term, fixed: Container[int]) -> bool:
    """Tell whether a term is small and made of constants and ``fixed`` terms alone."""
    return term.size <= MAX_IMPLIED_TERM_NODES and all(
        each.name != "symbol" for each in ordered([term], fixed)
    )


def _meeting(tie: Decision) -> str:
    return f"{shown(tie.left) or PART} == {shown(tie.right) or PART}"


def undefined(terms: Terms, output: Term) -> str:
    """Return why an output has no value: the first function below it whose argument is
    outside its domain."""
    for term in ordered([output]):
        lost = is_nan(term.value) or is_infinite(term.value)
        if lost and term.name in LEAVES:
            what = (
                f"the input {term.content}" if term.name == "symbol" else "a constant"
            )
            return f"{what} is {to_float(term.value)!r}"
        if lost or terms.is_outside(term):
            asked = terms.domains([term], constants=True)
            needed = [_needed(d) for d in asked if not _holds(d)]
            gives = f"gives {to_float(term.value)!r}"
            return f"{_called(term)} {f'needs {needed[0]}' if needed else gives}"
    return "its value is not a number"


def _needed(decision: Decision) -> str:
    sentence = _sentence(decision)
    if sentence is None or not Expressions().of(decision.left).free_symbols:
        return f"an argument {decision.relation} {shown(decision.right)}"
    return sentence


def _called(term: Term) -> str:
    own = STEPS[term.name].words if term.name in STEPS else None
    return own or {"div": "a quotient", "pow": "a power"}.get(term.name, term.name)


def _holds(decision: Decision) -> bool:
    relation = RELATIONS[decision.relation]
    left, right = decision.left.value, decision.right.value
    if not (left.is_finite() and right.is_finite()):
        return bool(relation(to_float(left), to_float(right)))
    return bool(relation((left - right).mid(), 0))


def _independent(decisions: Iterable[Decision]) -> Iterator[str | None]:
    """Yield decisions as text, None if too long; those that follow are left out."""
    facts, book = Facts(), Expressions()
    for position, decision in enumerate(decisions):
        size = decision.left.size + decision.right.size
        if position >= MAX_CONSIDERED_CONDITIONS or size > MAX_IMPLIED_TERM_NODES:
            yield None
            continue
        try:
            gap = written(book, decision.left) - written(book, decision.right)
        except NoMeaning:
            yield None
            continue
        if facts.imply(gap, decision.relation):
            continue
        facts.add(gap, decision.relation)
        yield _sentence(decision, book)


def _sentence(decision: Decision, book: Expressions | None = None) -> str | None:
    left, right = shown(decision.left, book), shown(decision.right, book)
    if left is None or right is None:
        return None
    return f"{left} {decision.relation} {right}"


def _listed(sentences: Iterable[str | None]) -> tuple[str, ...]:
    every = list(sentences)
    known = list(dict.fromkeys(text for text in every if text is not None))
    hidden = len(known[MAX_SHOWN_CONDITIONS:]) + every.count(None)
    if hidden and not known:
        return (f"conditions too long to show: {hidden}",)
    more = (f"and {hidden} more",) if hidden else ()
    return (*known[:MAX_SHOWN_CONDITIONS], *more)


_ASKED: Final = {
    ">": "is_positive",
    ">=": "is_nonnegative",
    "<": "is_negative",
    "<=": "is_nonpositive",
    "!=": "is_nonzero",
    "==": "is_zero",
}
_TURNED: Final = {"<": ">", "<=": ">="}


class Facts:
    """A set of relations of quantities to zero that are taken as given."""

    def __init__(self) -> None:
        self._substitutes: dict[object, object] = {}

    def imply(self, quantity: sympy.Expr, relation: str) -> bool:
        """Tell whether ``quantity relation 0`` holds wherever the facts do."""
        known = quantity.xreplace(self._substitutes)
        return getattr(known, _ASKED[relation]) is True

    def add(self, quantity: sympy.Expr, relation: str) -> None:
        """Add ``quantity relation 0`` to the facts."""
        if relation in _TURNED:
            quantity, relation = -quantity, _TURNED[relation]
        if relation == ">":
            self._bounded(quantity, sympy.Dummy(positive=True))
        elif relation == ">=":
            self._bounded(quantity, sympy.Dummy(nonnegative=True))
        elif relation == "!=" and quantity not in self._substitutes:
            self._stand_in(quantity, sympy.Dummy(nonzero=True, real=True))
        elif relation == "==":
            self._bounded(quantity, sympy.S.Zero)

    def _bounded(self, quantity: sympy.Expr, gap: sympy.Expr) -> None:
        """Put ``gap`` in place of ``quantity``. If that is a symbol plus a constant,
        the symbol is replaced, which may tell its sign, too."""
        constant, rest = quantity.as_coeff_Add()
        factor, symbol = rest.as_coeff_Mul()
        if symbol.is_Symbol and (constant <= 0 or gap.is_zero):
            self._stand_in(symbol, (gap - constant) / factor)
        else:
            self._stand_in(quantity, gap)

    def _stand_in(self, quantity: sympy.Expr, known: sympy.Expr) -> None:
        if not quantity.is_number:
            self._substitutes |= {quantity: known, -quantity: -known}
