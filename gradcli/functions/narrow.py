"""A function of float64, run in float32 as well.

Invariant: gradients in float32 are held against those in float64 of the same numbers;
where they differ by more than a few roundings, they are verified on their own, so that
rounding refutes none. Where nothing can judge them, a remark says so.

    in_float32(checked)     # faults of what is wrong in float32 alone, and remarks
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..check.process.job import REFUTED, ROUNDED, UNKNOWN
from .checker import SPARE, CheckedCall
from .function_call import (
    MORE_OPERATIONS,
    Arrays,
    FunctionCall,
    FunctionRun,
    OperationBound,
    OperationLimit,
)
from .function_proof import Fault
from .trials import PassTrial, numbers_of
from .user_lines import words_of

NARROW: Final = "float32"
"""Name of the type in which functions of float64 are run, too."""

ROUNDED_UNITS: Final = 16
"""Largest difference between a number in float32 and in float64, in units of rounding,
that is not looked into."""

CLEAR_UNITS: Final = 1024
"""Smallest difference, in units of rounding, that counts as a mistake if the rounding
of the steps does not explain it; a constant in float32 may be off by a unit."""


def in_float32(checked: CheckedCall) -> tuple[list[Fault], list[str]]:
    """Return the faults of a backward that is wrong in float32 alone, and remarks where
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
