"""The kernel, which runs a plan over the tiles of arrays on all available cores.

Invariant: results are those of one run over the whole arrays, to the last bit, on any
number of cores; sums are added in the order of pairwise summation.

    Kernel(made, arrays, outputs).run()        # fills outputs, returns the numbers
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from threading import local
from typing import TypeAlias

import numpy as np

from ..engine.raw import Host, Raw
from . import tiles
from .plan import Buffer, InputTile, Output, Place, Round, Spread, TilePlan
from .tracing import Function, Operand, TraceValue, UniformArray

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
                benches = _Benches(self, each, known)
                found = tiles.over_parts(count, benches.run, self.tile_entries)
                known |= zip(each.sums, tiles.totals(found, count), strict=True)
            with np.errstate(all="ignore"):
                for value, step in each.tail.items():
                    operands = [_read(o, known) for o in step.operands]
                    known[value] = step.function(*operands, **dict(step.options))
        return [_number(number, known) for number in self.plan.numbers]


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
