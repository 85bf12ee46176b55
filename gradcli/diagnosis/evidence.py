"""What a diagnosis is made from: both sides of a false claim at many points, and the
graphs recorded there.

The verdict is not made here: it rests on balls. These are the engine's own numbers,
which are quick, and whose graphs show where a number comes from.

Invariant: a sample's two arrays are finite, and its graph keeps what it saved.

    samples = gather(task, claim, count=8, until=deadline)
    samples[0].true - samples[0].claimed
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from math import inf
from time import thread_time
from typing import Any, Final

import numpy as np

from ..autograd.blocks import hessian, jacobian
from ..autograd.orders import of_order
from ..engine import NUMPY, Tensor
from ..engine.errors import EngineError
from ..engine.raw import Host
from ..lang.errors import ProgramError
from ..lang.run import evaluate
from ..verify.claims.entries import positions
from ..verify.claims.points import Point, given_point, random_points
from ..verify.claims.task import ClaimsTask
from ..verify.claims.text import Claim
from ..verify.claims.truth import fitted_array
from ..verify.limits import MAX_CLAIM_STEPS
from .limits import POINTS_PER_SAMPLE

Array = Host

NO_VALUE: Final = (ProgramError, EngineError, MemoryError)
"""What is raised where a program, a claim or a derivative has no value at a point."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Both sides at one point.

    target    what is differentiated, with its graph
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
        """The tensors among what is named."""
        return {k: v for k, v in self.named.items() if isinstance(v, Tensor)}

    def aligned(self) -> Array | None:
        """The claim's numbers in the derivative's shape; None where they do not fit."""
        return fitted_array(self.claimed, self.true.shape)

    def finite(self) -> bool:
        """Whether the program and both sides have values there."""
        known = (self.target.raw, self.true, self.claimed)
        return all(bool(np.isfinite(values).all()) for values in known)


def gather(task: ClaimsTask, claim: Claim, count: int, until: float) -> list[Sample]:
    """Up to ``count`` samples at random points; fewer where the time is over."""
    given = {g.name for g in task.inputs if g.values is not None} - set(claim.by)
    for kept in (frozenset[str](), frozenset(given)):
        points = random_points(task.inputs, task.seed + 1, kept)
        tried = islice(points, POINTS_PER_SAMPLE * count)
        found = list(islice(_samples(task, claim, tried, until), count))
        if len(found) > count // 2:
            return found
    return found or given_sample(task, claim)


def given_sample(task: ClaimsTask, claim: Claim) -> list[Sample]:
    """The sample at the point that was typed, if there is one."""
    given = given_point(task.inputs, task.seed)
    return list(_samples(task, claim, iter([given] if given else []), inf))


def _samples(
    task: ClaimsTask, claim: Claim, points: Iterator[Point], until: float
) -> Iterator[Sample]:
    for point in points:
        if thread_time() > until:
            return
        with np.errstate(all="ignore"):
            try:
                sample = at(task, claim, point)
            except NO_VALUE:
                # A point that the program does not take tells nothing.
                continue
        if sample.finite():
            yield sample


def at(task: ClaimsTask, claim: Claim, point: Point) -> Sample:
    """Both sides at one point.

    Raises:
        ProgramError: the program or the claim fails there.
    """
    inputs = leaves(task, point)
    target, named = run(task, claim, inputs)
    claimed = said_by(task, claim, said_in(task, claim), inputs, named)
    return Sample(derivative(claim, target, inputs), claimed, target, inputs, named)


def said_in(task: ClaimsTask, claim: Claim) -> str:
    """The text of a claim's other side: an expression, or a program."""
    said = task.other if claim.expression is None else claim.expression
    assert said is not None
    return said


def said_by(
    task: ClaimsTask,
    claim: Claim,
    text: str,
    inputs: Mapping[str, Tensor],
    named: Mapping[str, Any],
) -> Array:
    """What a claim says where its other side reads ``text``.

    Raises:
        ProgramError: that text has no value there.
    """
    if claim.expression is None:
        output, _, _ = evaluate(text, inputs, seed=task.seed, max_steps=MAX_CLAIM_STEPS)
        return derivative(claim, output, inputs)
    said, _, _ = evaluate(text, named, seed=task.seed, max_steps=MAX_CLAIM_STEPS)
    return np.asarray(said.raw, dtype=np.float64)


def leaves(task: ClaimsTask, point: Point) -> dict[str, Tensor]:
    """The inputs as the engine's tensors."""
    return {
        g.name: Tensor(np.array(point[g.name]).reshape(g.shape), NUMPY, True)
        for g in task.inputs
    }


def run(
    task: ClaimsTask, claim: Claim, inputs: Mapping[str, Tensor]
) -> tuple[Tensor, dict[str, object]]:
    """What the claim differentiates, and everything that it may name.

    Raises:
        ProgramError: the program fails, or has no such value there.
    """
    target, _, environment = evaluate(
        task.source, inputs, of=claim.output or task.of, seed=task.seed,
        max_steps=MAX_CLAIM_STEPS,
    )  # fmt: skip
    named = {**inputs, **{k: v for k, v in environment.items() if k not in inputs}}
    return target, named


def derivative(claim: Claim, target: Tensor, inputs: Mapping[str, Tensor]) -> Array:
    """The engine's derivative, of the shape that a claim should have."""
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
        (block,) = jacobian(target, wanted, "rev").blocks
    else:
        block = hessian(target, list(dict.fromkeys(wanted)))[0][-1]
    return np.asarray(block.raw, dtype=np.float64).reshape(-1)[at]
