"""A run on terms that keeps where each decision was made.

Invariant: a crossing belongs to the row that was running and to the text whose value
was being computed; a comparison of the program itself has no row.

    point, crossings = watched(job)
    crossings[0].op.name, crossings[0].span         # "relu", Span(0, 7)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from ...engine.modes import MODE
from ...lang.errors import Span
from ...lang.exactly import ExactFactory, ExactLibrary, exact_code
from ...lang.parser import parse
from ...lang.run import computed
from ...numbers.decided import bounds_of, ratio
from ...numbers.namespace import ObjectNamespace
from ...numbers.system import Number
from ...numbers.terms import Term, Terms
from ...ops import Op
from ..conditions import shown
from ..process.budget import OutOfTime
from ..process.job import Job
from ..subject import OnTerms, on_terms

if TYPE_CHECKING:
    from ...engine import Tensor
from typing import Final

MAX_QUOTED_CHARACTERS: Final = 40
"""Largest length, in characters, of program text that is quoted in a note."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """Two terms such that something is decided differently where they meet.

    op    the row that decides; None: a comparison of the program's own
    span  the text whose value was being computed; None: the condition of a branch
    edge  whether the row has no derivative there, or its domain ends
    """

    op: Op | None
    span: Span | None
    left: Term
    right: Term
    edge: bool


class _Watching(Terms):
    """Terms that keep what is compared, rounded, or near the edge of a domain.

    met  what nobody is known to have decided yet; of a rounding both terms are one
    """

    def __init__(self, reach: int) -> None:
        super().__init__()
        self._reach = reach
        self.met: list[Crossing] = []
        self.attributed: list[Crossing] = []
        self.crossings: list[Crossing] = []

    def compare(self, relation: str, a: Term, b: Term) -> bool:
        if a is not b and not (a.constant and b.constant):
            self.met.append(Crossing(None, None, a, b, edge=False))
        return super().compare(relation, a, b)

    def fixed(self, element: Term, value: Number) -> Term:
        if not element.constant and element.value.is_finite():
            self.met.append(Crossing(None, None, element, element, edge=False))
        return super().fixed(element, value)

    def note_edges(self, name: str, elements: Sequence[Term]) -> None:
        for position, relation, bound in bounds_of(name, elements):
            term = elements[position]
            if relation != "==" and not term.constant:
                self.met.append(Crossing(None, None, term, self.lift(bound), edge=True))
        super().note_edges(name, elements)

    def ran(self, op: Op, *call: object) -> None:
        """Assign to ``op`` what was met since the last row ran."""
        self.attributed += [replace(met, op=op) for met in self.met]
        self.met = []

    def computed(self, span: Span | None) -> None:
        """Assign what was met to the text at ``span``, whose value is now computed."""
        for met in (*self.attributed, *self.met):
            ends = [met.right]
            if met.left is met.right:
                ends = self._bounds(met.op, met.left)
            self.crossings += [replace(met, span=span, right=end) for end in ends]
        self.met, self.attributed = [], []

    def _bounds(self, op: Op | None, element: Term) -> list[Term]:
        """Return the jumps of a rounding function around its argument."""
        if op is None or op.jumps_at is None:
            return []
        shift = Fraction(op.jumps_at)
        here = Fraction(*ratio(element.value.mid())) - shift
        below, above = math.floor(here) + shift, math.ceil(here) + shift
        found = {below, above}
        found |= {below - k for k in range(1, self._reach + 1)}
        found |= {above + k for k in range(1, self._reach + 1)}
        if op.smooth_at_zero:
            found.discard(Fraction(0))
        return [self.lift(float(b)) for b in sorted(found)]


class _Attributing(ExactLibrary):
    """A library that tells the terms which text was just computed."""

    def __init__(self, factory: ExactFactory, terms: _Watching) -> None:
        super().__init__(factory)
        self._terms = terms

    def on_result(self, value: object, span: Span) -> None:
        super().on_result(value, span)
        self._terms.computed(span)

    def truth(self, value: object) -> bool:
        try:
            return super().truth(value)
        finally:
            self._terms.computed(None)


def watched(job: Job, reach: int = 0) -> tuple[OnTerms, list[Crossing]]:
    """Return the run of a job's program on terms, and all crossings, near or far.

    Args:
        job: the program and its point.
        reach: the number of further jumps of a rounding to keep on each side.
    """
    terms = _Watching(reach)

    def evaluate(inputs: dict[str, Tensor]) -> object:
        xp = next(iter(inputs.values())).xp
        library = _Attributing(ExactFactory(xp, job.dtype, job.seed), terms)
        code = exact_code(parse(job.source, inputs))
        with xp.taking_numbers():
            return computed(code, inputs, library, job.of)[0]

    with MODE.having(on_call=(*MODE.on_call, terms.ran)):
        point = on_terms(job, evaluate, ObjectNamespace(terms))
    return point, terms.crossings


def conventions(job: Job) -> dict[frozenset[str | None], str]:
    """Return the table's rules at the kinks of a job's point, each with the function
    that has it, by the texts of the two terms that meet, and by each text alone."""
    found: dict[frozenset[str | None], str] = {}
    try:
        _, crossings = watched(job)
    except OutOfTime:
        raise
    except Exception:
        # A note without the rule still has its reason.
        return found
    for crossing in crossings:
        op, left, right = crossing.op, crossing.left, crossing.right
        if op is not None and op.kink and left.value.overlaps(right.value):
            span = crossing.span
            text = "" if span is None else job.source[span.start : span.end]
            short = 0 < len(text) <= MAX_QUOTED_CHARACTERS and "\n" not in text
            rule = f"{text if short else op.base}: {op.kink}"
            texts = shown(left), shown(right)
            for key in (texts, texts[:1], texts[1:]):
                found.setdefault(frozenset(key), rule)
    found.pop(frozenset({None}), None)
    return found
