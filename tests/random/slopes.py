"""Derivatives by differences of PyTorch's values, or of its gradients, for where
PyTorch has no other.

Invariant: an entry is a number only if two step sizes agree on it, so that a kink or a
cancellation close by is told from a derivative.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tests.random.outcome import Side, outcome, weights
from tests.random.program import Program
from tests.random.theirs import THEIRS

STEPS = (1e-4, 5e-5)
AGREEING = 1e-5
"""Relative to the largest slope; the error of a difference is about 1e-8 of it."""

KINK = 1e-2
"""What the slopes of two sides may differ by, relative to 1 and the slope."""


HELD = "no_grad|detach|data|_polynomial_|bessel|airy"
"""What passes no derivative on, or is of no known one."""


def applies(program: Program) -> bool:
    """Whether the values' slopes are the gradient: nothing is held back from it."""
    return re.search(HELD, program.text) is None


def slopes(program: Program, side: Side = THEIRS, order: int = 0) -> list[Any]:
    """Per input the slopes of the weighted sum of the output, NaN where unclear; of
    order 1, those of the weighted sum of the gradient."""
    coarse, fine = (differences(program, step, side, order) for step in STEPS)
    found = []
    for a, b in zip(coarse, fine, strict=True):
        with np.errstate(all="ignore"):
            agree = np.abs(a - b) <= AGREEING * (1 + np.abs(b).max(initial=0.0))
        found.append(np.where(agree, b, np.nan))
    return found


def differences(program: Program, step: float, side: Side, order: int = 0) -> list[Any]:
    """Per input the central differences, NaN where the slopes of two sides differ."""
    found = []
    for name, value in program.inputs.items():
        array = np.array(value, dtype=float)
        moved = partial(total, program, name, array, side, order)
        here = moved(0, 0.0) if array.size else 0.0
        slope = np.empty(array.size)
        for at in range(array.size):
            above, below = moved(at, step), moved(at, -step)
            slope[at] = (above - below) / (2 * step)
            bend = abs(above - 2 * here + below) / step
            lost = abs(here) * np.finfo(float).eps / step
            if not bend + lost <= KINK * (1 + abs(slope[at])):
                slope[at] = np.nan
        found.append(slope.reshape(array.shape))
    return found


def total(
    program: Program,
    name: str,
    array: Any,
    side: Side,
    order: int,
    at: int,
    step: float,
) -> float:
    beside = array.reshape(-1).copy()
    beside[at] += step
    inputs = {**program.inputs, name: beside.reshape(array.shape).tolist()}
    found = outcome(side, replace(program, inputs=inputs), orders=order)
    if found.refusal is not None:
        return float("nan")
    parts = found.gradients if order else [found.value]
    with np.errstate(all="ignore"):
        return float(sum(
            (weights(part.shape, n + order) * part).sum()
            for n, part in enumerate(parts) if part is not None
        ))  # fmt: skip
