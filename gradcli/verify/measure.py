"""The numbers of a run: the reference for every derivative that is claimed, and where
the point lies on a turning.

Invariant: a reference's value rests on the program's terms and SymPy's derivative of
each scalar function alone. The engine's rules are run beside it, to be proved later
and to tell what rounding does to them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final

from ..numbers.chain import below, gradient
from ..numbers.precision import EXACT, unit_roundoff
from ..numbers.term import Decision, Term
from ..numbers.values import Roundings
from .point import Evaluate, ReversePass, Run, run, unit
from .process.budget import Budget
from .process.job import Job
from .rounding import (
    ORDERS,
    Reference,
    Rules,
    amplified,
    lost,
    ruled,
    settle,
    side_by_side,
)

SAME: Final = EXACT.mpf("1e-35")
"""Relative distance up to which numbers of two sides of a tie are one."""


@dataclass(frozen=True, slots=True)
class Row:
    """The derivative of one contraction of the output in every entry asked for.

    ``engine`` holds what the engine's rules give on terms, None where they do not run
    there, for the reason in ``why``.
    """

    cotangent: tuple[float, ...]
    references: list[Reference]
    engine: list[Term] | None
    why: str | None = None


def cotangents(job: Job) -> list[tuple[float, ...]]:
    """What the output is contracted with, row by row."""
    count = len(job.output.values())
    if job.kind == "jacobian":
        return [tuple(unit(count, k)) for k in range(count)]
    if job.cotangent is not None:
        return [tuple(job.cotangent.values())]
    return [(1.0,) * count]


def measure(
    job: Job, point: Run, reverse: ReversePass, cotangent: tuple[float, ...],
    budget: Budget,
) -> Row:  # fmt: skip
    """One row of references."""
    roundings, asked = point.roundings, point.asked()

    def row(context: Any) -> list[Any]:
        found = gradient(point.outputs, cotangent, context, roundings.known(context))
        budget.check()
        return [found.get(term.serial, context.zero) for term in asked]

    exact, shaken = row(EXACT), [row(context) for context in roundings.shaken]
    engine, why = _engine_row(reverse, cotangent)
    near = [roundings.rounded(t) for t in engine] if engine else row(roundings.near)
    budget.check()
    references = [
        Reference(value, amplified(value, moved, job.dtype), lost(close, value))
        for value, close, *moved in zip(exact, near, *shaken, strict=True)
    ]
    settle(references, row)
    references = side_by_side(references)
    if engine:
        references = [
            ruled(reference, rules_of(term, roundings), job.dtype)
            for reference, term in zip(references, engine, strict=True)
        ]
    return Row(cotangent, references, engine, why)


def rules_of(term: Term, roundings: Roundings) -> Rules:
    """What the engine's rules give, if they have given a term."""
    nearly, moved = roundings.rounded(term), roundings.moved(term)
    return Rules(term.value, partial(roundings.told, term), nearly, moved)


def _engine_row(
    reverse: ReversePass, cotangent: Sequence[float]
) -> tuple[list[Term] | None, str | None]:
    try:
        return reverse.row(cotangent), None
    except Exception as error:
        return None, told(error)


def told(error: Exception) -> str:
    """An exception's own words, on one line."""
    if isinstance(error, MemoryError):
        return "the memory that a check may take ran out"
    said = getattr(error, "message", None) or str(error)
    text = " ".join(said.split()) or type(error).__name__
    return text if len(text) <= 120 else text[:119] + "…"


def values_of(
    terms: Sequence[Term], roundings: Roundings, dtype: str
) -> list[Reference]:
    """References for the terms' own values."""
    references = [
        Reference(
            term.value,
            amplified(term.value, roundings.moved(term), dtype),
            lost(roundings.rounded(term), term.value),
        )
        for term in terms
    ]
    settle(references, lambda context: [roundings.told(t, context) for t in terms])
    return references


TIE: Final = "the derivative depends on which side of a tie is taken"
JUMP: Final = "the value depends on which side of a tie is taken"


class Turnings:
    """Where the derivative depends on how a tie is decided, or is not defined."""

    def __init__(self, job: Job, evaluate: Evaluate, point: Run) -> None:
        self.job = job
        self.point = point
        self._hard = [(k.what, k.term, below(k.term))
                      for k in point.terms.kinks.values()]  # fmt: skip
        self._leaning: list[Run | None] = []
        self._ties: list[tuple[Decision, set[int]]] = []
        self.beside: dict[int, tuple[str, Any]] = {}
        """Entries that are on a turning as well unless their number is the reference:
        the two ways of deciding ties do not try each term of a tie of several, and
        where roundings decide, what lies behind the decision is not known."""
        if point.terms.ties:
            self._leaning = [_leaning(job, evaluate, lean) for lean in (-1, 1)]
            self._ties = [(t, below(t.left) | below(t.right))
                          for t in point.terms.ties.values()]  # fmt: skip

    def any(self) -> tuple[str, Any] | None:
        """A turning that the point lies on; none if there is none."""
        found: list[tuple[str, Any]] = [(w, (term,)) for w, term, _ in self._hard]
        found += [(TIE, (tie.left, tie.right)) for tie, _ in self._ties]
        return found[0] if found else None

    def on(self, row: Row) -> dict[int, tuple[str, Any]]:
        """Per serial of an entry on a turning: what turns, and the terms involved."""
        found: dict[int, tuple[str, Any]] = {}
        asked = self.point.asked()
        for what, term, entries in self._hard:
            for entry in asked:
                if entry.serial in entries:
                    found.setdefault(entry.serial, (what, (term,)))
        jumps = self._jumps(row)
        differing = self._differing(row)
        self.beside = self._crowd if differing or jumps else {}
        for position, entry in enumerate(asked):
            if position in differing or jumps:
                for tie, entries in self._ties:
                    if entry.serial in entries:
                        what = JUMP if jumps else TIE
                        found.setdefault(entry.serial, (what, (tie.left, tie.right)))
                        break
        turning = self.any() if self.point.terms.unsure else None
        if turning is not None:
            self.beside = {entry.serial: turning for entry in asked} | self.beside
        return found

    @cached_property
    def _crowd(self) -> dict[int, tuple[str, Any]]:
        """What `on` tells, for all entries below ties of more than two terms."""
        ties = self.point.terms.ties.values()
        met = Counter(t.serial for d in ties for t in (d.left, d.right)
                      if not t.constant)  # fmt: skip
        found: dict[int, tuple[str, Any]] = {}
        for tie in ties:
            if max(met[tie.left.serial], met[tie.right.serial]) > 1:
                for serial in below(tie.left) | below(tie.right):
                    found.setdefault(serial, (TIE, (tie.left, tie.right)))
        return found

    def _jumps(self, row: Row) -> bool:
        """Whether the value is another one where ties are decided otherwise."""
        for leaning in self._leaning:
            if leaning is None:
                continue
            terms = self.point.outputs, leaning.outputs
            for weight, here, there in zip(row.cotangent, *terms, strict=True):
                if weight and not self._same(there.value, self._values[here.serial]):
                    return True
        return False

    @cached_property
    def _values(self) -> dict[int, Reference]:
        outputs = self.point.outputs
        told = values_of(outputs, self.point.roundings, self.job.dtype)
        return {t.serial: r for t, r in zip(outputs, told, strict=True)}

    def _differing(self, row: Row) -> set[int]:
        """The positions whose derivative changes with the decision."""
        differing: set[int] = set()
        for leaning in self._leaning:
            if leaning is None:
                return set(range(len(row.references)))
            values = gradient(leaning.outputs, row.cotangent)
            for position, (term, reference) in enumerate(
                zip(leaning.asked(), row.references, strict=True)
            ):
                value = values.get(term.serial, EXACT.zero)
                if not self._same(value, reference):
                    differing.add(position)
        return differing

    def _same(self, value: Any, reference: Reference) -> bool:
        """Whether a number of another side is the reference, as far as can be told
        where roundings decide."""
        roundings = self.point.terms.unsure
        return same(value, reference, self.job.dtype if roundings else None)


def same(value: Any, reference: Reference, dtype: str | None = None) -> bool:
    """Whether a number in `EXACT` is the reference; but for roundings of ``dtype``."""
    if not (EXACT.isfinite(value) and EXACT.isfinite(reference.value)):
        return False
    loss = SAME if dtype is None else ORDERS * unit_roundoff(dtype)
    size = max(abs(value), abs(reference.value), reference.scale)
    return bool(abs(value - reference.value) <= loss * size)


def _leaning(job: Job, evaluate: Evaluate, lean: int) -> Run | None:
    """A run with ties decided to one side; None where it cannot go there."""
    try:
        return run(job, evaluate, lean)
    except Exception:
        return None
