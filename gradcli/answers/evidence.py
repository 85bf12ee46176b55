"""Evidence for a diagnosis: both sides of a false claim at many points, and the graphs
recorded there, with the names that a diagnosis uses.

The verdict itself rests on balls. The numbers here are the engine's own, which are
quick to compute, and whose graphs show where a number comes from.

Invariant: the two arrays of a sample are finite, and its graph keeps its saved values.
A formula names values as they are at the end of the program, so it uses no line that a
loop may have run several times with different values.

    samples = gather(task, claim, count=8, until=deadline)
    samples[0].true - samples[0].claimed
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import inf
from time import thread_time
from typing import Any, Final

import numpy as np

from ..check.claims.text import (
    Claim,
    ClaimsTask,
    Point,
    positions,
    random_points,
    typed_point,
)
from ..check.claims.truth import MAX_CLAIM_STEPS, fitted_array
from ..check.process.budget import OutOfTime
from ..engine import NUMPY, Node, Tensor
from ..engine.errors import EngineError
from ..lang.errors import ProgramError
from ..lang.parser import parse
from ..lang.run import Input, evaluate
from ..lang.syntax import For, Target, While, walk
from ..large.blocks import blocks_of, gradient, of_order
from .claim_views import Diagnosis
from .factors import FactorWriter
from .graph_view import graph_view
from .hypotheses import Array, Pair, same
from .names import NameCollector
from .survey import Path, PathStep, met

MIN_SAMPLES = 3
"""Smallest number of samples for a conclusion: any constant fits fewer."""

POINTS_PER_SAMPLE = 6
"""Number of points tried for each sample that is wanted."""

MAX_REPAIR_CHARACTERS = 120
"""Largest length of a changed part of a claim that a repair shows, in characters."""

NO_VALUE: Final = (ProgramError, EngineError, MemoryError)
"""Errors that mean that a program, a claim or a derivative has no value."""


@dataclass(frozen=True, slots=True)
class PointEvidence:
    """The true and the claimed derivative at one point, with the graph.

    target    the tensor that is differentiated, with its graph
    inputs    the leaves, by name
    named     everything that a claim may name, inputs included
    """

    true: Array
    claimed: Array
    target: Tensor
    inputs: Mapping[str, Tensor]
    named: Mapping[str, object]

    @property
    def variables(self) -> dict[str, Tensor]:
        """Return those of the named values that are tensors."""
        return {k: v for k, v in self.named.items() if isinstance(v, Tensor)}

    def aligned(self) -> Array | None:
        """Return the claim in the derivative's shape; None if it does not fit."""
        return fitted_array(self.claimed, self.true.shape)

    def finite(self) -> bool:
        """Tell whether the target and both derivatives are finite."""
        known = (self.target.raw, self.true, self.claimed)
        return all(bool(np.isfinite(values).all()) for values in known)


def gather(
    task: ClaimsTask, claim: Claim, count: int, until: float
) -> list[PointEvidence]:
    """Return up to ``count`` samples at random points; fewer if time runs out."""
    given = {g.name for g in task.inputs if g.values is not None} - set(claim.by)
    for kept in (frozenset[str](), frozenset(given)):
        points = random_points(task.inputs, task.seed + 1, kept)
        tried = islice(points, POINTS_PER_SAMPLE * count)
        found = list(islice(_samples(task, claim, tried, until), count))
        if len(found) > count // 2:
            return found
    return found or typed_sample(task, claim)


def typed_sample(task: ClaimsTask, claim: Claim) -> list[PointEvidence]:
    """Return the one sample at the typed point; none if no point was typed."""
    given = typed_point(task.inputs, task.seed)
    return list(_samples(task, claim, iter([given] if given else []), inf))


def _samples(
    task: ClaimsTask, claim: Claim, points: Iterator[Point], until: float
) -> Iterator[PointEvidence]:
    for point in points:
        if thread_time() > until:
            return
        with np.errstate(all="ignore"):
            try:
                sample = at(task, claim, point)
            except NO_VALUE:
                # A point at which the program fails tells nothing.
                continue
        if sample.finite():
            yield sample


def at(task: ClaimsTask, claim: Claim, point: Point) -> PointEvidence:
    """Return the sample at one point, where program and claim must not fail."""
    inputs = {
        g.name: Tensor(np.array(point[g.name]).reshape(g.shape), NUMPY, True)
        for g in task.inputs
    }
    target, _, environment = evaluate(
        task.source, inputs, of=claim.output or task.of, seed=task.seed,
        max_steps=MAX_CLAIM_STEPS,
    )  # fmt: skip
    named = {**inputs, **environment, **inputs}
    claimed = claimed_numbers(task, claim, claimed_text(task, claim), inputs, named)
    return PointEvidence(
        derivative(claim, target, inputs), claimed, target, inputs, named
    )


def claimed_text(task: ClaimsTask, claim: Claim) -> str:
    """Return the text of the claimed side: an expression, or a program."""
    said = task.other if claim.expression is None else claim.expression
    assert said is not None
    return said


def claimed_numbers(
    task: ClaimsTask,
    claim: Claim,
    text: str,
    inputs: Mapping[str, Tensor],
    named: Mapping[str, Any],
) -> Array:
    """Return the numbers that a claim states if its other side reads ``text``."""
    if claim.expression is None:
        output, _, _ = evaluate(text, inputs, seed=task.seed, max_steps=MAX_CLAIM_STEPS)
        return derivative(claim, output, inputs)
    said, _, _ = evaluate(text, named, seed=task.seed, max_steps=MAX_CLAIM_STEPS)
    return np.asarray(said.raw, dtype=np.float64)


def derivative(claim: Claim, target: Tensor, inputs: Mapping[str, Tensor]) -> Array:
    """Return the engine's derivative, in the shape that a claim should have."""
    if not claim.by:
        return np.asarray(target.raw, dtype=np.float64)
    wanted = [inputs[name] for name in claim.by]
    lead = tuple(target.shape) if len(wanted) == 1 else ()
    at = positions(claim, lead, [tuple(x.shape) for x in wanted])
    if target.edge is None:
        return np.zeros(at.shape)
    if len(wanted) > 2:
        found = of_order(target, wanted[0], len(wanted))
        return np.asarray(found.raw, dtype=np.float64)
    if len(wanted) == 1:
        ((block,),) = blocks_of([target], wanted)
    else:
        different = list(dict.fromkeys(wanted))
        block = blocks_of(gradient(target, different), different)[0][-1]
    return np.asarray(block.raw, dtype=np.float64).reshape(-1)[at]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A false claim, and the samples on which hypotheses are tested.

    ``until`` is the reading of this thread's processor clock, in seconds, at which the
    work must end; ``differs_at_example`` says whether the two sides clearly differ at
    the point that is shown.
    """

    task: ClaimsTask
    claim: Claim
    samples: Sequence[PointEvidence]
    until: float
    differs_at_example: bool = False

    def check(self) -> None:
        """Raise `OutOfTime` if there is no time left."""
        if thread_time() >= self.until:
            raise OutOfTime

    @property
    def pairs(self) -> list[Pair]:
        """Return the true and the claimed derivative of each sample."""
        return [(sample.true, sample.claimed) for sample in self.samples]

    @property
    def sides(self) -> list[Pair]:
        """Return the same with claims in the derivative's shape; none if one of them
        does not fit."""
        pairs: list[Any] = [(sample.true, sample.aligned()) for sample in self.samples]
        return [] if any(claimed is None for _, claimed in pairs) else pairs

    @property
    def text(self) -> str:
        """Return the text that the derivative is compared with."""
        return claimed_text(self.task, self.claim)

    def is_right(self, text: str, names: Mapping[str, str] = {}) -> bool:
        """Tell whether a text is the derivative at every sample. ``names`` maps names
        in the text to other names whose values they take."""
        for sample in self.samples:
            exchanged = {a: sample.named[b] for a, b in names.items()}
            found = self.claimed(
                text, replace(sample, named={**sample.named, **exchanged})
            )
            if found is None or not same(found, sample.true):
                return False
        return True

    def claimed(self, text: str, sample: PointEvidence) -> Array | None:
        """Return the numbers of a claim that reads ``text``; None if it has none."""
        self.check()
        try:
            return claimed_numbers(
                self.task, self.claim, text, sample.inputs, sample.named
            )
        except NO_VALUE:
            # A changed claim need not have a value at all.
            return None


def rewritten(cause: str, text: str, before: str, after: str) -> Diagnosis:
    """Return the diagnosis whose repair shows the corrected text; of several lines it
    shows those that change."""
    lines = zip(before.splitlines(), after.splitlines(), strict=False)
    changed = "; ".join(new.strip() for old, new in lines if new != old)
    short = len(changed) <= MAX_REPAIR_CHARACTERS
    repair = f"write {changed}" if short else "write that part otherwise"
    return Diagnosis(cause, text, repair)


Test = Callable[[Evidence], Diagnosis | None]
"""Type of a test for one mistake. It returns a diagnosis only if the claim, corrected
as proposed, agrees with the derivative at every sample."""


UNNAMED = "output"


class Texts:
    """The names and formulas of the values in one recorded graph."""

    def __init__(self, evidence: Evidence, sample: PointEvidence) -> None:
        source = evidence.task.source
        self._root = sample.target.edge
        self._names = NameCollector()
        inputs = [Input(name, x, True, True) for name, x in sample.inputs.items()]
        made = {k: v for k, v in sample.variables.items() if k not in sample.inputs}
        self._names.settle(inputs, made, _ambiguous(source))
        view = graph_view(
            sample.target, source=source, name=UNNAMED,
            variables=sample.variables, local_gradients=False,
        )  # fmt: skip
        self._sources = {node.address: node.source for node in view.nodes}
        self.factors = FactorWriter(self._names, view)

    def path(self, path: Path, end: str, in_full: bool = False) -> tuple[str, ...]:
        """Return the names along a path; ``in_full`` adds texts of unnamed values."""
        steps = met(self._root, path)
        labels = [self._label(step, in_full or k == 0) for k, step in enumerate(steps)]
        return (*[label for label in labels if label], end)

    def product(self, path: Path) -> str | None:
        """Return the formula of a path's contribution; None if there is none."""
        steps = [(step.node, step.nr) for step in met(self._root, path)]
        return self.factors.product(steps)

    def named(self, node: Node) -> str:
        """Return the program text that a node was recorded for, or its row's name."""
        return self._sources.get(id(node)) or node.op.name

    def _label(self, step: PathStep, spelled: bool) -> str | None:
        name = self._names.of(step.value)
        if name is None and spelled:
            name = self._sources.get(id(step.node))
        return name

    def unique(self, paths: Sequence[Path], end: str) -> list[str]:
        """Return a label for each path; texts are added only if names are ambiguous."""
        short = [self.path(path, end) for path in paths]
        if len(set(short)) < len(short):
            short = [self.path(path, end, in_full=True) for path in paths]
        return [" → ".join(labels) for labels in short]


def _ambiguous(source: str) -> frozenset[str]:
    """Return the names that may have had several values while the program ran."""
    nodes = list(walk(parse(source)))
    targets = Counter(node.name for node in nodes if isinstance(node, Target))
    looped = any(isinstance(node, For | While) for node in nodes)
    return frozenset(name for name, n in targets.items() if looped or n > 1)
