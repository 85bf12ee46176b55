"""What a diagnosis is made from: both sides of a false claim at many points, and the
graphs recorded there.

The verdict is not made here: it rests on 50 digits. These are the engine's own numbers,
which are quick, and whose graphs show where a number comes from.

Invariant: a sample's two arrays are finite, and its graph keeps what it saved.

    samples = gather(task, claim, count=8, until=deadline)
    samples[0].true - samples[0].claimed
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from time import monotonic
from typing import Any

import numpy as np

from ..autograd.blocks import hessian, jacobian
from ..engine import NUMPY, Tensor
from ..lang.run import evaluate
from ..symbolic.claims_points import Point, given_point, random_points
from ..symbolic.claims_task import ClaimsTask
from ..symbolic.claims_text import Claim

Array = Any

TRIES = 6
"""Points tried for each that is wanted."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Both sides at one point.

    target    what is differentiated, with its graph
    inputs    the leaves, by name
    variables all values that the program named, inputs included
    """

    true: Array
    claimed: Array
    target: Tensor
    inputs: Mapping[str, Tensor]
    variables: Mapping[str, Tensor]


def gather(task: ClaimsTask, claim: Claim, count: int, until: float) -> list[Sample]:
    """Up to ``count`` samples at random points; fewer where the time is over."""
    held = {g.name for g in task.inputs if g.values is not None} - set(claim.by)
    for kept in (frozenset[str](), frozenset(held)):
        points = random_points(task.inputs, task.seed + 1, kept)
        tried = islice(points, TRIES * count)
        found = list(islice(_samples(task, claim, tried, until), count))
        if len(found) > count // 2:
            return found
    given = given_point(task.inputs, task.seed)
    return found or list(_samples(task, claim, iter([given] if given else []), until))


def _samples(
    task: ClaimsTask, claim: Claim, points: Iterator[Point], until: float
) -> Iterator[Sample]:
    for point in points:
        if monotonic() > until:
            return
        with np.errstate(all="ignore"):
            try:
                sample = at(task, claim, point)
            except Exception:
                # A point that the program does not take tells nothing.
                continue
        if np.isfinite(sample.true).all() and np.isfinite(sample.claimed).all():
            yield sample


def at(task: ClaimsTask, claim: Claim, point: Point) -> Sample:
    """Both sides at one point.

    Raises:
        ProgramError: the program or the claim fails there.
    """
    inputs = leaves(task, point)
    target, variables = run(task, claim, inputs)
    if claim.expression is None:
        assert task.other is not None
        other, _, _ = evaluate(task.other, inputs, seed=task.seed)
        claimed = derivative(claim, other, inputs)
    else:
        said, _, _ = evaluate(claim.expression, variables, seed=task.seed)
        claimed = np.asarray(said.raw, dtype=np.float64)
    return Sample(
        derivative(claim, target, inputs),
        claimed,
        target,
        inputs,
        {k: v for k, v in variables.items() if isinstance(v, Tensor)},
    )


def leaves(task: ClaimsTask, point: Point) -> dict[str, Tensor]:
    """The inputs as the engine's tensors."""
    return {
        g.name: Tensor(np.array(point[g.name]).reshape(g.shape), NUMPY, True)
        for g in task.inputs
    }


def run(
    task: ClaimsTask, claim: Claim, inputs: Mapping[str, Tensor]
) -> tuple[Tensor, dict[str, Any]]:
    """What the claim differentiates, and everything that it may name."""
    output, _, environment = evaluate(task.source, inputs, of=task.of, seed=task.seed)
    named = {**inputs, **{k: v for k, v in environment.items() if k not in inputs}}
    target: Any = output if claim.output is None else named[claim.output]
    return target, named


def derivative(claim: Claim, target: Tensor, inputs: Mapping[str, Tensor]) -> Array:
    """The engine's derivative, of the shape that a claim should have."""
    if not claim.by:
        return np.asarray(target.raw, dtype=np.float64)
    wanted = [inputs[name] for name in claim.by]
    shape = tuple(chain.from_iterable(tuple(x.shape) for x in wanted))
    if len(wanted) == 1:
        shape = (*target.shape, *shape)
    if target.edge is None:
        return np.zeros(shape)
    if len(wanted) == 1:
        (block,) = jacobian(target, wanted, "rev").blocks
    else:
        block = hessian(target, list(dict.fromkeys(wanted)))[0][-1]
    return np.asarray(block.raw, dtype=np.float64).reshape(shape)
