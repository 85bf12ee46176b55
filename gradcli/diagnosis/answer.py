"""The derivative that a false claim should have been, as a formula.

Invariant: the formula is the one that the checker differentiates by itself; where it
has none, or one that is too long to be read, there is no answer.

    right_derivative(task, claim, seconds=2)        # "2*x*cos(x**2)"
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from math import prod

import numpy as np

from ..engine import Tensor
from ..verify.claims.entries import positions
from ..verify.claims.points import random_points
from ..verify.claims.task import ClaimsTask
from ..verify.claims.text import Claim
from ..verify.process.job import Block, Input, Job
from ..verify.process.runner import program_of
from ..verify.verify import verify
from ..views.numbers import nested
from .evidence import leaves, run
from .limits import MAX_ANSWER_CHARACTERS, MAX_ANSWER_ENTRIES, POINTS_PER_SAMPLE


def right_derivative(task: ClaimsTask, claim: Claim, seconds: float) -> str | None:
    """The derivative that a claim is about; None where no short formula is found."""
    if not claim.by:
        return None
    points = random_points(task.inputs, task.seed + 1)
    with np.errstate(all="ignore"):
        for point in islice(points, POINTS_PER_SAMPLE):
            try:
                inputs = leaves(task, point)
                target, _ = run(task, claim, inputs)
                if np.isfinite(target.raw).all():
                    return _formula(task, claim, target, inputs, seconds)
            except Exception:
                # A point that the program does not take tells nothing.
                continue
    return None


def _formula(
    task: ClaimsTask, claim: Claim, target: Tensor, inputs: dict[str, Tensor],
    seconds: float,
) -> str | None:  # fmt: skip
    second = len(claim.by) == 2
    shapes = [tuple(inputs[name].shape) for name in claim.by]
    lead = () if second else tuple(target.shape)
    if prod(lead) * prod(map(prod, shapes)) > MAX_ANSWER_ENTRIES:
        return None
    kind = "hessian" if second else "jacobian" if lead else "gradient"
    asked = [name for name in inputs if name in claim.by]
    rows = sum(inputs[n].numel() for n in asked) if second else prod(lead)
    job = Job(
        task.source,
        tuple(
            Input(name, _block(x), _zeros(rows, x) if name in asked else None)
            for name, x in inputs.items()
        ),
        _block(target),
        kind=kind,
        of=claim.output or task.of,
        seconds=seconds,
        seed=task.seed,
        formulas=True,
    )
    found = {each.name: each for each in verify(job, program_of(job)).inputs}
    texts = found[claim.by[-1]].formulas
    if second:
        before = asked[: asked.index(claim.by[0])]
        start = sum(inputs[name].numel() for name in before)
        width = inputs[claim.by[1]].numel()
        texts = texts[start * width : (start + inputs[claim.by[0]].numel()) * width]
    at = positions(claim, lead, shapes)
    return _written([texts[i] for i in at.reshape(-1).tolist()], at.shape)


def _block(x: Tensor) -> Block:
    return Block.of(tuple(x.shape), np.asarray(x.raw, dtype=float).reshape(-1).tolist())


def _zeros(rows: int, x: Tensor) -> Block:
    """What is claimed does not matter: the formulas alone are wanted."""
    return Block.of((rows, *x.shape), [0.0] * (rows * x.numel()))


def _written(texts: Sequence[str | None], shape: tuple[int, ...]) -> str | None:
    """The formulas in brackets, as a claim has them."""
    if not texts or None in texts:
        return None
    text = str(nested(texts, shape)).replace("'", "")
    return text if len(text) <= MAX_ANSWER_CHARACTERS else None
