"""A rewritten program put to the test: is it the same function, and has it a gradient
that is finite and right?

Invariant: what passes has been run: it has the old program's values wherever those are
finite, at the point and at points sampled elsewhere, and no slope of its own, looked at
from either side, speaks against its gradient if that was asked.

It is a choice among proposals and no verdict: it looks at arrays of any size in their
own floats, before anything is shown, where `verify` would take seconds on balls.

    tried(run, "xlogy(x, y)", None).gradients["y"]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine import Tensor, grad
from ..engine.raw import Host
from ..lang.errors import ProgramError
from ..lang.run import Run, all_finite, evaluate
from ..ops.types import Array
from .limits import MAX_DIRECTIONS, MAX_LOOP_STEPS, OTHER_POINTS

SAME, STEP, SLACK = 0.55, 0.4, 0.2
"""Powers of the dtype's precision: the relative distance of two values that are one, a
relative step, and what a slope over it may be off by."""

Raws = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Trial:
    """What the new program gives: its value, and a gradient per input."""

    value: Any
    gradients: Mapping[str, Any | None]


def tried(
    run: Run, source: str, cotangent: Tensor | None, across: bool = True
) -> Trial | None:
    """The new program's value and gradients; None if it does not pass.

    Args:
        run: a run of the old program, whose value or gradients are not finite.
        source: the new program.
        cotangent: what a vector output is contracted with; None: ones.
        across: whether the slopes on the sides of the point are to bear it out.
    """
    new = _Program(run, source)
    with np.errstate(all="ignore"):
        output, leaves = new.at(new.point)
        if output is None or not all_finite(output):
            return None
        if not new.same(run.output, output):
            return None
        ones = output.xp.ones_like(output.raw)
        weights = ones if cotangent is None else cotangent.raw
        trial = _differentiated(run, output, leaves, weights)
        if trial is None or (across and not _sound(new, weights, trial)):
            return None
        return trial if _same_elsewhere(new, _Program(run, run.source)) else None


class _Program:
    """A program on the inputs of a run, at any values of them."""

    def __init__(self, run: Run, source: str) -> None:
        self.run = run
        self.source = source
        self.point: Raws = {each.name: each.tensor.raw for each in run.inputs}
        self.precision = float(np.finfo(run.dtype).eps)

    def at(self, point: Raws) -> tuple[Tensor | None, dict[str, Tensor]]:
        """The output, None if the program fails there, and the inputs below it."""
        run = self.run
        leaves = {
            each.name: Tensor(point[each.name], each.tensor.xp, each.requires_grad)
            for each in run.inputs
        }
        try:
            output, _, _ = evaluate(
                self.source,
                leaves,
                of=run.of,
                seed=run.seed,
                dtype=run.dtype,
                max_steps=MAX_LOOP_STEPS,
            )
        except ProgramError:
            return None, leaves
        return output, leaves

    def height(self, point: Raws, weights: Array) -> float:
        """The contracted output, nan if there is none."""
        output, _ = self.at(point)
        return float("nan") if output is None else float((output.raw * weights).sum())

    def same(self, before: Tensor, after: Tensor) -> bool:
        """Up to rounding, wherever there was a finite value before."""
        if before.shape != after.shape:
            return False
        room = self.precision**SAME * (1 + abs(before.raw))
        close = abs(before.raw - after.raw) <= room
        return bool((close | ~before.xp.isfinite(before.raw)).all())

    def like(self, name: str, values: Host) -> Any:
        """NumPy's numbers as an array of the kind and dtype that an input has."""
        tensor = next(each.tensor for each in self.run.inputs if each.name == name)
        return tensor.xp.array(values.astype(self.run.dtype))


def _differentiated(
    run: Run, output: Tensor, leaves: Mapping[str, Tensor], weights: Array
) -> Trial | None:
    """The gradients, if all of them are finite."""
    if output.edge is None:
        return None
    names = [each.name for each in run.inputs if each.requires_grad]
    found = grad([output], [leaves[n] for n in names], [Tensor(weights, output.xp)])
    if not all(g is None or all_finite(g) for g in found):
        return None
    raws = [None if g is None else g.raw for g in found]
    return Trial(output.raw, dict(zip(names, raws, strict=True)))


def _sound(new: _Program, weights: Array, trial: Trial) -> bool:
    """Whether the gradient lies between the slopes of both sides, as far as there are
    any."""
    here = new.height(new.point, weights)
    for way in _ways(new, trial):
        size = max(1.0, *(float(abs(new.point[n]).max()) for n in way))
        step = size * new.precision**STEP
        claimed = sum(float((trial.gradients[n] * d).sum()) for n, d in way.items())
        slopes = []
        for side in (step, -step):
            moved = {n: new.point[n] + side * d for n, d in way.items()}
            there = new.height({**new.point, **moved}, weights)
            slopes.append((there - here) / side)
        known = [slope for slope in slopes if np.isfinite(slope)]
        if known and not _between(claimed, known, new.precision**SLACK):
            return False
    return True


def _between(claimed: float, slopes: Sequence[float], slack: float) -> bool:
    room = slack * (1 + max(map(abs, slopes)))
    return min(slopes) - room <= claimed <= max(slopes) + room


def _ways(new: _Program, trial: Trial) -> Iterator[dict[str, Any]]:
    """Directions: each entry by itself where they are few, else some of all."""
    shapes = {n: g.shape for n, g in trial.gradients.items() if g is not None}
    sizes = {n: int(np.prod(shape)) for n, shape in shapes.items()}
    if sum(sizes.values()) <= MAX_DIRECTIONS:
        for name, size in sizes.items():
            for unit in np.eye(size):
                yield {name: new.like(name, unit.reshape(shapes[name]))}
        return
    random = np.random.default_rng(new.run.seed)
    for _ in range(MAX_DIRECTIONS):
        yield {n: new.like(n, random.uniform(-1, 1, shapes[n])) for n in shapes}


def _same_elsewhere(new: _Program, old: _Program) -> bool:
    """Whether the two agree at moderate numbers, where the old one has values."""
    random = np.random.default_rng(new.run.seed)
    moving = [each.name for each in new.run.inputs if each.requires_grad]
    for _ in range(OTHER_POINTS):
        sampled = {
            n: new.like(n, random.uniform(0.1, 0.9, tuple(new.point[n].shape)))
            for n in moving
        }
        point = {**new.point, **sampled}
        before, after = old.at(point)[0], new.at(point)[0]
        if before is not None and (after is None or not new.same(before, after)):
            return False
    return True
