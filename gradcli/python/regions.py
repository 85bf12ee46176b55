"""Where a function branches: the sides of its comparisons that its inputs reach, and a
backward that is right on one side alone.

Invariant: a side counts as reached when a mask or a clamp of the function came out so;
inputs are moved only in ways that keep positive numbers positive, and those between 0
and 1 there; what the function does not take says nothing.

    in_a_region(points, {"x"}).text     # "… is right where x < 1, wrong where x > 1"
    beyond(checked)                     # faults on the sides that were not reached
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Final

import numpy as np

from ..autograd.function_node import FunctionNode
from ..diagnosis.likeness import CLOSE, largest
from ..engine.modes import MODE
from ..engine.tensor import Tensor
from ..engine.walk import inputs_first
from ..verify.process.job import REFUTED
from ..views.claims import Diagnosis
from .call import Call, Slot
from .checker import MAX_JACOBIAN_ENTRIES, Checked, Plan
from .places import at, caller
from .points import Point, gradient_by
from .proof import Fault
from .trials import gradients

ELSEWHERE: Final = "another branch"

MIN_EACH: Final = 2
"""Entries on each side of a threshold, below which anything would be one."""

LARGEST: Final = 100.0
"""Sizes up to which inputs are moved: beyond, numbers overflow that nobody meets."""

MAX_BRANCHES: Final = 3
"""Places on other branches that are looked at."""

TIMES: Final = (-1.0, 4.0, 16.0, 0.25, 64.0, 1 / 16)
"""Factors that inputs are moved by."""


# a threshold between what is right and what is wrong


def in_a_region(points: Sequence[Point], wrong: set[str]) -> Diagnosis | None:
    """A gradient that is right on one side of a threshold and wrong on the other."""
    for name in sorted(wrong):
        bad = np.concatenate([_wrong_entries(p, name) for p in points])
        if min(bad.sum(), (~bad).sum()) < MIN_EACH:
            return None
        for text in _quantities(points[0].call, name):
            found = np.concatenate([_quantities(p.call, name)[text] for p in points])
            side = _threshold(found, bad, points[0].call)
            if side is not None:
                right, other = (f"{text} {sign} {side[1]}" for sign in side[0])
                return Diagnosis(
                    "region",
                    f"{gradient_by({name})} is right where {right}, and wrong where "
                    f"{other}",
                    f"see what backward does where {other}",
                )
    return None


def _wrong_entries(point: Point, name: str) -> Any:
    """Which entries of an input have a wrong gradient, by any output."""
    block = point.block(name)
    gap = np.abs(block.true - block.given)
    size = max(largest(block.true), largest(block.given))
    return (gap > CLOSE * size).any(0)


def _quantities(call: Call, name: str) -> dict[str, Any]:
    """What a branch may ask of, by its words, for each entry of an input."""
    own = next(s for s in call.slots if s.name == name)
    shape = tuple(own.given.shape)
    held = {
        s.name: np.asarray(s.given.raw, np.float64).ravel()
        for s in call.slots
        if tuple(s.given.shape) == shape
    }
    held = {name: held[name], **held}
    found = dict(held)
    found |= {f"abs({n})": np.abs(v) for n, v in held.items()}
    for a, b in combinations(held, 2):
        gap = held[a] - held[b]
        found |= {f"{a} - {b}": gap, f"abs({a} - {b})": np.abs(gap)}
        found[f"{a} * {b}"] = held[a] * held[b]
    return found


def _threshold(found: Any, bad: Any, call: Call) -> tuple[str, str] | None:
    """The signs of the right and of the wrong side, and the number between."""
    for signs, left, right in ((("<", ">"), ~bad, bad), ((">", "<"), bad, ~bad)):
        low, high = float(found[left].max()), float(found[right].min())
        if low < high:
            return signs, _between(low, high, call)  # type: ignore[return-value]
    return None


def _between(low: float, high: float, call: Call) -> str:
    """A number between two, as a person would name it."""
    for name, x in zip(call.names, call.arguments, strict=False):
        if isinstance(x, int | float):
            if low <= x <= high:
                return name
            if low <= -x <= high:
                return f"-{name}"
    for simple in (0, 1, -1, 0.5, -0.5, 2, -2, 3, -3):
        if low <= simple <= high:
            return f"{simple:g}"
    return f"{(low + high) / 2:.3g}, or near it"


# the sides that inputs reach


@dataclass(slots=True)
class Sides:
    """What came of each comparison, by where it is made.

    masks  which of them are truth values; elsewhere a side is the sign of what a clamp
           or the like adds to its operand
    """

    seen: dict[str, set[int]] = field(default_factory=dict)
    masks: set[str] = field(default_factory=set)

    def note(self, place: str, found: Any, mask: bool) -> None:
        """Add what came out at a place."""
        if mask:
            self.masks.add(place)
        self.seen.setdefault(place, set()).update(np.unique(found).tolist())

    def one_sided(self) -> list[str]:
        """The places where the same came out for all entries."""
        return [
            place
            for place, sides in self.seen.items()
            if len(sides) == 1 and (place in self.masks or sides == {0})
        ]

    def beside(self, other: Sides) -> set[tuple[str, int]]:
        """The sides that another run reached, and this one did not."""
        return {
            (place, side)
            for place in self.one_sided()
            for side in other.seen.get(place, set()) - self.seen[place]
        }


@contextmanager
def _followed() -> Iterator[Sides]:
    """The sides of masks that are used, and of what is clamped or bent, inside."""
    sides = Sides()

    def look(op: Any, inputs: Any, params: object, raw: object, out: Any) -> None:
        tensors = [x for x in inputs if isinstance(x, Tensor) and x.raw.size]
        place = at(*caller(sys._getframe(1)))
        for x in tensors:
            if x.raw.dtype.kind == "b":
                sides.note(place, np.asarray(x.raw, int), True)
        bent = op.kink and tensors and isinstance(out, Tensor)
        if bent and tensors[0].raw.shape == out.raw.shape:
            gap = np.sign(np.asarray(out.raw) - np.asarray(tensors[0].raw))
            sides.note(place, gap.astype(int), False)

    nodes, calls = MODE.on_node, MODE.on_call
    MODE.watch(nodes, (*calls, look))
    try:
        yield sides
    finally:
        MODE.watch(nodes, calls)


def _sides(call: Call, cotangents: Sequence[Any]) -> Sides | None:
    """The sides that a call reaches, on its way back, too; None where it fails, or has
    no numbers there."""
    with suppress(Exception), np.errstate(all="ignore"), _followed() as sides:
        leaves = call.leaves()
        outputs = [y for y in call.outputs(leaves) if y.requires_grad]
        if not all(np.isfinite(np.asarray(y.detach().raw)).all() for y in outputs):
            return None
        gradients(outputs, [leaves[s.name] for s in call.varied], cotangents)
        return sides
    return None


def beyond(checked: Checked) -> tuple[list[Fault], list[str]]:
    """What is wrong on branches that the inputs do not reach, and the comparisons of
    which only one side was looked at."""
    call = checked.call
    size = sum(x.numel() for x in checked.wanted)
    if checked.count * size > MAX_JACOBIAN_ENTRIES or not _is_custom(checked.outputs):
        return [], []
    seeds = checked.cotangents
    reached = _sides(call, seeds)
    if reached is None or not reached.one_sided():
        return [], []
    for there in _moved(call):
        sides = _sides(there, seeds)
        news = reached.beside(sides) if sides is not None else set()
        if not news or sides is None:
            continue
        fault = _fault(checked, there, min(news)[0])
        if fault is not None:
            return [fault], []
        for place, side in news:
            reached.seen[place].add(side)
        if not reached.one_sided():
            break
    places = [p for p in reached.one_sided() if p in reached.masks][:MAX_BRANCHES]
    return [], [f"only one side of a comparison was looked at: {p}" for p in places]


def _is_custom(outputs: Sequence[Tensor]) -> bool:
    """Whether a custom function stands in the graph."""
    below = inputs_first(y.edge for y in outputs)
    return any(isinstance(edge, FunctionNode) for edge in below)


def _fault(checked: Checked, there: Call, place: str) -> Fault | None:
    """What backward gets wrong at other inputs."""
    plan = Plan(checked.plan.seconds / 4, checked.plan.seed, second=False, prove=False)
    with suppress(Exception):
        proof = Checked(there, plan).proof()
        for each in proof.inputs:
            wrong = each.counterexample
            if each.verdict == REFUTED and wrong is not None:
                slot = next(s for s in there.slots if s.name == each.name)
                value = float(np.asarray(slot.given.raw)[wrong.entry])
                entry = wrong.place(each.name).rpartition("d ")[2]
                return Fault(
                    ELSEWHERE,
                    f"at other inputs, with {entry} = {value:.4g}, on the other side "
                    f"of {place}, backward gave {wrong.given!r} for "
                    f"{wrong.place(each.name)}, the true value is {wrong.true!r}",
                )
    return None


def _moved(call: Call) -> Iterator[Call]:
    """The call at moved inputs: all of them, then each alone."""
    own = [s for s in call.varied if isinstance(s.key, int)]
    groups = [own] if len(own) < 2 else [own, *([s] for s in own)]
    for group in groups:
        for times in TIMES:
            moved = {s.key: _times(s, times) for s in group}
            if any(v is None for v in moved.values()):
                continue
            yield call.at([
                Tensor(moved[k], x.xp, True)
                if k in moved and isinstance(x, Tensor) else x
                for k, x in enumerate(call.arguments)
            ])  # fmt: skip


def _times(slot: Slot, times: float) -> Any:
    """The values of an input, moved; None where that would lead out of what they are:
    positive numbers, numbers between 0 and 1."""
    values = np.asarray(slot.given.raw)
    if not values.size:
        return None
    if values.min() >= 0 and values.max() <= 1:
        return values ** (1 / times) if times > 0 else None
    if times < 0 and (values.min() >= 0 or values.max() <= 0):
        return None
    size = largest(values)
    if size * times > max(LARGEST, size):
        return None
    return values * times
