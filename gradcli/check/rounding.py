"""Rounding errors of a graph's steps in a type of floats, by error analysis of the
first order.

Every step is off by a few units of rounding of its own value, and passes on the errors
of its arguments, times its derivatives. `Roundings.slack` follows errors of random
signs through the steps, for all numbers at once.

Invariant: derivative rules play no part here; the errors are those of the steps.

    roundings = Roundings(evaluation, "float64")
    roundings.slack(step)           # an estimate, with room
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite, isnan
from random import Random
from typing import Any, Final

import numpy as np

from ..engine.raw import Host
from ..ops import FUNCTIONS
from .balls import (
    INFINITY,
    LINEAR,
    START_BITS,
    STEPS,
    Ball,
    ball,
    in_floats,
    is_infinite,
    is_known,
    size,
    to_float,
    working,
)
from .graph import LOST_BITS, Elsewhere, Evaluation, compute
from .system import exact, is_float

SIGN_TRIALS: Final = 2
"""Number of trials with errors of random signs: in one trial they may cancel."""

SLACK_FACTOR: Final = 32
"""Factor by which an error may exceed the largest one of the trials."""

LIBRARY_ROUNDINGS: Final = 4
"""Largest error of a library's function, in units of rounding."""

LOST_RELATIVE_ERROR: Final = 2.0**-4
"""Relative error above which an intermediate number counts as lost."""

VANISHING_SIZE: Final = 1e-290
"""Size below which floats lose digits on their way to 0."""

BOUND_BITS: Final = 64
"""Precision, in bits, of bounds of errors; as balls they do not overflow."""

ROUNDING_RUNS: Final = 6
"""Number of runs in floats with random roundings that measure a result's spread."""

BITS: Final = {"float64": 53, "float32": 24, "float16": 11}
"""Bits of a number's significand, by type."""

LEAST_POWERS: Final = {"float64": -1074, "float32": -149, "float16": -24}
"""Exponents of two of the smallest positive number of each type."""

MAX_POWERS: Final = {"float64": 1024, "float32": 128, "float16": 16}
"""Exponents of two that bound the finite numbers of each type."""


def roundings_of(name: str) -> int:
    """Return the largest error of a function in units of rounding."""
    if name in ("choice", "stop", "symbol"):
        return 0
    own = FUNCTIONS[name].roundings if name in FUNCTIONS else None
    return LIBRARY_ROUNDINGS if own is None else own


def unit_roundoff(dtype: str) -> float:
    """Return half the distance from 1 to the next number of ``dtype``."""
    return 2.0 ** -BITS[dtype]


def least_normal(dtype: str) -> float:
    """Return the smallest number of ``dtype`` that has all bits of its significand."""
    return float(2.0 ** (LEAST_POWERS[dtype] + BITS[dtype] - 1))


def _parts_of(name: str) -> Callable[[Sequence[Any]], Sequence[Any]] | None:
    return STEPS[name].parts if name in STEPS else None


def numbers_moved(graph: Any, seed: int) -> Elsewhere:
    """Return a graph in which each of the program's numbers that are off by more than
    their own rounding lies at one end or the other of what it may be."""
    draw, moved = Random(seed), {}
    with working(START_BITS):
        for step, (off, _) in graph.lost.items():
            if off:
                up = draw.choice((-1, 1)) * ball(off)
                moved[step] = ball(graph.leaf(step)) + up
    return Elsewhere(graph, moved)


class Roundings:
    """Bounds of the rounding errors of one graph's steps in floating point."""

    def __init__(self, evaluation: Evaluation, dtype: str) -> None:
        self.evaluation = evaluation
        self.dtype = dtype
        self.unit = unit_roundoff(dtype)
        self.least = 2.0 ** LEAST_POWERS[dtype]
        self._drift: dict[int, tuple[float, ...]] = {}
        self._rounded: dict[int, float] = {}
        self._draw = Random(0)

    def slack(self, step: int) -> float:
        """Return how far a step's float may lie from its value; 0 if it is unknown."""
        if self.evaluation.graph.name(step) == "symbol":
            return 0.0
        drifts = self._drifts(step)
        found = SLACK_FACTOR * max(map(abs, drifts))
        return found if isfinite(found) else 0.0

    def rounded(self, step: int) -> float:
        """Return a step's value where every step is computed in floats."""
        graph, known = self.evaluation.graph, self._rounded
        if step not in known:
            dtype = np.dtype(self.dtype)
            leaf = lambda each: dtype.type(float(graph.leaf(each)))
            applied = lambda name, args: in_floats(name, args, dtype)
            compute(graph, self.evaluation.below([step], known), known, leaf, applied)
        return float(known[step])

    def leaves_range(self, roots: Sequence[int]) -> bool:
        """Tell whether a step below overflows or underflows in floats."""
        least, evaluation = ball(self.least), self.evaluation
        for step in evaluation.below(roots):
            number = self.rounded(step)
            if number and isfinite(number):
                continue
            value = evaluation.value(step)
            lost = not is_infinite(value) if number else bool(abs(value) < least)
            if lost and not isnan(number) and not value.is_zero():
                return True
        return False

    def forget(self, size: int) -> None:
        """Forget the errors and floats of all but the first ``size`` steps."""
        self._drift = {s: v for s, v in self._drift.items() if s < size}
        self._rounded = {s: v for s, v in self._rounded.items() if s < size}

    def _drifts(self, step: int) -> tuple[float, ...]:
        if step not in self._drift:
            bits = self._bits(step)
            with working(BOUND_BITS):
                for each in self.evaluation.below([step], self._drift):
                    self._drift[each] = self._drift_of(each, bits)
        return self._drift[step]

    def _bits(self, step: int) -> int:
        evaluation = self.evaluation
        if not is_known(evaluation.value(step, evaluation.bits), LOST_BITS):
            evaluation.settled([step])
        for bits in sorted(evaluation.known):
            found = evaluation.known[bits].get(step)
            if found is not None and is_known(found, LOST_BITS):
                return bits
        return evaluation.bits

    def _drift_of(self, step: int, bits: int) -> tuple[float, ...]:
        # A sum's roundings are measured by its addends, whatever their order.
        parts = [part * self.unit for part in self._parts(step, bits)]
        drifts, draw = [0.0] * SIGN_TRIALS, self._draw
        for error in (self._unit_error(step, bits), *parts):
            # No two random numbers near 1 or -1 always cancel.
            drifts = [d + error * (draw.choice((-1, 1)) * draw.uniform(0.75, 1.25))
                      for d in drifts]  # fmt: skip
        for position, arg in enumerate(self.evaluation.graph.args(step)):
            arriving = self._drift[arg]
            if any(arriving):
                slope = to_float(self.evaluation.slope(step, position, bits))
                drifts = [d + slope * a for d, a in zip(drifts, arriving, strict=True)]
        return tuple(drifts)

    def _parts(self, step: int, bits: int) -> list[float]:
        """Return the sizes that measure a step's own rounding, beside its value's."""
        graph = self.evaluation.graph
        parts = _parts_of(graph.name(step))
        if parts is None:
            return []
        values = self.evaluation.values(graph.args(step), bits)
        return [abs(part) for part in parts([to_float(v) for v in values])]

    def _unit_error(self, step: int, bits: int) -> float:
        graph = self.evaluation.graph
        name = graph.name(step)
        value = abs(to_float(self.evaluation.value(step, bits)))
        if isnan(value) or name == "symbol":
            return 0.0
        if name == "number":
            return self._of_number(step, value)
        return roundings_of(name) * value * self.unit + self._inner(step, bits)

    def _of_number(self, step: int, value: float) -> float:
        graph: Any = self.evaluation.graph
        off, units = graph.lost.get(step, (0.0, 0.0))
        own = is_float(exact(graph.leaf(step)), BITS[self.dtype])
        return float(off + (units + (0 if own else value)) * self.unit)

    def _inner(self, step: int, bits: int) -> float:
        graph = self.evaluation.graph
        name = graph.name(step)
        count = FUNCTIONS[name].inner_roundings if name in FUNCTIONS else 0
        if not count:
            return 0.0
        (arg,) = graph.args(step)
        operand = to_float(self.evaluation.value(arg, bits))
        slope = to_float(self.evaluation.slope(step, 0, bits))
        return abs(count * operand * slope) * self.unit

    def is_linear(self, step: int) -> bool:
        """Tell whether a first-order analysis is enough: no number on the way is lost
        to rounding, but for those that go into the result by sums alone."""
        graph, evaluation = self.evaluation.graph, self.evaluation
        bits = self._bits(step)
        self._drifts(step)
        sums, stack = {step}, [step]
        while stack:
            each = stack.pop()
            if graph.name(each) in LINEAR:
                new = set(graph.args(each)) - sums
                sums |= new
                stack += new
        for each in evaluation.below([step]):
            if each not in sums:
                value = abs(to_float(evaluation.value(each, bits)))
                drift = max(map(abs, self._drift[each]))
                allowed = LOST_RELATIVE_ERROR * value + VANISHING_SIZE
                if not SLACK_FACTOR * drift <= allowed:
                    return False
        return True

    def spread(self, step: int, true: Ball) -> Ball:
        """Return the largest distance from the true value in a few runs in floats with
        random roundings; infinite where a run has no finite result."""
        draw = np.random.default_rng(0).uniform
        graph, known = self.evaluation.graph, dict[int, Host]()

        def moved(value: Host, error: Host | float) -> Host:
            with np.errstate(all="ignore"):
                run = value + error * self.unit * draw(-1, 1, ROUNDING_RUNS)
                return run.astype(self.dtype).astype(float)

        def leaf(each: int) -> Host:
            number, symbol = float(graph.leaf(each)), graph.name(each) == "symbol"
            off = 0.0 if symbol else self._of_number(each, abs(number))
            return moved(np.full(ROUNDING_RUNS, number), off / self.unit)

        applied = lambda name, args: moved(*self._in_columns(name, args))
        compute(graph, self.evaluation.below([step]), known, leaf, applied)
        found = known[step]
        if not np.isfinite(found).all():
            return INFINITY
        gaps = [size(ball(v) - true) for v in found.tolist()]
        return max(gaps, key=to_float)

    def _in_columns(self, name: str, args: list[Host]) -> tuple[Host, Host]:
        """Return a step's values on columns of floats, and their largest errors divided
        by the unit of rounding."""
        with np.errstate(all="ignore"):
            parts = _parts_of(name)
            rows = None if parts is None else np.stack(parts(args))
            if rows is not None and STEPS[name].sums:
                return rows.sum(axis=0), np.abs(rows).sum(axis=0)
            value = np.array(
                [in_floats(name, column) for column in zip(*args, strict=True)]
            )
            if rows is not None:
                return value, np.abs(rows).sum(axis=0)
        return value, value * roundings_of(name)
