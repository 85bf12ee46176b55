"""Traces run over the tiles of arrays on all cores: the plan of their steps and of the
memory of their values, and the kernel, which runs the plan.

Invariants: results are those of one run over the whole arrays, to the last bit, on any
number of cores: an array is cut where NumPy's pairwise summation halves it, so that the
sums of the parts add up to the sum of the whole. A step writes over its operand only if
its function is rounded correctly, so that its bits cannot depend on the memory; a
result that a step computes is written to its output directly, without a copy.

A program is traced twice, on different entries and numbers of entries; the trace is
used only if both are equal, so that no step depends on the entries or their number.

    made = traced_plan(program, [x, y], x.shape)
    Kernel(made, [x, y], outputs).run()        # fills outputs, returns the numbers
"""

from __future__ import annotations

import operator
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial
from threading import local
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..engine.devices import NUMPY, host
from ..engine.parts import cores, share_out
from ..engine.raw import Host, Raw, RawDtype
from .tracing import (
    Cast,
    Function,
    Operand,
    Sample,
    SampleNamespace,
    Trace,
    TraceStep,
    TraceValue,
    UniformArray,
    constant,
    constant_key,
    spread,
)

SAMPLE_ENTRIES = (61, 67)
"""Numbers of entries that the two traces are run on: the arrays' first, and last."""

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


class Results(NamedTuple):
    """The results of a program on samples.

    arrays   samples whose entries are asked for, each with the dtype of its result
    numbers  samples of numbers that are asked for, or constants
    """

    arrays: list[tuple[Sample, RawDtype]]
    numbers: list[Sample | Operand]


def traced_plan(
    program: Callable[[SampleNamespace, list[Sample]], Results],
    arrays: Sequence[Raw],
    shape: tuple[int, ...],
    make: Callable[..., Any] | None = None,
) -> Any:
    """Return the plan of a program on tiles of arrays; None if there is none.

    Args:
        program: the function to trace; it takes a namespace and the samples.
        arrays: its arguments, each of one dimension, of more entries than a sample.
        shape: the shape that the program's arrays have.
        make: what makes a plan of a trace; None: `plan`.
    """
    few, more = SAMPLE_ENTRIES
    made: list[tuple[Trace, Results]] = []
    for cut in (slice(0, few), slice(-more, None)):
        trace = Trace(shape)
        xp = SampleNamespace(NUMPY, trace)
        given = [trace.input(host(a[cut]), xp) for a in arrays]
        try:
            with np.errstate(all="ignore"):
                made.append((trace, program(xp, given)))
        except Exception:
            # Any error is raised again when the program runs on whole arrays.
            return None
        if trace.refused:
            return None
    if _trace_key(*made[0]) != _trace_key(*made[1]):
        return None
    trace, results = made[0]
    return (make or plan)(trace, results.arrays, results.numbers)


def _trace_key(trace: Trace, results: Results) -> tuple[object, ...]:
    """Return a key of a trace and its results; equal traces have equal keys."""
    steps = [step.key() for step in trace.steps]
    asked = [(array.value, dtype) for array, dtype in results.arrays]
    numbers = [
        number.value if isinstance(number, Sample) else constant_key(number)
        for number in results.numbers
    ]
    return trace.inputs, steps, asked, numbers


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
    levels = levels_of(steps)
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
    """Return the pass that computes the values of a level (see `levels_of`) on tiles,
    and the number of buffers that it needs, by the bytes of an entry.

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


def levels_of(steps: dict[int, TraceStep]) -> dict[int, int]:
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
    if not np.ndim(mask) or chosen(mask, a, b, out) is None:
        np.copyto(out, b)
        np.copyto(out, a, where=mask)
    return out


_BITS = {np.dtype("float32"): "i4", np.dtype("float64"): "i8"}
"""Integer types by the float types of the same width."""


def chosen(mask: Raw, a: Any, b: Any, out: Host) -> Host | None:
    """Write ``a`` where a mask is true, else ``b``, chosen by bits; one may be 0.

    Returns:
        ``out``; None if the operands are not arrays of one shape and type.
    """
    like = b if type(a) is int else a
    bits = _BITS.get(getattr(like, "dtype", None))
    if bits is None or mask.dtype != bool or not mask.flags.c_contiguous:
        return None
    if not (_fits(a, like, mask.shape) and _fits(b, like, mask.shape)):
        return None
    written, ones = out.view(bits), mask.view("i1")
    if type(a) is int:
        written[...] = np.subtract(ones, 1)  # on bytes first, which is faster
        np.bitwise_and(written, b.view(bits), out=written)
        return out
    written[...] = np.negative(ones)
    if type(b) is int:
        np.bitwise_and(written, a.view(bits), out=written)
        return out
    ours, theirs = a.view(bits), b.view(bits)
    np.bitwise_and(written, np.bitwise_xor(ours, theirs), out=written)
    np.bitwise_xor(written, theirs, out=written)
    return out


def _fits(x: Any, like: Raw, shape: tuple[int, ...]) -> bool:
    """Return whether an operand is 0, or a contiguous array like ``like``."""
    if type(x) is int:
        return x == 0
    alike = getattr(x, "shape", None) == shape and x.dtype == like.dtype
    return alike and bool(x.flags.c_contiguous)


Memory: TypeAlias = dict[tuple[int, int], Host]
"""The memory of buffers, by the bytes of an entry and the number of the buffer."""

Held: TypeAlias = Place | None
"""An operand or the memory for a result of a call; None: it is not set yet."""

Put: TypeAlias = Callable[[Held], None]
"""A function that stores an operand, or the memory for a result, for its call."""

Number: TypeAlias = Raw | np.generic | float
"""A single number."""

Known: TypeAlias = dict[TraceValue, Raw]
"""The numbers that are known so far, by the values of the trace that they belong to."""

CACHE_BYTES = 4 << 20
"""Largest memory of a tile's buffers, inputs and outputs together, in bytes."""

TILE_ENTRIES = (1 << 13, 1 << 16)
"""Smallest and largest number of entries of a tile: with fewer, the cost of the calls
dominates; with more, nothing is gained."""

LINE_BYTES = 64
"""Length of a cache line, in bytes; each buffer begins at a multiple of it."""


HALVES_DIVIDE_BY = 8
"""Number of entries; NumPy's pairwise summation cuts at multiples of it."""

Part: TypeAlias = tuple[int, int]
"""The first entry of a part of an array, and the one behind its last."""


class Kernel:
    """A plan with the arrays that it is run on, tile by tile.

    Args:
        plan: the steps that are run.
        arrays: the arrays that are read, each of one dimension, of equal length.
        outputs: the arrays that are written, of that length too.
    """

    def __init__(
        self, plan: TilePlan, arrays: Sequence[Raw], outputs: Sequence[Raw]
    ) -> None:
        self.plan = plan
        self.arrays = arrays
        self.outputs = outputs
        width = sum(size * count for size, count in plan.buffers.items())
        width += sum(a.dtype.itemsize for a in (*arrays, *outputs))
        fewest, most = TILE_ENTRIES
        self.tile_entries = max(fewest, min(CACHE_BYTES // width, most))

    def run(self) -> list[Number]:
        """Write the outputs, and return the numbers that the plan asks for."""
        known: Known = {}
        count = len(self.arrays[0])
        for each in self.plan.rounds:
            if each.work:
                sums = totals(self._over_parts(each, known, count), count)
                known |= zip(each.sums, sums, strict=True)
            with np.errstate(all="ignore"):
                for value, step in each.tail.items():
                    operands = [_read(o, known) for o in step.operands]
                    known[value] = step.function(*operands, **dict(step.options))
        return [_number(number, known) for number in self.plan.numbers]

    def _over_parts(
        self, each: Round, known: Known, count: int
    ) -> dict[Part, list[Raw]]:
        """Run a round on all parts of the arrays; return the sums over each part."""
        benches, found = _Benches(self, each, known), dict[Part, list[Raw]]()

        def run_part(part: Part) -> None:
            found[part] = benches.run(*part)

        share_out([*parts(0, count, self.tile_entries)], run_part, cores())
        return found


class _Benches(local):
    """The calls of a round for each size of tiles; every thread has its own."""

    def __init__(self, kernel: Kernel, each: Round, known: Known) -> None:
        self.made: dict[int, Callable[[int, int], list[Raw]]] = {}
        self.memory = _memory(kernel.plan.buffers, kernel.tile_entries)
        self.of = kernel, each, known

    def run(self, start: int, stop: int) -> list[Raw]:
        """Run the round's work on a tile, and return the sums over its entries."""
        entries = stop - start
        if entries not in self.made:
            self.made[entries] = _bench(*self.of, self.memory, entries)
        return self.made[entries](start, stop)


def _bench(
    kernel: Kernel, each: Round, known: Known, memory: Memory, entries: int
) -> Callable[[int, int], list[Raw]]:
    """Return a function that makes all calls of a round for a tile of ``entries``
    entries, in one thread's memory, and returns the sums over its entries."""
    calls: list[tuple[Function, list[Held], dict[str, Held]]] = []
    cuts: list[tuple[Put, Raw]] = []  # arrays of which each tile takes another part
    for function, reads, writes in each.work:
        operands: list[Held] = [None] * len(reads)
        out: dict[str, Held] = {}
        places: list[tuple[Put, Place]] = [
            (partial(operands.__setitem__, nr), place) for nr, place in enumerate(reads)
        ]
        if writes is not None:
            places.append((partial(out.__setitem__, "out"), writes))
        for put, place in places:
            if isinstance(place, InputTile):
                cuts.append((put, kernel.arrays[place.nr]))
            elif isinstance(place, Output):
                cuts.append((put, kernel.outputs[place.nr]))
            else:
                put(_always(_read(place, known), memory, entries))
        calls.append((function, operands, out))

    def run(start: int, stop: int) -> list[Raw]:
        for put, whole in cuts:
            put(whole[start:stop])
        sums = []
        with np.errstate(all="ignore"):
            for function, operands, out in calls:
                if out:
                    function(*operands, **out)
                else:
                    sums.append(function(*operands))
        return sums

    return run


def _always(place: Place, memory: Memory, entries: int) -> Held:
    """Return an operand that is the same for all tiles: a buffer as an array, a uniform
    array of ``entries`` entries, or a number as it is."""
    if isinstance(place, Buffer):
        size = place.dtype.itemsize
        held: Host = memory[size, place.nr][: entries * size]
        return held.view(place.dtype.str)
    if isinstance(place, UniformArray) and place.stretched:
        return np.broadcast_to(place.number, entries)
    return np.full(entries, place.number) if isinstance(place, UniformArray) else place


def _memory(buffers: dict[int, int], entries: int) -> Memory:
    found = {}
    for size, count in buffers.items():
        for nr in range(count):
            held = np.empty(entries * size + LINE_BYTES, np.uint8)
            start = -held.ctypes.data % LINE_BYTES
            found[size, nr] = held[start : start + entries * size]
    return found


def _read(operand: Place, known: Known) -> Place:
    """Return an operand, with a value of the trace replaced by its known number."""
    if isinstance(operand, Spread):
        return UniformArray(_number(operand.number, known), True)
    return known[operand] if isinstance(operand, TraceValue) else operand


def _number(operand: Operand, known: Known) -> Number:
    if isinstance(operand, TraceValue):
        return known[operand]
    assert operand is not None
    assert not isinstance(operand, UniformArray)
    return operand


def cut(start: int, stop: int) -> int:
    """Return the position at which pairwise summation halves a range."""
    half = (stop - start) // 2
    return start + half - half % HALVES_DIVIDE_BY


def parts(start: int, stop: int, most: int) -> Iterator[Part]:
    """Yield the parts of a range in order, each of ``most`` entries or fewer."""
    waiting = [(start, stop)]
    while waiting:
        first, last = waiting.pop()
        if last - first <= most:
            yield first, last
        else:
            middle = cut(first, last)
            waiting += [(middle, last), (first, middle)]


def totals(sums: Mapping[Part, Sequence[Raw]], count: int) -> list[Raw]:
    """Return the totals of the sums over parts, added as pairwise summation adds."""

    def total(start: int, stop: int) -> Sequence[Raw]:
        if (start, stop) in sums:
            return sums[start, stop]
        middle = cut(start, stop)
        halves = total(start, middle), total(middle, stop)
        return [a + b for a, b in zip(*halves, strict=True)]

    with np.errstate(all="ignore"):
        return list(total(0, count))
