"""Plans: the steps that results of a trace need, and the memory of their values.

Invariant: a step writes over its operand only if its function is rounded correctly, so
that its bits cannot depend on the memory; a result that a step computes is written to
its output directly, without a copy.

    made = plan(trace, [(dx, dx.dtype), (dy, dy.dtype)], [total])
    made.rounds, made.buffers
"""

from __future__ import annotations

import operator
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from ..engine.parts import chosen
from ..engine.raw import Host, Raw, RawDtype
from .tracing import (
    Cast,
    Function,
    Operand,
    Sample,
    Trace,
    TraceStep,
    TraceValue,
    UniformArray,
    constant,
    spread,
)

ROUNDED = {
    np.add, np.subtract, np.multiply, np.divide, np.negative, np.square, np.sqrt,
}  # fmt: skip
"""NumPy functions whose results IEEE 754 prescribes to the last bit."""

MAX_ROUNDS = 16
"""Largest number of passes over all tiles."""

MAX_REPEATS = 2
"""Largest mean number of calls for each step: two calls on data in the cache take no
longer than one on data outside it."""


class InputTile(NamedTuple):
    """A tile of an array that is read."""

    nr: int


class Output(NamedTuple):
    """A tile of an array that is written."""

    nr: int


class Spread(NamedTuple):
    """A number, known before the round, that is broadcast to a tile."""

    number: Operand


class Buffer(NamedTuple):
    """Memory for the entries of a tile; buffers are numbered for each item size."""

    nr: int
    dtype: RawDtype


Place: TypeAlias = InputTile | Output | Buffer | Spread | Operand
"""The place of an operand; a constant or a value that is a number is its own place."""


class Work(NamedTuple):
    """One function call, made for each tile.

    reads   its operands: inputs, outputs, buffers and constants
    writes  where its result goes; None: it is a number, which is summed over all tiles
    """

    function: Function
    reads: tuple[Place, ...]
    writes: Output | Buffer | None


class Round(NamedTuple):
    """One pass over all tiles, and the steps on numbers after it.

    work  the calls for each tile, in order
    sums  the values that are sums over all tiles, in the order of the work
    tail  the steps on numbers that follow, by the values that they compute
    """

    work: tuple[Work, ...]
    sums: tuple[TraceValue, ...]
    tail: dict[TraceValue, TraceStep]


class TilePlan(NamedTuple):
    """The passes over all tiles; where a pass needs a sum, an earlier one computes it.

    rounds   the passes, in order
    buffers  the count of buffers, by the bytes of an entry
    numbers  the values, or constants, that are the numbers asked for
    """

    rounds: tuple[Round, ...]
    buffers: dict[int, int]
    numbers: tuple[Operand, ...]


def plan(
    trace: Trace,
    arrays: Sequence[tuple[Sample, RawDtype]],
    numbers: Sequence[Sample | Operand],
) -> TilePlan | None:
    """Return the plan for results of a trace; None if it would take more passes than
    `MAX_ROUNDS` or more calls than `MAX_REPEATS` allows.

    Args:
        trace: the steps that were run on a few entries.
        arrays: samples whose entries are asked for, each with the dtype to write.
        numbers: samples of numbers that are asked for, or constants.
    """
    steps, results = needed(trace, [*(array for array, _ in arrays), *numbers])
    wanted, asked = results[: len(arrays)], tuple(results[len(arrays) :])
    outputs = _outputs(steps, wanted, [dtype for _, dtype in arrays])
    levels = _levels(steps)
    count = 1 + max(levels.values(), default=0)
    if count > MAX_ROUNDS:
        return None
    rounds, buffers = [], Counter[int]()
    for level in range(count):
        slots = {
            slot: result
            for slot, result in enumerate(wanted)
            if level
            == (levels.get(result.nr, 0) if isinstance(result, TraceValue) else 0)
        }
        made, needs = _round(steps, levels, level, outputs, slots)
        rounds.append(made)
        buffers |= needs
    calls = sum(len(each.work) for each in rounds)
    if calls > MAX_REPEATS * len(steps) + len(arrays):
        return None
    return TilePlan(tuple(rounds), dict(buffers), asked)


def _round(
    steps: dict[int, TraceStep],
    levels: dict[int, int],
    level: int,
    outputs: dict[int, Output],
    wanted: dict[int, Operand],
) -> tuple[Round, Counter[int]]:
    """Return the pass that computes the values of a level (see `_levels`) on tiles, and
    the number of buffers that it needs, by the bytes of an entry.

    Args:
        outputs: the outputs that steps write to directly.
        wanted: the results of the level, by the numbers of their outputs.
    """
    following = {
        nr: step
        for nr, step in steps.items()
        if levels[nr] == level + 1 and not step.entries
    }
    added = [nr for nr, step in following.items() if _adds_entries(steps, step)]
    asked = [r for r in wanted.values() if isinstance(r, TraceValue)]
    asked += map(TraceValue, added)
    given: dict[int, InputTile | Spread] = {}
    done: set[int] = set()
    while asked:
        nr = asked.pop().nr
        step = steps.get(nr)
        if step is None:
            given[nr] = InputTile(nr)
        elif step.function is spread:
            given[nr] = Spread(step.operands[0])
        elif nr not in done and (
            levels[nr] == level or nr not in outputs
            if step.entries
            else levels[nr] > level
        ):  # no earlier round has computed it
            done.add(nr)
            asked += [o for o in step.operands if isinstance(o, TraceValue)]
    order = sorted(done)
    last = {
        o.nr: nr
        for nr in order
        for o in steps[nr].operands
        if isinstance(o, TraceValue)
    }
    for result in wanted.values():
        if isinstance(result, TraceValue):
            last.pop(result.nr, None)  # not freed: it is read after all steps
    ends: dict[int, list[int]] = defaultdict(list)
    for value, reader in last.items():
        ends[reader].append(value)
    written: dict[int, Output | Buffer] = dict(outputs)
    free: dict[int, list[int]] = defaultdict(list)
    counts = Counter[int]()

    def place(operand: Operand) -> Place:
        if not isinstance(operand, TraceValue):
            return operand
        return written.get(operand.nr) or given.get(operand.nr, operand)

    def let_go(nr: int) -> None:
        """Free the buffers of the values that a step is the last to read."""
        for value in ends.pop(nr, ()):
            held = written.get(value)
            if isinstance(held, Buffer):
                free[held.dtype.itemsize].append(held.nr)

    work, sums = [], []
    for nr in order:
        step = steps[nr]
        reads = tuple(map(place, step.operands))
        if step.function in ROUNDED:
            let_go(nr)
        if step.entries and step.dtype is not None:
            size = step.dtype.itemsize
            if nr not in written:
                if not free[size]:
                    free[size].append(counts[size])
                    counts[size] += 1
                written[nr] = Buffer(free[size].pop(), step.dtype)
            work.append(Work(into(step), reads, written[nr]))
        else:
            function = partial(step.function, **dict(step.options))
            work.append(Work(function, reads, None))
            sums.append(TraceValue(nr))
        let_go(nr)
    for slot, result in wanted.items():
        if place(result) != Output(slot):
            work.append(Work(copied, (place(result),), Output(slot)))
    tail = {TraceValue(nr): step for nr, step in following.items() if nr not in added}
    return Round(tuple(work), tuple(sums), tail), counts


def _outputs(
    steps: dict[int, TraceStep], wanted: Sequence[Operand], dtypes: Sequence[RawDtype]
) -> dict[int, Output]:
    found: dict[int, Output] = {}
    for slot, (result, dtype) in enumerate(zip(wanted, dtypes, strict=True)):
        if not isinstance(result, TraceValue) or result.nr not in steps:
            continue
        made = steps[result.nr]
        if made.dtype == dtype and made.function is not spread:
            found.setdefault(result.nr, Output(slot))
    return found


def _levels(steps: dict[int, TraceStep]) -> dict[int, int]:
    """Return the level of each step's value: the number of passes over all tiles that
    end before it is known or, for an array, before its entries can be computed."""
    levels: dict[int, int] = {}
    for nr, step in steps.items():
        below = [
            levels.get(o.nr, 0) for o in step.operands if isinstance(o, TraceValue)
        ]
        levels[nr] = max(below, default=0) + _adds_entries(steps, step)
    return levels


def _adds_entries(steps: dict[int, TraceStep], step: TraceStep) -> bool:
    """Return whether a step adds up the entries of an array to one number."""
    return not step.entries and any(_has_entries(steps, o) for o in step.operands)


def _has_entries(steps: dict[int, TraceStep], operand: Operand) -> bool:
    """Return whether an operand is an array: uniform, an input, or made by a step."""
    if not isinstance(operand, TraceValue):
        return isinstance(operand, UniformArray)
    return operand.nr not in steps or steps[operand.nr].entries


def needed(
    trace: Trace, wanted: Sequence[Sample | Operand]
) -> tuple[dict[int, TraceStep], list[Operand]]:
    """Return the steps that results need, by the numbers of their values and in order,
    and the results as values or constants.

    Three kinds of steps are left out, which changes no bit of a result: steps that no
    result needs, steps that repeat another on the same operands, and products of a
    value with 1 (they change a signalling NaN alone, which no step computes).

    Args:
        trace: the steps that were run.
        wanted: the results: samples, or constants.
    """
    same: dict[TraceValue, Operand] = {}
    seen: dict[Hashable, TraceValue] = {}
    kept: dict[int, TraceStep] = {}
    for nr, step in enumerate(trace.steps, trace.inputs):
        operands = tuple([same.get(o, o) if isinstance(o, TraceValue) else o
                          for o in step.operands])  # fmt: skip
        here, step = TraceValue(nr), step._replace(operands=operands)
        if step.function is constant:
            same[here] = operands[0]
            continue
        found = _unchanged(trace, step, kept)
        if found is None:
            found = seen.setdefault(step.key(), here)
        if found == here:
            kept[nr] = step
        same[here] = found
    results = [getattr(w, "value", w) for w in wanted]
    results = [same.get(r, r) if isinstance(r, TraceValue) else r for r in results]
    waiting = [r for r in results if isinstance(r, TraceValue)]
    read: set[int] = set()
    while waiting:
        nr = waiting.pop().nr
        if nr in kept and nr not in read:
            read.add(nr)
            waiting += [o for o in kept[nr].operands if isinstance(o, TraceValue)]
    return {nr: step for nr, step in kept.items() if nr in read}, results


NEUTRAL_ONES = {
    np.multiply: (0, 1), operator.mul: (0, 1),
    np.divide: (1,), operator.truediv: (1,), operator.pow: (1,),
}  # fmt: skip
"""Functions of two operands, and the places of an operand 1 that changes nothing."""


def _unchanged(
    trace: Trace, step: TraceStep, kept: dict[int, TraceStep]
) -> TraceValue | None:
    """Return the other operand if a step multiplies a value by 1, divides it by 1 or
    raises it to 1, without a change of its shape or dtype, else None."""
    for place in NEUTRAL_ONES.get(step.function, ()):
        one, other = step.operands[place], step.operands[1 - place]
        number = one.number if isinstance(one, UniformArray) else one
        if isinstance(number, np.ndarray) and not any(number.strides):
            number = number[(0,) * number.ndim]  # one number, broadcast
        if (
            isinstance(number, TraceValue | str)
            or getattr(number, "ndim", False)
            or number != 1
        ):
            continue
        if not isinstance(other, TraceValue) or step.options:
            continue
        if other.nr in kept:
            told = kept[other.nr].dtype, kept[other.nr].shape
        else:
            told = trace.given.get(other.nr, (None, None))
        if told == (step.dtype, step.shape):
            return other
    return None


def into(step: TraceStep) -> Function:
    """Return a function that computes what the step computes, to the last bit, and
    writes it to the memory that it takes as ``out``."""
    function, options = step.function, dict(step.options)
    if isinstance(function, np.ufunc):
        return partial(function, **options) if options else function
    if isinstance(function, Cast):
        return copied
    if function is np.where and len(step.operands) == 3:
        return _choose

    def run(*operands: Raw, out: Host) -> Host:
        out[...] = function(*operands, **options)
        return out

    return run


def copied(x: Raw, *, out: Host) -> Host:
    """Write the entries of ``x``, converted to the dtype of ``out``; return ``out``."""
    np.copyto(out, x, casting="unsafe")
    return out


def _choose(mask: Raw, a: Raw, b: Raw, *, out: Host) -> Host:
    """Write ``a`` where the mask is true and ``b`` elsewhere; return ``out``."""
    if not np.ndim(mask) or chosen(np, mask, a, b, out) is None:
        np.copyto(out, b)
        np.copyto(out, a, where=mask)
    return out
