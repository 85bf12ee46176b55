"""Where the values of a recording lie while its steps are done to tiles.

Invariant: a step writes where it reads only if each entry is rounded correctly, so that
no other loop could give other bits; what is asked for is written where it is wanted,
without a copy where it is a value of its own.

    made = plan(recording, [(dx, dx.dtype), (dy, dy.dtype)], [total])
    made.work, made.buffers
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gradcli.lang.kernels.into import copied, into
from gradcli.lang.kernels.needed import needed
from gradcli.lang.kernels.traced import (
    Function,
    Recording,
    Step,
    Traced,
    Uniform,
    Value,
)

ROUNDED = {
    np.add, np.subtract, np.multiply, np.divide, np.negative, np.square, np.sqrt,
}  # fmt: skip
"""Functions whose results IEEE 754 prescribes to the last bit."""


class Input(NamedTuple):
    """A tile of an array that is read."""

    nr: int


class Output(NamedTuple):
    """A tile of an array that is asked for."""

    nr: int


class Buffer(NamedTuple):
    """Memory for the entries of a tile; its number is among those of its item size."""

    nr: int
    dtype: np.dtype[Any]


class Work(NamedTuple):
    """One call for each tile.

    reads   its operands: inputs, outputs, buffers and constants
    writes  where its result goes; None: it is a number, and all tiles' are added up
    """

    function: Function
    reads: tuple[Any, ...]
    writes: Output | Buffer | None


class Plan(NamedTuple):
    """What is done to each tile, and what to the sums of all tiles.

    work     for each tile, in order
    buffers  how many there are, by the bytes of an entry
    sums     the values that are sums over all tiles, in the order of the work
    tail     what is done to these, by the values that it gives
    numbers  the values, or constants, that are the numbers asked for
    """

    work: tuple[Work, ...]
    buffers: dict[int, int]
    sums: tuple[Value, ...]
    tail: dict[Value, Step]
    numbers: tuple[Any, ...]


def plan(
    recording: Recording,
    arrays: Sequence[tuple[Traced, np.dtype[Any]]],
    numbers: Sequence[Any],
) -> Plan:
    """What to do to tiles for results of a recording.

    Args:
        recording: what was done to a few entries.
        arrays: of which each entry is asked for, and the types to write them in.
        numbers: traced numbers, or constants.
    """
    dtypes = [dtype for _, dtype in arrays]
    steps, results = needed(recording, [*(array for array, _ in arrays), *numbers])
    wanted = results[: len(arrays)]
    places = _Places(recording.inputs, steps, wanted, dtypes)
    work, sums, tail = [], [], {}
    for nr, step in steps.items():
        reads = tuple(map(places.at, step.operands))
        if step.function in ROUNDED:
            places.let_go(nr)
        if step.entries:
            work.append(Work(into(step), reads, places.new(nr)))
        elif any(isinstance(r, Input | Output | Buffer | Uniform) for r in reads):
            function = partial(step.function, **dict(step.options))
            work.append(Work(function, reads, None))
            sums.append(Value(nr))
        else:
            tail[Value(nr)] = step
        places.let_go(nr)
    for slot, result in enumerate(wanted):
        place = places.at(result)
        if place != Output(slot):
            work.append(Work(copied, (place,), Output(slot)))
    asked = tuple(results[len(arrays) :])
    return Plan(tuple(work), dict(places.counts), tuple(sums), tail, asked)


class _Places:
    """Where values lie, while steps are looked at in order."""

    def __init__(
        self,
        inputs: int,
        steps: dict[int, Step],
        wanted: Sequence[Any],
        dtypes: Sequence[np.dtype[Any]],
    ) -> None:
        self.counts: dict[int, int] = defaultdict(int)
        self._free: dict[int, list[int]] = defaultdict(list)
        self._steps = steps
        self._where: dict[int, Any] = {nr: Input(nr) for nr in range(inputs)}
        for slot, (result, dtype) in enumerate(zip(wanted, dtypes, strict=True)):
            made = steps.get(result.nr) if isinstance(result, Value) else None
            if made is not None and made.dtype == dtype:
                self._where.setdefault(result.nr, Output(slot))
        last = {
            o.nr: nr
            for nr, step in steps.items()
            for o in step.operands
            if isinstance(o, Value)
        }
        for result in wanted:
            if isinstance(result, Value):
                last.pop(result.nr, None)  # copied from where it is, at the end
        self._ends: dict[int, list[int]] = defaultdict(list)
        for value, reader in last.items():
            self._ends[reader].append(value)

    def at(self, operand: Any) -> Any:
        """Where a value lies; a constant, or a number's value, as it is."""
        if isinstance(operand, Value):
            return self._where.get(operand.nr, operand)
        return operand

    def new(self, nr: int) -> Any:
        """Where a step writes."""
        if nr not in self._where:
            dtype = self._steps[nr].dtype
            free = self._free[dtype.itemsize]
            if not free:
                free.append(self.counts[dtype.itemsize])
                self.counts[dtype.itemsize] += 1
            self._where[nr] = Buffer(free.pop(), dtype)
        return self._where[nr]

    def let_go(self, nr: int) -> None:
        """Let what a step was the last to read be written over."""
        for value in self._ends.pop(nr, ()):
            place = self._where.get(value)
            if isinstance(place, Buffer):
                self._free[place.dtype.itemsize].append(place.nr)
