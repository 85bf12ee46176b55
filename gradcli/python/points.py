"""A function in Python at several points, with what its backward gives there.

Invariant: the first point is the given one; the others lie near by, on the same side of
what it branches on or not, as they are drawn.

    here(checked), elsewhere(checked)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..engine.dtypes import float64
from ..views.claims import Diagnosis
from .call import Call, Slot
from .checker import Both, Checked, Plan

POINTS: Final = 3
"""Points beside the given one at which a hypothesis has to hold."""

SHOWN: Final = 3
"""Names up to which all are written out."""


@dataclass(frozen=True, slots=True)
class Point:
    """The function at one point, and its Jacobian's blocks, given and true."""

    call: Call
    blocks: Sequence[Both]

    def refuted(self, names: set[str]) -> list[Both]:
        return [b for b in self.blocks if b.slot.name in names]

    def slot(self, name: str) -> Slot:
        """A tensor that the function is given."""
        return next(b.slot for b in self.blocks if b.slot.name == name)

    def block(self, name: str) -> Both:
        """The block by a tensor that it is given."""
        return next(b for b in self.blocks if b.slot.name == name)


Hypothesis = Callable[[Sequence[Point], set[str]], "Diagnosis | None"]


def pairs_of(points: Sequence[Point], wrong: set[str]) -> list[tuple[Any, Any]]:
    """The true and the given block of each wrong input at each point."""
    return [(b.true, b.given) for p in points for b in p.refuted(wrong)]


def gradient_by(wrong: set[str]) -> str:
    """``the gradient by x and y``."""
    names = sorted(wrong)
    shown = names if len(names) <= SHOWN else [*names[:2], f"{len(names) - 2} more"]
    return f"the gradient by {' and '.join(shown)}"


def here(checked: Checked) -> list[Point]:
    """The given point, in float64: what is compared is compared to the last digits."""
    if checked.type is float64 or checked.call.module is not None:
        return [Point(checked.call, checked.blocks)]
    wide = list(_points(checked, lambda values: values))
    return wide or [Point(checked.call, checked.blocks)]


def elsewhere(checked: Checked) -> list[Point]:
    """The same function near by, as far as it takes what is drawn."""
    draws = np.random.default_rng(checked.plan.seed + 7)

    def drawn(values: Any) -> Any:
        return values * draws.uniform(0.7, 1.3, values.shape)

    return [each for _ in range(POINTS) for each in _points(checked, drawn)]


def _points(checked: Checked, moved: Callable[[Any], Any]) -> Iterator[Point]:
    """The function at its arguments, moved, if it takes them so."""
    with suppress(Exception):
        call = checked.call
        held = "float64" if call.module is None else checked.type.name
        there = call.moved(moved, held)
        plan = Plan(seconds=checked.plan.seconds, second=False, prove=False)
        again = Checked(there, plan)
        again.proof()
        if again.blocks:
            yield Point(there, again.blocks)
