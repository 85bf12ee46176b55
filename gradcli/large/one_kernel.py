"""Traces run on a GPU: what the CPU does tile by tile is one kernel there.

Invariant: each step is the GPU's own function of the step's name; the steps up to a
sum, and the results known by then, are computed in one kernel, and the sum follows.

    plan = traced_plan(program, [x, y], x.shape, gpu_plan)
    plan.run([x, y], [x.dtype], xp)       # the arrays and the numbers asked for
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..engine import NUMPY
from ..engine.raw import RawDtype
from .kernel import levels_of, needed
from .tracing import (
    Cast,
    Operand,
    Sample,
    Trace,
    TraceStep,
    TraceValue,
    UniformArray,
    spread,
)

KERNEL_NAME = "Gradients"
"""Name that the kernels have for those who look at the GPU's work."""


class GpuPlan(NamedTuple):
    """The steps of a trace, by the numbers of their values, each with its level.

    arrays   the results that are arrays, each with its dtype
    numbers  the results that are numbers
    """

    steps: dict[int, TraceStep]
    levels: dict[int, int]
    arrays: tuple[tuple[Operand, RawDtype], ...]
    numbers: tuple[Operand, ...]

    def run(self, arrays: Sequence[Any], xp: Any) -> tuple[list[Any], list[Any]]:
        """Return the arrays and the numbers that the plan asks for."""
        pending = xp.pending
        values: dict[int, Any] = dict(enumerate(map(pending.wrapped, arrays)))
        results: dict[int, Any] = {}

        def at(operand: Operand) -> Any:
            if isinstance(operand, TraceValue):
                return values[operand.nr]
            number = operand.number if isinstance(operand, UniformArray) else operand
            return number[()] if isinstance(number, np.ndarray) else number

        for level in range(1 + max(self.levels.values(), default=0)):
            here = {nr: s for nr, s in self.steps.items() if self.levels[nr] == level}
            sums = {nr: step for nr, step in here.items() if _is_sum(step)}
            with pending.named(KERNEL_NAME):
                for nr, step in sums.items():
                    (total,) = map(at, step.operands)
                    values[nr] = pending.sum(total)
                for nr, step in here.items():
                    if nr not in sums:
                        values[nr] = _done(pending, step, [*map(at, step.operands)])
                following = [
                    at(step.operands[0])
                    for nr, step in self.steps.items()
                    if self.levels[nr] == level + 1 and _is_sum(step)
                ]
                for slot, (result, dtype) in enumerate(self.arrays):
                    ready = not isinstance(result, TraceValue) or result.nr in values
                    if slot not in results and ready:
                        results[slot] = _whole(pending, at(result), dtype, arrays[0])
                pending.compute([*following, *results.values()])
        numbers = [pending.opened(at(number)) for number in self.numbers]
        return [results[slot].raw for slot in range(len(self.arrays))], numbers


def gpu_plan(
    trace: Trace,
    arrays: Sequence[tuple[Sample, RawDtype]],
    numbers: Sequence[Sample | Operand],
) -> GpuPlan | None:
    """Return the plan for results of a trace; None if a GPU has not all its functions.

    Args:
        trace: the steps that were run on a few entries.
        arrays: samples whose entries are asked for, each with the dtype to write.
        numbers: samples of numbers that are asked for, or constants.
    """
    steps, results = needed(trace, [*(array for array, _ in arrays), *numbers])
    if not all(map(_is_known, steps.values())):
        return None
    wanted = zip(results, [dtype for _, dtype in arrays], strict=False)
    return GpuPlan(
        steps, levels_of(steps), tuple(wanted), tuple(results[len(arrays) :])
    )


def _is_sum(step: TraceStep) -> bool:
    return step.function == np.add.reduce


def _is_known(step: TraceStep) -> bool:
    function: Any = step.function
    own = getattr(function, "__self__", None) is NUMPY or function in PLAIN
    ufunc = isinstance(function, np.ufunc | Cast)
    return not step.options and (own or ufunc or _is_sum(step))


PLAIN = (spread, np.where, operator.pow)
"""Functions of steps that are neither methods nor ufuncs."""


def _done(pending: Any, step: TraceStep, operands: list[Any]) -> Any:
    """Return what a step gives on pending arrays."""
    function: Any = step.function
    if isinstance(function, Cast):
        (x,) = operands
        return x.astype(function.dtype)
    if function is spread:
        return operands[0]
    if function is operator.pow:
        return function(*operands)
    if getattr(function, "__self__", None) is NUMPY:
        return getattr(pending, function.__name__)(*operands)
    name = function.__name__
    if getattr(np, name, None) is function:
        return pending.apply(name, *operands)
    return pending.special_functions(name)(*operands)


def _whole(pending: Any, x: Any, dtype: RawDtype, like: Any) -> Any:
    """Return a result as a pending array of the shape and the dtype asked for."""
    if not hasattr(x, "steps"):
        return pending.wrapped(pending.base.np.full(like.shape, x, dtype=dtype))
    if x._shape != like.shape:
        x = pending.apply("where", True, x, pending.wrapped(like))
    return x.astype(dtype, copy=False)
