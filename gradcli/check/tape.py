"""Tapes: the terms of a large program, in one block for each array operation.

A term is the number of its position on the tape. An array operation makes one block,
which is asked for nothing but the arguments of its positions, so a million entries cost
a few NumPy calls; a term's value is computed once, and only when it is needed.

Invariant: a term's number is larger than its arguments'; a block never changes. A
derivative goes through `live` terms alone: those that depend on entries marked last.

    tape = Tape()
    x = tape.symbols([0.5, 2.0])
    y = tape.applied("sin", x)
    tape.value(y[0])                        # sin(0.5), a ball
    tape.mark(x[:1])
    tape.evaluation.gradient(y.tolist(), [1, 1], x[:1].tolist())     # [cos(0.5)]
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from ..engine.raw import Host, Run
from ..ops.exact import Exact
from ..ops.records import compared_record
from ..ops.types import Dims, Shape
from . import decided
from .balls import LEAVES, LINEAR, ZERO, Ball, to_float
from .decided import Deciding, Extreme, Way
from .namespace import CALLED, OBJECT, ObjectArray, ObjectNamespace
from .rounding import Roundings
from .system import RELATIONS, NoMeaning, Number

FIRST_TAPE_STEPS: Final = 1024

DOUBTFUL_RELATIVE_GAP: Final = 2.0**-26
"""Distance from a tie, relative to the largest value compared so far, above which a
tape takes rounding for harmless: it assumes that a program loses less than half of all
digits on the way to a number."""

MAX_INTEGER_OF_FLOATS: Final = 2**53
"""Largest integer below which every integer is a float64."""

Column: TypeAlias = "Sequence[int] | Host"
"""A column of terms, each given by its number on the tape."""


class TermBlock:
    """Terms of one function, numbered from ``start`` on.

    args     the terms that the function is applied to, a row for each argument
    numbers  values of leaves: an input's floats, or one number that a program contains
    """

    __slots__ = ("args", "count", "name", "numbers", "start")

    def __init__(
        self, start: int, name: str, args: Host, numbers: Sequence[Number] | Host = ()
    ) -> None:
        self.start = start
        self.name = name
        self.args = args
        self.numbers = numbers
        self.count: int = args.shape[1]

    @property
    def span(self) -> slice:
        """The slice of the tape that the block's terms take."""
        return slice(self.start, self.start + self.count)

    @property
    def steps(self) -> int:
        """Number of steps that computing the values of all positions takes."""
        return int(self.args.size) if self.name == "total" else self.count

    def column(self, position: int) -> Host:
        """Return the terms that are the arguments of a position."""
        column: Host = self.args[:, position]
        return column

    def reached(self, flags: Host) -> Host:
        """Return a mask of the positions that a derivative by flagged terms goes on
        to."""
        if self.name == "stop":
            return np.zeros(self.count, dtype=bool)
        found: Host = np.logical_or.reduce(flags[self.args])
        return found

    def below(self, positions: Host) -> Host:
        """Return the arguments of several positions, in one array."""
        return self.args[:, positions].reshape(-1)

    def needed(self, live: Host) -> Host:
        """Return the terms whose values the derivatives through live terms need."""
        if self.name not in ("mul", "div"):
            return self.below(np.flatnonzero(live[self.span]))
        # The slope of a*b by one factor is the other one; that of a/b by a needs b.
        left, right = self.args
        below = live[left] | live[right] if self.name == "div" else live[left]
        return np.concatenate([left[live[right]], right[below]])

    def carrying(self, position: int, live: Host) -> list[tuple[int, int]]:
        """Return the live arguments of a position, as pairs of place and term."""
        if self.name == "stop":
            return []
        column = self.column(position)
        pairs = zip(column.tolist(), live[column].tolist(), strict=True)
        return [(place, term) for place, (term, lives) in enumerate(pairs) if lives]

    def floats(self) -> Any:
        """Return the values if they are exact floats, known without computing."""
        if self.name == "symbol":
            return self.numbers
        if self.name != "number":
            return None
        (number,) = self.numbers
        integer = isinstance(number, int) and abs(number) <= MAX_INTEGER_OF_FLOATS
        return float(number) if integer else None


class Dots(TermBlock):
    """A block of the entries of ``left @ right``, row by row."""

    __slots__ = ("left", "right")

    def __init__(self, start: int, left: Host, right: Host) -> None:
        count = len(left) * right.shape[1]
        super().__init__(start, "dot", np.empty((0, count), dtype=np.int64))
        self.left = left
        self.right = right

    @property
    def steps(self) -> int:
        return self.count * len(self.right)

    def column(self, position: int) -> Host:
        """Return the row of ``left`` and then the column of ``right`` of a position."""
        row, column = divmod(position, self.right.shape[1])
        return np.concatenate([self.left[row], self.right[:, column]])

    def reached(self, flags: Host) -> Host:
        rows, columns = flags[self.left].any(axis=1), flags[self.right].any(axis=0)
        return np.logical_or.outer(rows, columns).reshape(-1)

    def below(self, positions: Host) -> Host:
        rows, columns = np.divmod(positions, self.right.shape[1])
        left, right = self.left[np.unique(rows)], self.right[:, np.unique(columns)]
        return np.concatenate([left.reshape(-1), right.reshape(-1)])


@compared_record
class Argument:
    """A term with the attributes that a row's bounds read of an argument."""

    tape: Tape
    serial: int

    def __index__(self) -> int:
        return self.serial

    @property
    def value(self) -> Ball:
        return self.tape.value(self.serial)

    @property
    def name(self) -> str:
        return self.tape.name(self.serial)

    @property
    def content(self) -> Number | None:
        return self.tape.leaf(self.serial) if self.name == "number" else None


class Tape(Deciding[int]):
    """The system whose elements are positions on a tape; one per run of a program."""

    roundings: Roundings

    def __init__(self, tie_break: int | Way = 0, dtype: str = "float64") -> None:
        super().__init__(tie_break, dtype)
        self.blocks: list[TermBlock] = []
        self.steps = 0
        self.live = np.zeros(FIRST_TAPE_STEPS, dtype=bool)
        """Mask of the terms that depend on an entry marked by `mark`."""
        self.ties: list[tuple[Host, Host]] = []
        """Pairs of columns of terms, each term equal to that beside it."""
        self._varies = np.zeros(FIRST_TAPE_STEPS, dtype=bool)
        self._plain = np.zeros(FIRST_TAPE_STEPS, dtype=bool)
        self._floats = np.zeros(FIRST_TAPE_STEPS)
        self._starts: list[int] = []
        self._largest = 0.0
        """Largest value that was compared."""

    # the graph

    def block(self, step: int) -> TermBlock:
        return self.blocks[bisect_right(self._starts, step) - 1]

    def name(self, step: int) -> str:
        return self.block(step).name

    def args(self, step: int) -> Sequence[int]:
        block = self.block(step)
        arguments: list[int] = block.column(step - block.start).tolist()
        return arguments

    def leaf(self, step: int) -> Number:
        block = self.block(step)
        number = block.numbers[step - block.start]
        return float(number) if block.name == "symbol" else number

    def carrying(self, step: int) -> Iterable[tuple[int, int]]:
        block = self.block(step)
        return block.carrying(step - block.start, self.live)

    def moved(self, leaves: Host) -> Host:
        """Return how far leaves move on the way by which ties are decided."""
        way = self.tie_break if isinstance(self.tie_break, Mapping) else {}
        by = [way.get(step, 0.0) for step in leaves.reshape(-1).tolist()]
        return np.reshape(by, leaves.shape)

    def floats(self, serials: Host) -> Host | None:
        """Return the values of terms as floats, if all are exact as such; else None."""
        return self._floats[serials] if self._plain[serials].all() else None

    def varies(self, serials: Column) -> Host:
        """Return a mask of the terms that a derivative by an input may go through."""
        return self._varies[serials]

    def mark(self, entries: Host, size: int | None = None) -> None:
        """Make live these entries and the terms, among the first ``size``, that need
        them."""
        self.live = np.zeros(self.steps, dtype=bool)
        self.live[entries] = True
        for block in self.blocks:
            if size is not None and block.start >= size:
                break
            self.live[block.span] |= block.reached(self.live)
        self.evaluation.forget_orders()

    def work(self, roots: Sequence[int] | Host = ()) -> int:
        """Return the number of steps that the values of ``roots`` take, or, without
        roots, that the derivatives through live terms take."""
        needed = np.zeros(self.steps, dtype=bool)
        needed[np.asarray(roots, dtype=np.int64)] = True
        count = 0
        for block in reversed(self.blocks):
            if not len(roots) and block.name not in LINEAR | LEAVES:
                needed[block.needed(self.live)] = True
            positions = np.flatnonzero(needed[block.span])
            if len(positions):
                needed[block.below(positions)] = True
                count += len(positions) * block.steps // block.count
        return count + (0 if len(roots) else int(self.live.sum()))

    def cut(self, size: int) -> None:
        """Forget the terms made after the first ``size``."""
        while self.blocks and self.blocks[-1].start >= size:
            self.blocks.pop()
            self._starts.pop()
        self.steps = size
        if size < len(self._varies) // 2:
            self._resize(max(size, FIRST_TAPE_STEPS))
        self._numbers = {n: i for n, i in self._numbers.items() if i < size}
        self._exact = {n: e for n, e in self._exact.items() if e[1] < size}
        self.lost = {i: e for i, e in self.lost.items() if i < size}
        self.evaluation.forget(size)
        self.roundings.forget(size)
        self._line = None

    def _resize(self, size: int) -> None:
        for name in ("_varies", "_plain", "_floats"):
            column = getattr(self, name)[:size]
            missing = size - len(column)
            setattr(
                self, name, np.concatenate([column, np.zeros(missing, column.dtype)])
            )

    # making terms

    def _push(self, block: TermBlock, varies: object = None) -> Host:
        self.blocks.append(block)
        self._starts.append(block.start)
        self.steps = block.start + block.count
        if self.steps > len(self._varies):
            self._resize(self.steps + self.steps // 4)
        positions = slice(block.start, self.steps)
        found = block.reached(self._varies) if varies is None else varies
        self._varies[positions] = found
        plain = block.floats()
        self._plain[positions] = plain is not None
        if plain is not None:
            self._floats[positions] = plain
        return np.arange(block.start, self.steps, dtype=np.int64)

    def symbols(self, values: Host, varies: bool = True) -> Host:
        """Return the terms of an input's entries; ``varies``: they have derivatives."""
        return self._leaves("symbol", values, varies)

    def _leaves(
        self, name: str, numbers: Sequence[Number] | Host, varies: bool
    ) -> Host:
        none = np.empty((0, len(numbers)), dtype=np.int64)
        return self._push(TermBlock(self.steps, name, none, numbers), varies)

    def applied(self, name: str, *args: Column) -> Host:
        """Return the terms of a scalar function of columns of terms of one length."""
        return self._push(TermBlock(self.steps, name, np.array(args)))

    def totals(self, rows: Host) -> Host:
        """Return the sum of every row of a matrix of terms."""
        return self._push(TermBlock(self.steps, "total", rows.T))

    def dots(self, left: Host, right: Host) -> Host:
        """Return the entries of a product of two matrices, row by row."""
        return self._push(Dots(self.steps, left, right))

    def stopped(self, serials: Host) -> Host:
        """Return the same values, through which no derivative is taken."""
        return self.applied("stop", serials)

    def tie(self, left: Host, right: Host) -> Host:
        """Note pairs of equal terms; return a mask of those that an input may part."""
        apart: Host = (left != right) & (self._varies[left] | self._varies[right])
        if apart.any():
            self.ties.append((left[apart], right[apart]))
        return apart

    def tied_pairs(self) -> list[tuple[Host, Host]]:
        """Return the ties so far, as pairs of columns."""
        return list(self.ties)

    def live_ties(self, ties: Sequence[tuple[Host, Host]]) -> list[tuple[int, int]]:
        """Return the ties that an entry marked last may part, as pairs of steps."""
        return [
            pair
            for left, right in ties
            for among in (self.live[left] | self.live[right],)
            for pair in zip(left[among].tolist(), right[among].tolist(), strict=True)
        ]

    def deciding(self) -> list[int]:
        """Return nothing: it is not known which steps decided a branch."""
        return []

    def outside(self, roots: Sequence[int]) -> frozenset[int]:
        """Return nothing: domains are not examined."""
        return frozenset()

    def crowd(self, ties: Sequence[tuple[object, object]]) -> list[int]:
        """Return the terms of ties in which one term is equal to several others."""
        if not ties:
            return []
        left, right = (np.concatenate(side) for side in zip(*ties, strict=True))
        met = np.bincount(np.concatenate([left, right]), minlength=len(self._varies))
        several = (met > 1) & self._varies
        among = several[left] | several[right]
        crowd: list[int] = np.unique([left[among], right[among]]).tolist()
        return crowd

    # the system that `ObjectNamespace` computes with

    def written(self, number: Number) -> int:
        return int(self._leaves("number", (number,), False)[0])

    def apply(self, name: str, *elements: int) -> int:
        return int(self.applied(name, *[[e] for e in elements])[0])

    def total(self, elements: Sequence[int]) -> int:
        if len(elements) < 2:
            return elements[0] if elements else self.lift(0)
        return int(self.totals(np.array([elements], dtype=np.int64))[0])

    def is_constant(self, element: int) -> bool:
        return not self._varies[int(element)]

    def note_tie(self, a: int, b: int, slack: float, side: int) -> bool:
        return bool(self.tie(np.array([int(a)]), np.array([int(b)]))[0])

    def slack(self, element: int, distance: Ball = ZERO) -> float:
        """Return how far the engine's number may lie from a term's value; 0 where that
        is taken to be less than ``distance``."""
        if self._plain[int(element)] or not distance.is_finite():
            return 0.0
        here = abs(to_float(self.value(element)))
        self._largest = max(self._largest, here if here == here else 0.0)
        if abs(to_float(distance)) > DOUBTFUL_RELATIVE_GAP * self._largest:
            return 0.0
        return self.roundings.slack(int(element))

    def stop(self, element: int) -> int:
        return int(self.stopped(np.array([element], dtype=np.int64))[0])

    def edges(self, size: int) -> Iterator[tuple[int, str]]:
        """Yield the arguments at which a live function, among the first ``size`` terms,
        has no derivative, each with words that say so."""
        for block in self.blocks:
            if block.start >= size or block.name in _SMOOTH:
                continue
            live = self.live[block.span]
            for position in np.flatnonzero(live).tolist():
                steps = block.column(position).tolist()
                seen = [Argument(self, step) for step in steps]
                for argument, what in self.edges_of(block.name, seen):
                    yield int(argument), what


_SMOOTH: Final = LINEAR | LEAVES | {"dot"}
"""Names of steps that have a derivative everywhere."""


INSIDE = "derivatives inside a large program are not checked"
"""Reason for which a program with derivatives in it is not run on a tape."""


class TapeNamespace(ObjectNamespace):
    """The namespace in which a program runs on a tape."""

    def __init__(self, tape: Tape) -> None:
        super().__init__(tape)
        self.tape = tape
        for name, scalar in CALLED.items():
            setattr(self, name, self._block(scalar))
        for relation in RELATIONS.values():
            slowly = getattr(self, relation.__name__)
            setattr(self, relation.__name__, self._comparison(relation, slowly))

    def _block(self, name: str) -> Run:
        slowly = getattr(self, name) if name in decided.NUMERIC else None

        def run(*operands: object) -> Any:
            arrays = np.broadcast_arrays(*[self.elements(o) for o in operands])
            if slowly and not any(self.tape.varies(a).any() for a in arrays):
                return slowly(*operands)
            made = self.tape.applied(name, *[a.reshape(-1) for a in arrays])
            return self._of(made.reshape(arrays[0].shape))

        return run

    def elements(self, x: object) -> Host:
        if isinstance(x, ObjectArray | Exact | list):
            return np.asarray(super().elements(x), dtype=np.int64)
        array = np.asarray(x)
        if array.dtype == OBJECT:
            return super().elements(array).astype(np.int64)
        if array.size and (array == array.flat[0]).all():
            return np.full(array.shape, self.tape.lift(array.flat[0].item()))
        numbers, inverse = np.unique(array, return_inverse=True)
        lifted = [self.tape.lift(number) for number in numbers.tolist()]
        return np.array(lifted, dtype=np.int64)[inverse].reshape(array.shape)

    def _of(self, data: object) -> ObjectArray:
        return super()._of(np.asarray(data).astype(np.int64))

    def _stopped(self, steps: Host) -> Host:
        return self.tape.stopped(steps.reshape(-1)).reshape(steps.shape)

    def sum(self, x: object, dim: Dims = None, keepdim: bool = False) -> ObjectArray:
        rows, shape, full = self._rows(x, dim)
        made = self.tape.totals(rows.reshape(-1, rows.shape[-1]))
        return self._of(made.reshape(full if keepdim else shape))

    def matmul(self, a: object, b: object) -> Any:
        left, right = self.elements(a), self.elements(b)
        if left.ndim == 2 and right.ndim == 2 and left.shape[1] == right.shape[0]:
            made = self.tape.dots(left, right)
            return self._of(made.reshape(left.shape[0], right.shape[1]))
        return super().matmul(a, b)

    def _comparison(self, relation: Run, slowly: Run) -> Run:
        """Return a comparison that is done at once where all entries are floats."""

        def run(left: object, right: object) -> Any:
            steps = np.broadcast_arrays(self.elements(left), self.elements(right))
            a, b = map(self.tape.floats, steps)
            if a is None or b is None:
                return slowly(left, right)
            met = np.asarray(a == b)
            met[met] = self.tape.tie(*[p[met] for p in steps])
            way: Any = self.tape.tie_break
            if isinstance(way, int):
                lead: Any = self.tape.tied_side
            else:
                lead = np.subtract(*map(self.tape.moved, steps))
            return np.where(met, relation(lead, 0), relation(a, b))

        return run

    def _extreme(
        self, rule: Extreme[Any], x: object, dim: Dims, keepdim: bool
    ) -> ObjectArray:
        rows, shape, full = self._rows(x, dim)
        floats = self.tape.floats(rows)
        if floats is None or np.isnan(floats).any() or not rows.shape[-1]:
            return super()._extreme(rule, x, dim, keepdim)
        best = floats.max(-1) if rule is decided.largest else floats.min(-1)
        among = floats == best[..., np.newaxis]
        # The first of equal entries is taken, or the last if ties count as less.
        last = rows.shape[-1] - 1 - among[..., ::-1].argmax(-1)
        tie_break = self.tape.tie_break
        if isinstance(tie_break, int):
            at = last if tie_break < 0 else among.argmax(-1)
        else:
            sign = 1 if rule is decided.largest else -1
            at = np.where(among, sign * self.tape.moved(rows), -np.inf).argmax(-1)
        chosen = np.take_along_axis(rows, at[..., np.newaxis], -1)
        self.tape.tie(np.broadcast_to(chosen, rows.shape)[among], rows[among])
        return self._of(chosen.reshape(full if keepdim else shape))

    def derived(self, y: object, x: object, found: object) -> Any:
        raise NoMeaning(INSIDE)

    def symbols(self, values: Host, shape: Shape, varies: bool) -> ObjectArray:
        """Return an input's array; ``varies``: its derivative may be asked for."""
        return ObjectArray(self.tape.symbols(values, varies).reshape(shape), self)
