"""Branches of a function: the outcomes of comparisons that its inputs reach, and a
backward that is right for one outcome alone.

Invariant: an outcome counts as reached if a mask or a clamp of the function had it.
Inputs are moved so that positive numbers stay positive and numbers from 0 to 1 stay
there; moved inputs that the function does not accept show nothing.

    in_a_region(case).text      # "… is right where x < 1, wrong where x > 1"
    beyond(checked)                     # faults on the sides that were not reached
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import combinations
from typing import Any, Final

import numpy as np

from ..answers.claim_views import Diagnosis
from ..answers.hypotheses import CLOSE
from ..answers.survey import largest
from ..autograd.function import FunctionNode
from ..check.process.job import REFUTED
from ..engine.modes import MODE
from ..engine.tensor import Tensor
from ..engine.walk import inputs_first
from .checker import MAX_JACOBIAN_ENTRIES, CheckedCall
from .forwards import RefutedFunction
from .function_call import (
    FunctionCall,
    FunctionRun,
    OperationBound,
    OperationLimit,
    TensorSlot,
)
from .function_proof import Fault
from .user_lines import at, caller

ELSEWHERE: Final = "another branch"

MIN_EACH: Final = 2
"""Smallest number of entries on each side of a threshold; with fewer, a threshold
would always be found."""

LARGEST: Final = 100.0
"""Largest absolute value to which inputs are moved; larger ones would overflow where
no real input does."""

SMALLEST: Final = 1e-3
"""Smallest value to which positive inputs are moved; an eps may act on smaller ones."""

MAX_PLACES: Final = 12
"""Largest number of places whose outcomes are compared in pairs."""

MAX_BRANCHES: Final = 3
"""Largest number of further branches that are tried."""

TIMES: Final = (-1.0, 4.0, 16.0, 0.25, 64.0, 1 / 16)
"""Factors by which inputs are multiplied to reach other branches."""


# a threshold between what is right and what is wrong


def in_a_region(case: RefutedFunction) -> Diagnosis | None:
    """Return the diagnosis of a gradient that is right on one side of a threshold and
    wrong on the other."""
    for each in case.each():
        (name,) = each.names
        bad = np.concatenate([_wrong_entries(*pair) for pair in each.pairs])
        if min(bad.sum(), (~bad).sum()) < MIN_EACH:
            return None
        by_point = [_quantities(point.call, name) for point in case.points]
        for text in by_point[0]:
            found = np.concatenate([quantities[text] for quantities in by_point])
            side = _threshold(found, bad, case.call)
            if side is not None:
                right, wrong = (said.replace("{}", text) for said in side)
                return Diagnosis(
                    "region", f"{each.by} is right where {right}, and wrong where "
                    f"{wrong}", f"see what backward does where {wrong}",
                )  # fmt: skip
    return None


def _wrong_entries(true: Any, given: Any) -> Any:
    """Return which entries of an input have a wrong gradient in any output."""
    gap = np.abs(true - given)
    return (gap > CLOSE * max(largest(true), largest(given))).any(0)


def _quantities(call: FunctionCall, name: str) -> dict[str, Any]:
    """Return the quantities that a branch may depend on, by their text, each with a
    value for every entry of an input."""
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


def _threshold(found: Any, bad: Any, call: FunctionCall) -> tuple[str, str] | None:
    """Return texts for where it is right and wrong, ``{}`` for the quantity."""
    order = np.argsort(found)
    values, wrong = found[order], bad[order]
    ends = np.flatnonzero(wrong[1:] != wrong[:-1])
    if len(ends) > 2 or any(values[k] == values[k + 1] for k in ends):
        return None
    edges = [_between(float(values[k]), float(values[k + 1]), call) for k in ends]
    below, above = f"{{}} < {edges[0]}", f"{{}} > {edges[-1]}"
    if len(ends) == 1:
        return (above, below) if wrong[0] else (below, above)
    if min(ends[0] + 1, len(values) - 1 - ends[1]) < MIN_EACH:
        return None
    inside, outside = f"{edges[0]} < {{}} < {edges[1]}", f"{below} or {above}"
    return (inside, outside) if wrong[0] else (outside, inside)


def _between(low: float, high: float, call: FunctionCall) -> str:
    """Return a simple number between two, or an argument's name, as text."""
    if low <= 0 <= high:
        return "0"
    for name, x in zip(call.names, call.arguments, strict=False):
        if isinstance(x, int | float):
            if low <= x <= high:
                return name
            if low <= -x <= high:
                return f"-{name}"
    for simple in (1, -1, 0.5, -0.5, 2, -2, 3, -3):
        if low <= simple <= high:
            return f"{simple:g}"
    return f"{(low + high) / 2:.3g}, or near it"


# the sides that inputs reach


Key = tuple[str, str, bool]
"""Type of a key: a place in the user's file, the operation there, and whether its
input is a truth value."""

Outcomes = dict[tuple[Key, ...], set[Any]]
"""Type of the outcomes of comparisons at each place, and of the pairs of outcomes that
entries had at two places. An outcome is a truth value, or the sign of what a clamp or
the like adds."""


def _outcomes(
    call: FunctionCall, cotangents: Sequence[Any], bound: OperationBound
) -> Outcomes | None:
    """Return the outcomes of masks that are used and of operations with a kink in a run
    and its reverse pass; None if it fails, does not end or has a value that is not
    finite."""
    seen: Outcomes = {}
    last: dict[Key, Any] = {}

    def note(key: Key, found: Any) -> None:
        seen.setdefault((key,), set()).update(np.unique(found).tolist())
        last[key] = found.ravel()

    def look(op: Any, inputs: Any, params: object, raw: object, out: Any) -> None:
        tensors = [x for x in inputs if isinstance(x, Tensor) and x.raw.size]
        place = at(*caller(sys._getframe(1)))
        for x in tensors:
            if x.raw.dtype.kind == "b":
                note((place, op.name, True), np.asarray(x.raw, int))
        bent = op.kink and tensors and isinstance(out, Tensor)
        if bent and tensors[0].raw.shape == out.raw.shape:
            gap = np.sign(np.asarray(out.raw) - np.asarray(tensors[0].raw))
            note((place, op.name, False), np.nan_to_num(gap).astype(int))

    with suppress(Exception, OperationLimit), np.errstate(all="ignore"):
        with bound.on_run(), MODE.having(on_call=(*MODE.on_call, look)):
            run = FunctionRun(call)
            if not all(np.isfinite(values).all() for values in run.values()):
                return None
            run.gradients([*cotangents])
        for (a, x), (b, y) in combinations([*last.items()][:MAX_PLACES], 2):
            if x.size == y.size:
                seen[a, b] = set(zip(x.tolist(), y.tolist(), strict=True))
        return seen
    return None


def _one_sided(reached: Outcomes) -> list[Key]:
    """Return the places where all entries had the same outcome."""
    return [
        keys[0]
        for keys, sides in reached.items()
        if len(keys) == len(sides) == 1 and (keys[0][2] or sides == {0})
    ]


def beyond(checked: CheckedCall) -> tuple[list[Fault], list[str]]:
    """Return the faults on branches that the inputs do not reach, and remarks on the
    comparisons of which only one outcome was tested."""
    call, seeds = checked.call, checked.cotangents
    graph = inputs_first(y.edge for y in checked.run.outputs)
    is_custom = any(isinstance(edge, FunctionNode) for edge in graph)
    if checked.count * checked.size > MAX_JACOBIAN_ENTRIES or not is_custom:
        return [], []
    bound = OperationBound()
    reached = _outcomes(call, seeds, bound) or {}
    tried = 0
    for there in _moved(call, bool(_one_sided(reached))) if reached else ():
        found, alone = _outcomes(there, seeds, bound) or {}, _one_sided(reached)
        new = [
            keys[-1][0]
            for keys, sides in reached.items()
            if found.get(keys, set()) - sides and (len(keys) > 1 or keys[0] in alone)
        ]
        if not new:
            continue
        fault = _fault(checked, there, new[0])
        if fault is not None:
            return [fault], []
        for keys, sides in found.items():
            reached.setdefault(keys, set()).update(sides)
        tried += 1
        if tried == MAX_BRANCHES:
            break
    left = [key[0] for key in _one_sided(reached) if key[2]][:MAX_BRANCHES]
    said = "only one side of a comparison was looked at"
    return [], [f"{said}: {place}" for place in dict.fromkeys(left)]


def _fault(checked: CheckedCall, there: FunctionCall, place: str) -> Fault | None:
    """Return the fault of backward at other inputs; None if nothing is refuted."""
    with suppress(Exception):
        proof = CheckedCall(there, checked.plan.near(checked.plan.seconds / 4)).proof()
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


def _moved(call: FunctionCall, apart: bool) -> Iterator[FunctionCall]:
    """Yield the call with all inputs moved, then, if ``apart``, with each one moved."""
    own = [s for s in call.varied if isinstance(s.key, int)]
    groups = [own]
    if apart and len(own) > 1:
        groups += [[s] for s in own]
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


def _times(slot: TensorSlot, times: float) -> Any:
    """Return an input's values multiplied, or raised to a power if all lie from 0 to 1;
    None if they would change their sign or become too large or too small."""
    values = np.asarray(slot.given.raw)
    if not values.size:
        return None
    low, high = float(values.min()), float(values.max())
    if low >= 0 and high <= 1:
        moved = values ** (1 / times) if times > 0 else None
        inside = moved is not None and min(moved.min(), 1 - moved.max()) >= SMALLEST
        return moved if inside else None
    if times < 0 and (low >= 0 or high <= 0):
        return None
    size = largest(values)
    if size * times > max(LARGEST, size) or 0 < low * times < SMALLEST:
        return None
    return values * times
