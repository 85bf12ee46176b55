"""The numbers of a run: the reference for every derivative that is claimed, and where
the point lies on a turning.

Invariant: a reference's value rests on the program's terms and SymPy's derivative of
each scalar function alone. The engine's rules are run beside it, to be proved later
and to tell what rounding does to them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from .budget import Budget
from .chain import Known, below, gradient, values_in
from .job import Job
from .point import Evaluate, ReversePass, Run, run, unit
from .precision import EXACT, MORE, engine_precision
from .rounding import Reference, amplified, doubtful, settled, worst
from .terms import Term, ordered

SAME: Final = EXACT.mpf("1e-35")
"""Relative distance up to which two 50-digit numbers of different sums are one."""


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
    context = engine_precision(job.dtype)
    asked = point.asked()
    exact = gradient(point.outputs, cotangent)
    budget.check()
    shaking = point.shaking(job.dtype)
    shaken = gradient(point.outputs, cotangent, shaking, point.known(shaking))
    budget.check()
    engine, why = _engine_row(reverse, cotangent)
    if engine:
        loss = natural_errors(engine, context, point.known(context))
    else:
        near = gradient(point.outputs, cotangent, context, point.known(context))
        loss = [worst(abs(EXACT.mpf(near[t.serial]) - exact[t.serial]))
                if t.serial in near else EXACT.zero for t in asked]  # fmt: skip
    budget.check()
    references = []
    for term, lost in zip(asked, loss, strict=True):
        value = exact.get(term.serial, EXACT.zero)
        scale = amplified(value, shaken.get(term.serial, 0), job.dtype)
        references.append(Reference(value, scale, lost))
    settle(references, lambda: _with_more(point, cotangent))
    return Row(cotangent, references, engine, why)


def _with_more(point: Run, cotangent: tuple[float, ...]) -> list[Any]:
    values = gradient(point.outputs, cotangent, MORE)
    return [values.get(term.serial, EXACT.zero) for term in point.asked()]


def settle(references: list[Reference], again: Callable[[], list[Any]]) -> None:
    """Mark what 50 digits do not settle; ``again`` computes all with more, and is
    asked only if there is a doubt."""
    doubts = [i for i, r in enumerate(references) if doubtful(r.value, r.natural)]
    values = again() if doubts else []
    for i in doubts:
        if not settled(references[i].value, values[i], references[i].scale):
            references[i] = replace(references[i], settled=False)


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


def natural_errors(
    terms: Sequence[Term], context: Any, known: Known | None = None
) -> list[Any]:
    """What each term loses when it is computed at the engine's precision."""
    values = values_in(context, ordered(terms), known)
    return [worst(abs(EXACT.mpf(values[t.serial]) - t.value)) for t in terms]


def scales(point: Run, terms: Sequence[Term], dtype: str) -> list[Any]:
    """How each term's value is amplified by roundings on the way to it."""
    context = point.shaking(dtype)
    moved = values_in(context, ordered(terms), point.known(context))
    return [amplified(t.value, moved[t.serial], dtype) for t in terms]


def same(a: Any, b: Any, scale: Any) -> bool:
    """Whether two 50-digit numbers are one, sums of size ``scale`` allowed for."""
    if not (EXACT.isfinite(a) and EXACT.isfinite(b)):
        return False
    return bool(abs(a - b) <= SAME * max(abs(a), abs(b), scale))


TIE: Final = "the derivative depends on which side of a tie is taken"


class Turnings:
    """Where the derivative depends on how a tie is decided, or is not defined."""

    def __init__(self, job: Job, evaluate: Evaluate, point: Run) -> None:
        self.point = point
        self._hard = [(k.what, k.term, below(k.term))
                      for k in point.terms.kinks.values()]  # fmt: skip
        self._leaning: list[Run | None] = []
        self.beside: dict[int, tuple[str, Any]] = {}
        """Entries that are on a turning as well unless their number is the reference:
        the two ways of deciding ties do not try each term of a tie of several."""
        if point.terms.ties:
            self._leaning = [_leaning(job, evaluate, lean) for lean in (-1, 1)]
            self._ties = [(t, below(t.left) | below(t.right))
                          for t in point.terms.ties.values()]  # fmt: skip

    def on(self, row: Row) -> dict[int, tuple[str, Any]]:
        """Per serial of an entry on a turning: what turns, and the terms involved."""
        found: dict[int, tuple[str, Any]] = {}
        asked = self.point.asked()
        for what, term, entries in self._hard:
            for entry in asked:
                if entry.serial in entries:
                    found.setdefault(entry.serial, (what, (term,)))
        differing = self._differing(row)
        self.beside = self._crowd if differing else {}
        for position in differing:
            serial = asked[position].serial
            for tie, entries in self._ties:
                if serial in entries:
                    found.setdefault(serial, (TIE, (tie.left, tie.right)))
                    break
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
                if not same(value, reference.value, reference.scale):
                    differing.add(position)
        return differing


def _leaning(job: Job, evaluate: Evaluate, lean: int) -> Run | None:
    """A run with ties decided to one side; None where it cannot go there."""
    try:
        return run(job, evaluate, lean)
    except Exception:
        return None
