"""The small number that forward adds to keep something from being 0, and that backward
has forgotten, or has another of.

Invariant: forward is run again with the other number in it, and its own derivative has
to be what backward gives, at every point.

    small_number(points, {"x"}).text    # "backward is that of a forward with 0 in …"
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..autograd.blocks import blocks_of
from ..autograd.function import Function
from ..diagnosis.likeness import same
from ..engine.tensor import Tensor
from ..views.claims import Diagnosis
from .forwards import recorded_forward
from .points import Point
from .replay import Step, recording
from .saved import function_of

USUAL: Final = (0.0, 1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
"""Small numbers that a backward may have in place of forward's."""

SMALL: Final = 0.1
"""Numbers up to which one that is added keeps something from being 0."""


@dataclass(frozen=True, slots=True)
class Small:
    """A small number that is an operand of a step, by the step's position."""

    step: int
    operand: int
    value: float


class Replayed:
    """Forward's steps at a point, to be run with other numbers in them."""

    def __init__(self, point: Point, made_by: type[Function]) -> None:
        self.point = point
        call = point.call
        whole = call.outputs(call.leaves())
        plain = call.with_function(recorded_forward(made_by))
        leaves = plain.leaves()
        with recording() as self.tape:
            outputs = plain.outputs(leaves)
        self.roots = [outputs[k] for k, y in enumerate(whole) if y.edge is not None]
        self.names = {id(t): name for name, t in leaves.items()}

    @property
    def steps(self) -> list[Step]:
        return self.tape.steps(self.roots[0])

    def smalls(self) -> Iterator[Small]:
        """The small numbers in forward."""
        for place, step in enumerate(self.steps):
            for nr, x in enumerate(step.given):
                if isinstance(x, float) and 0 < abs(x) <= SMALL:
                    yield Small(place, nr, x)

    def gives(self, small: Small, value: float, wrong: set[str]) -> bool:
        """Whether backward is the derivative of forward with another number."""
        step = self.steps[small.step]
        given = list(step.given)
        given[small.operand] = value
        rows: dict[str, list[Any]] = {name: [] for name in wrong}
        for root in self.roots:
            run, copies, leaves = self.tape.function(root, {step.made: given})
            y = run(*copies)
            assert isinstance(y, Tensor)
            ((*blocks,),) = blocks_of([y], copies)
            for t, block in zip(leaves, blocks, strict=True):
                name = self.names[id(t)]
                if name in rows:
                    found = np.asarray(block.detach().raw)
                    rows[name].append(found.reshape(y.numel(), -1))
        return all(
            same(np.concatenate(rows[b.slot.name]), b.given)
            for b in self.point.refuted(wrong)
        )


def small_number(points: Sequence[Point], wrong: set[str]) -> Diagnosis | None:
    """A small number that forward adds, and backward does not, or another one."""
    made_by = function_of(points[0].call)
    if made_by is None:
        return None
    with suppress(Exception):
        replays = [Replayed(point, made_by) for point in points]
        for small in replays[0].smalls():
            for value in USUAL:
                if value != small.value and all(
                    r.gives(small, value, wrong) for r in replays
                ):
                    return _told(points[0], small, value)
    return None


def _told(point: Point, small: Small, value: float) -> Diagnosis:
    own = point.call.name_of(small.value)
    called = f"{own} = {small.value:g}" if own else f"{small.value:g}"
    without = "without it" if not value else f"with {value:g} in its place"
    return Diagnosis(
        "eps", f"forward adds {called}, and backward is the gradient {without}",
        f"use {own or format(small.value, 'g')} in backward where forward does",
    )  # fmt: skip
