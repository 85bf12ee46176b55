"""Checks of a function where its inputs do not lead: on branches that they do not
reach, and in float32 where they are float64.

Invariant: an outcome of a comparison counts as reached if a mask or a clamp of the
function had it. Inputs are moved so that positive numbers stay positive and numbers
from 0 to 1 stay there; moved inputs that the function does not accept show nothing.
Gradients in float32 are compared with those in float64 of the same numbers; where they
differ by more than a few roundings, they are verified on their own, so that rounding
refutes none. Where nothing can judge them, a remark says so.

    on_other_branches(checked)      # faults, and remarks on what was not reached
    in_float32(checked)             # faults of what is wrong only there, and remarks
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import combinations
from typing import Any, Final

import numpy as np

from ..answers.survey import largest
from ..autograd.function import FunctionNode
from ..check.process.job import REFUTED, ROUNDED, UNKNOWN
from ..engine.modes import MODE
from ..engine.tensor import Tensor
from ..engine.walk import inputs_first
from .checker import MAX_JACOBIAN_ENTRIES, SPARE, CheckedCall
from .function_call import (
    MORE_OPERATIONS,
    Arrays,
    FunctionCall,
    FunctionRun,
    OperationBound,
    OperationLimit,
    TensorSlot,
)
from .function_proof import Fault
from .trials import ELSEWHERE, PassTrial, numbers_of
from .user_lines import at, caller, words_of

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


def on_other_branches(checked: CheckedCall) -> tuple[list[Fault], list[str]]:
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


NARROW: Final = "float32"
"""Name of the type in which functions of float64 are run, too."""

ROUNDED_UNITS: Final = 16
"""Largest difference between a number in float32 and in float64, in units of rounding,
that is not looked into."""

CLEAR_UNITS: Final = 1024
"""Smallest difference, in units of rounding, that counts as a mistake if the rounding
of the steps does not explain it; a constant in float32 may be off by a unit."""


def in_float32(checked: CheckedCall) -> tuple[list[Fault], list[str]]:
    """Return the faults of a backward that is wrong only in float32, and remarks where
    it cannot be judged."""
    call = checked.call
    if call.module is not None or {s.given.dtype.name for s in call.varied} != {
        "float64"
    }:
        return [], []
    there = call.moved(lambda values: values, NARROW)
    bound = OperationBound()
    try:
        # The same numbers in both types.
        with bound.on_run():
            wide = _gradients(checked, there.moved(lambda values: values, "float64"))
        with bound.on_run():
            narrow = _gradients(checked, there)
    except OperationLimit:
        much = f"it takes over {MORE_OPERATIONS} times the operations there"
        return [], [f"it was not verified in {NARROW}: {much}"]
    except Exception as error:
        return [], [f"it was not verified in {NARROW}: {words_of(error)}"]
    if all(map(_is_near, narrow, wide)):
        return [], []
    trial = PassTrial("", "", "", lambda: wide, lambda: narrow)
    said = f"backward gives {numbers_of(call, trial, wide, narrow)} as in float64"
    clear = any(map(_is_clear, narrow, wide))
    if not checked.followed or not clear:
        return [], [f"in {NARROW} {said}"] if clear else []
    proof = CheckedCall(there, checked.plan.near(max(SPARE, checked.left(1.0)))).proof()
    found = [Fault(f.kind, f"in {NARROW}, {f.text}") for f in proof.faults]
    remarks = []
    for each, a, b in zip(proof.inputs, narrow, wide, strict=True):
        if each.verdict == REFUTED and _is_clear(a, b):
            found.append(Fault(NARROW, said))
        elif each.verdict in (UNKNOWN, ROUNDED):
            remarks.append(f"in {NARROW}, {each.name} is {each.verdict}: {each.note}")
    return found[:1], remarks


def _gradients(checked: CheckedCall, call: FunctionCall) -> Arrays:
    run = FunctionRun(call)
    pairs = zip(checked.cotangents, run.outputs, strict=True)
    return run.gradients([np.array(c, np.asarray(y.raw).dtype) for c, y in pairs])


def _is_near(narrow: Any, wide: Any) -> bool:
    """Tell whether numbers in float32 are those in float64 up to their rounding."""
    unit, size = float(np.finfo(NARROW).eps), np.abs(wide).max(initial=0.0)
    allowed = unit * (ROUNDED_UNITS * np.abs(wide) + size)
    return bool((np.abs(narrow - wide) <= allowed).all())


def _is_clear(narrow: Any, wide: Any) -> bool:
    """Tell whether an entry differs by more than a constant's rounding may explain."""
    allowed = CLEAR_UNITS * float(np.finfo(NARROW).eps) * np.abs(wide)
    return bool((np.abs(narrow - wide) > allowed).any())
