"""Terms by the block: a large program as columns of numbers that name its terms.

A term is the number of its place on the tape. What an array operation makes is one
block, so a million entries cost a few NumPy calls; a term's value is computed when it
is asked for, once, and nothing is computed that nobody asks for.

Invariant: a term's number is larger than its arguments'; a block never changes. A
derivative goes through what is `live` alone: what lies above the entries marked last.

    tape = Tape()
    x = tape.symbols([0.5, 2.0])
    y = tape.applied("sin", x)
    tape.value(y[0])                        # sin(0.5), 50 digits
    tape.mark(x[:1])
    slopes(tape, y, [1, 1])                 # {x[0]: cos(0.5)}; nothing else is computed
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, Final

import numpy as np

from .blocks import Block, Dots, Functions, Leaves, Stops, Totals
from .precision import EXACT, engine_precision, held, shaking
from .scalars import SCALARS
from .system import RELATIONS, Number, exact, to_context
from .values import slack_of

FIRST: Final = 1024
"""Places that a new tape has room for."""


@dataclass(frozen=True, slots=True)
class Argument:
    """A term as the domain of a function looks at it."""

    tape: Tape
    serial: int

    @property
    def value(self) -> Any:
        return self.tape.value(self.serial)

    @property
    def name(self) -> str:
        return self.tape.block(self.serial).name

    @property
    def content(self) -> Any:
        return self.tape.literal(self.serial)


class Tape:
    """The system whose elements are places on a tape; one per run of a program."""

    def __init__(self, lean: int = 0, dtype: str = "float64") -> None:
        """``lean`` decides ties: 0 as the engine's numbers of ``dtype`` do, -1 as less,
        1 as greater."""
        self.lean = lean
        self.near = engine_precision(dtype)
        """The precision of the engine, with its range."""
        self.shaken = shaking(dtype)
        """The same, in which every number is moved a little; one for each trial."""
        self.unsure = False
        """Whether roundings decide a tie or a jump."""
        self.blocks: list[Block] = []
        self.size = 0
        self.live = np.zeros(FIRST, dtype=bool)
        """Per term whether an entry that is differentiated is below; see `mark`."""
        self.ties: list[tuple[Any, Any]] = []
        """Columns of terms that met, in pairs."""
        self.kinks: dict[int, str] = {}
        self._varies = np.zeros(FIRST, dtype=bool)
        self._plain = np.zeros(FIRST, dtype=bool)
        self._floats = np.zeros(FIRST)
        self._starts: list[int] = []
        self._numbers: dict[Number, int] = {}
        self._values: dict[Any, dict[int, Any]] = {}
        self._largest = 0
        """The power of two of the largest value that has been computed."""

    def block(self, serial: int) -> Block:
        return self.blocks[bisect_right(self._starts, serial) - 1]

    def literal(self, serial: int) -> Any:
        """The number that a term is written as in the program; else None."""
        block = self.block(serial)
        if isinstance(block, Leaves) and block.name == "number":
            return block.numbers[serial - block.start]
        return None

    def floats(self, serials: Any) -> Any:
        """The values of terms that are all inputs or whole numbers, as floats, which
        they are exactly; else None."""
        return self._floats[serials] if self._plain[serials].all() else None

    def mark(self, entries: Any, size: int | None = None) -> None:
        """Make these entries live, and whatever lies above them among the first
        ``size`` terms; nothing else."""
        self.live = np.zeros(self.size, dtype=bool)
        self.live[entries] = True
        for block in self.blocks:
            if size is not None and block.start >= size:
                break
            self.live[block.start : block.start + block.count] |= block.reached(
                self.live
            )

    def cut(self, size: int) -> None:
        """Forget what was made after there were ``size`` terms."""
        while self.blocks and self.blocks[-1].start >= size:
            self.blocks.pop()
            self._starts.pop()
        self.size = size
        self._numbers = {n: i for n, i in self._numbers.items() if i < size}
        for context, values in self._values.items():
            self._values[context] = {i: v for i, v in values.items() if i < size}

    # making terms

    def _push(self, block: Block, varies: Any = None) -> Any:
        self.blocks.append(block)
        self._starts.append(block.start)
        self.size = block.start + block.count
        while self.size > len(self._varies):
            self._varies = _doubled(self._varies)
            self._plain = _doubled(self._plain)
            self._floats = _doubled(self._floats)
        places = slice(block.start, self.size)
        found = block.reached(self._varies) if varies is None else varies
        self._varies[places] = found
        plain = block.floats()
        self._plain[places] = plain is not None
        if plain is not None:
            self._floats[places] = plain
        return np.arange(block.start, self.size, dtype=np.int64)

    def symbols(self, values: Any, varies: bool = True) -> Any:
        """An input's entries; those that may be differentiated vary."""
        return self._push(Leaves(self.size, "symbol", values), varies)

    def applied(self, name: str, *args: Any) -> Any:
        """A scalar function on arrays of terms, which are flat and of one length."""
        return self._push(Functions(self.size, name, args))

    def totals(self, rows: Any) -> Any:
        """The sum of every row of a matrix of terms."""
        return self._push(Totals(self.size, rows))

    def dots(self, left: Any, right: Any) -> Any:
        """The entries of a product of two matrices, row by row."""
        return self._push(Dots(self.size, left, right))

    def stopped(self, serials: Any) -> Any:
        """The same values, through which no derivative is taken."""
        return self._push(Stops(self.size, "stop", (serials,)))

    def tie(self, left: Any, right: Any) -> Any:
        """Take note that terms meet, pair by pair; which of them may come apart."""
        apart = (left != right) & (self._varies[left] | self._varies[right])
        if apart.any():
            self.ties.append((left[apart], right[apart]))
        return apart

    def crowd(self, ties: Sequence[tuple[Any, Any]]) -> list[int]:
        """The terms in ties of more than two: one that varies meets several others."""
        if not ties:
            return []
        left, right = (np.concatenate(side) for side in zip(*ties, strict=True))
        met = np.bincount(np.concatenate([left, right]), minlength=len(self._varies))
        several = (met > 1) & self._varies
        among = several[left] | several[right]
        crowd: list[int] = np.unique([left[among], right[among]]).tolist()
        return crowd

    # the system that `ObjectNamespace` computes with

    def lift(self, number: Number) -> int:
        number = exact(number)
        found = self._numbers.get(number)
        if found is None:
            found = self.size
            self._push(Leaves(found, "number", (number,)), False)
            self._numbers[number] = found
        return found

    def apply(self, name: str, *elements: int) -> int:
        serial = self.size
        self._push(Functions(serial, name, [[e] for e in elements]))
        return serial

    def total(self, elements: Sequence[int]) -> int:
        if len(elements) < 2:
            return elements[0] if elements else self.lift(0)
        return int(self.totals(np.array([elements], dtype=np.int64))[0])

    def value(self, element: int) -> Any:
        return self.value_in(EXACT, element)

    def compare(self, relation: str, a: int, b: int) -> bool:
        left, right = self.value(a), self.value(b)
        holds = RELATIONS[relation]
        slack = self._slack_beside(a, abs(left - right))
        slack += self._slack_beside(b, abs(left - right))
        meet = abs(left - right) <= slack if slack else left == right
        self.unsure = self.unsure or bool(meet and slack)
        if meet and (self.tie(np.array([a]), np.array([b]))[0] or slack):
            if self.lean or not slack:
                return bool(holds(self.lean, 0))
            left, right = self.rounded(a), self.rounded(b)
        return bool(holds(left, right))

    def slack(self, element: int) -> Any:
        """How far the engine's number may lie from a term's value."""
        trials = [self.value_in(c, element) for c in (self.near, *self.shaken)]
        return slack_of(self.value(element), trials)

    def moved(self, element: int) -> list[Any]:
        """A term's value in trials where every step is moved by some roundings."""
        return [self.value_in(context, element) for context in self.shaken]

    def _slack_beside(self, element: int, distance: Any) -> Any:
        """The slack of a term; 0 where it is plainly less than a distance.

        A cancellation that takes half of all digits is looked at; who loses more on the
        way to a number that stays far from it is beyond a tape.
        """
        if self._plain[element] or not EXACT.isfinite(distance):
            return EXACT.zero
        if distance and EXACT.mag(distance) > self._largest - self.near.prec // 2:
            return EXACT.zero
        return self.slack(element)

    def rounded(self, element: int) -> Any:
        """A term's value as the engine's numbers have it."""
        return EXACT.mpf(self.value_in(self.near, element))

    def fixed(self, element: int, value: Number) -> int:
        return self.lift(value)

    def choice(self, pick: Callable[[], int]) -> int:
        return pick()

    def stop(self, element: int) -> int:
        return int(self.stopped(np.array([element], dtype=np.int64))[0])

    def kink(self, element: int, what: str) -> None:
        self.unsure = self.unsure or bool(self.slack(element))
        self.kinks.setdefault(int(element), what)

    def edges(self, size: int) -> Iterator[tuple[int, str]]:
        """The live terms, of the first ``size``, that lie where a function of them has
        no derivative, and which."""
        for block in self.blocks:
            if block.start >= size or not isinstance(block, Functions):
                continue
            live = self.live[block.start : block.start + block.count]
            for place in np.flatnonzero(live).tolist():
                yield from self._edge(block, place)

    def _edge(self, block: Functions, place: int) -> Iterator[tuple[int, str]]:
        scalar = SCALARS.get(block.name)
        if scalar is None:
            return
        seen = [Argument(self, serial) for serial in block.arguments(place)]
        for position, relation, bound in scalar.domain(*seen):
            argument = seen[position]
            if relation == "==":
                continue
            gap = abs(argument.value - bound)
            if gap <= self._slack_beside(argument.serial, gap):
                yield argument.serial, f"{block.name} has no derivative at {bound}"

    # values

    def value_in(self, context: Any, root: int) -> Any:
        """A term's value in a precision, and on the way that of all it is made of."""
        values = self._values.setdefault(context, {})
        found = values.get(root)
        if found is not None:
            return found
        stack = [root]
        while stack:
            serial = stack[-1]
            if serial in values:
                stack.pop()
                continue
            block = self.block(serial)
            args = block.arguments(serial - block.start)
            missing = [a for a in args if a not in values]
            if missing:
                stack += missing
                continue
            place = serial - block.start
            value = block.value(context, place, [values[a] for a in args])
            values[serial] = value
            if context is EXACT:
                self._largest = max(self._largest, _power(value))
            stack.pop()
        return values[root]


def _power(value: Any) -> int:
    """The power of two that a number is smaller than; 0 of those without one."""
    _, man, exp, bits = value._mpf_
    return exp + bits if man else 0


def _doubled(column: Any) -> Any:
    return np.concatenate([column, np.zeros_like(column)])


@dataclass(frozen=True, slots=True)
class Reading:
    """A tape in one precision."""

    tape: Tape
    context: Any

    def value(self, serial: int) -> Any:
        return self.tape.value_in(self.context, serial)

    def literal(self, serial: int) -> Any:
        return self.tape.literal(serial)


def slopes(
    tape: Tape, outputs: Any, cotangents: Sequence[float], context: Any = EXACT
) -> dict[int, Any]:
    """The derivative of the sum of ``cotangent * output`` in every live entry."""
    reading = Reading(tape, context)
    arrived: dict[int, Any] = {}
    waiting: list[int] = []
    found: dict[int, Any] = {}

    def send(serial: int, amount: Any) -> None:
        if serial in arrived:
            arrived[serial] += amount
        else:
            arrived[serial] = amount
            heappush(waiting, -serial)

    for place in np.flatnonzero(tape.live[outputs]).tolist():
        send(int(outputs[place]), to_context(context, exact(cotangents[place])))
    while waiting:
        serial = -heappop(waiting)
        g = arrived.pop(serial)
        block = tape.block(serial)
        if block.name == "symbol":
            found[serial] = g
            continue
        place = serial - block.start
        for position, argument in block.carrying(place, tape.live):
            step = block.slope(reading, place, position)
            send(argument, g if step is context.one else held(context, g * step))
    return found


def entries_below(tape: Tape, *roots: int) -> set[int]:
    """The live entries that terms are made of."""
    found: set[int] = set()
    seen: set[int] = set()
    stack = [root for root in roots if tape.live[root]]
    while stack:
        serial = stack.pop()
        if serial in seen:
            continue
        seen.add(serial)
        block = tape.block(serial)
        if block.name == "symbol":
            found.add(serial)
        stack += [a for _, a in block.carrying(serial - block.start, tape.live)]
    return found
