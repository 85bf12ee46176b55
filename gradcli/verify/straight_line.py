"""A program and its derivative as straight-line steps on the entries of its inputs.

The engine's own reverse pass runs on terms, so the steps are what the engine computes,
each once.

Invariants: a step's arguments stand before it; equal steps are one step; no step is
there that no result or condition needs; the steps that no input is below are numbers.

    listing = straight_line(job, program_of(job))
    listing.steps[5]        # Step("mul", (0, 3))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np

from ..engine import Tensor
from ..lang.errors import ProgramError
from ..numbers.open_arrays import OpenNamespace
from ..numbers.open_terms import TRUTHS, OpenTerms, TooLong
from ..numbers.term import Term
from ..numbers.values import Roundings
from .point import Evaluate, ReversePass, Run, entry_name, unit
from .process.job import Job

LONGEST: Final = 20_000
"""Steps beyond which nothing is written out."""

MOST_TERMS: Final = 10 * LONGEST
"""Terms that a run may make on the way, needed or not."""

__all__ = ["Listing", "Result", "Step", "TooLong", "straight_line"]


@dataclass(frozen=True, slots=True)
class Step:
    """``name`` applied to earlier steps; ``entry``: of an input, counted in C order;
    ``number``: a constant; ``truth``: it is 1 where it holds and 0 elsewhere."""

    name: str
    args: tuple[int, ...] = ()
    entry: tuple[int, int] | None = None
    number: float | None = None
    truth: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """An array of results. ``by``: the inputs that it is a derivative by; none: the
    program's value."""

    by: tuple[str, ...]
    shape: tuple[int, ...]
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """The steps, what comes of them, and the steps that have to hold; ``pivoted``:
    the order of a matrix's rows is the point's."""

    kind: str
    inputs: tuple[tuple[str, tuple[int, ...]], ...]
    steps: tuple[Step, ...]
    results: tuple[Result, ...]
    conditions: tuple[int, ...]
    pivoted: bool = False


def straight_line(job: Job, evaluate: Evaluate) -> Listing:
    """The steps of a job's value and of the derivatives that it asks for.

    Raises:
        TooLong: there are more steps than are written out.
    """
    sizes = [len(i.value.values()) for i in job.inputs]
    if sum(sizes) + _entries(job) > LONGEST:
        raise TooLong
    terms = OpenTerms(MOST_TERMS)
    try:
        point = _run(job, evaluate, OpenNamespace(terms))
        blocks = [((), job.output.shape, point.outputs), *_blocks(job, point)]
    except ProgramError as error:
        # The language words whatever a function raises as its own.
        if terms.made > terms.most:
            raise TooLong from error
        raise
    return _listed(job, point, blocks, terms)


def _entries(job: Job) -> int:
    """How many derivatives are asked for."""
    return sum(len(i.claim.values()) for i in job.inputs if i.claim is not None)


def _run(job: Job, evaluate: Evaluate, namespace: OpenNamespace) -> Run:
    tensors, entries = {}, {}
    for given in job.inputs:
        data = np.empty(given.value.shape, dtype=object)
        places = np.ndindex(*data.shape)
        for place, value in zip(places, given.value.values(), strict=True):
            label = entry_name(given.name, place)
            data[place] = namespace.system.symbol(label, value)
        asked = given.claim is not None
        tensors[given.name] = Tensor(namespace.own(data), namespace, asked)
        if asked:
            entries[given.name] = list(data.flat)
    output = evaluate(dict(tensors))
    if not isinstance(output, Tensor):
        output = Tensor(namespace.array(output), namespace)
    terms = list(namespace.elements(output.raw).flat)
    return Run(namespace.system, output, terms, tensors, entries, Roundings(job.dtype))


Blocks = list[tuple[tuple[str, ...], tuple[int, ...], list[Term]]]


def _blocks(job: Job, point: Run) -> Blocks:
    """The derivatives block by block: inputs, shape, terms in C order."""
    reverse = ReversePass(point)
    if job.kind == "hessian":
        gradient = reverse.gradient()
        rows = [reverse.second(gradient, r) for r in range(len(point.asked()))]
        return _pairs(point, rows)
    count = len(point.outputs)
    if job.kind == "jacobian":
        rows = [reverse.row(unit(count, k)) for k in range(count)]
        lead = job.output.shape
    else:
        given = job.cotangent
        rows = [reverse.row([1.0] * count if given is None else given.values())]
        lead = ()
    return [
        ((name,), (*lead, *point.tensors[name].shape), _columns(rows, at))
        for name, at in _spans(point).items()
    ]


def _pairs(point: Run, rows: Sequence[Sequence[Term]]) -> Blocks:
    spans, tensors = _spans(point), point.tensors
    return [
        (
            (first, second),
            (*tensors[first].shape, *tensors[second].shape),
            _columns(rows[spans[first]], spans[second]),
        )
        for first in spans
        for second in spans
    ]


def _spans(point: Run) -> dict[str, slice]:
    """Where each input's entries stand among all that are asked for."""
    found, start = {}, 0
    for name, terms in point.entries.items():
        found[name] = slice(start, start + len(terms))
        start += len(terms)
    return found


def _columns(rows: Iterable[Sequence[Term]], at: slice) -> list[Term]:
    return [term for row in rows for term in row[at]]


def _listed(job: Job, point: Run, blocks: Blocks, terms: OpenTerms) -> Listing:
    steps = _Steps(job, point)
    conditions = list(terms.conditions.values())
    roots = [term for _, _, terms in blocks for term in terms]
    places = steps.of([*roots, *conditions])
    results, start = [], 0
    for by, shape, _ in blocks:
        count = prod(shape)
        results.append(Result(by, tuple(shape), tuple(places[start : start + count])))
        start += count
    if len(steps.made) > LONGEST:
        raise TooLong
    inputs = tuple((i.name, tuple(i.value.shape)) for i in job.inputs)
    held = tuple(dict.fromkeys(places[start:]))
    return Listing(
        job.kind, inputs, tuple(steps.made), tuple(results), held, terms.pivoted
    )


class _Steps:
    """Terms numbered so that equal ones are one."""

    def __init__(self, job: Job, point: Run) -> None:
        self.made: list[Step] = []
        self._places: dict[Step, int] = {}
        self._entries = {
            term.serial: (number, place)
            for number, given in enumerate(job.inputs)
            for place, term in enumerate(point.tensors[given.name].raw.data.flat)
        }

    def of(self, roots: Sequence[Term]) -> list[int]:
        """The roots' places; what only a constant needs is not listed."""
        found: dict[int, int] = {}
        for term in _needed(roots):
            found[term.serial] = self._place(self._step(term, found))
        return [found[term.serial] for term in roots]

    def _step(self, term: Term, found: dict[int, int]) -> Step:
        if term.serial in self._entries:
            return Step("input", entry=self._entries[term.serial])
        if term.constant:
            return Step("number", number=float(term.value))
        args = tuple(found[a.serial] for a in term.args)
        return Step(term.name, args, truth=term.name in TRUTHS)

    def _place(self, step: Step) -> int:
        place = self._places.get(step)
        if place is None or step.number != step.number:
            place = self._places[step] = len(self.made)
            self.made.append(step)
        return place


def _needed(roots: Sequence[Term]) -> list[Term]:
    """All terms below the roots but for what stands inside a constant."""
    found: dict[int, Term] = {}
    stack = list(roots)
    while stack:
        term = stack.pop()
        if term.serial not in found:
            found[term.serial] = term
            stack.extend(() if term.constant else term.args)
    return [found[serial] for serial in sorted(found)]
