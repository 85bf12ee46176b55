"""The kinds of blocks that a tape is made of.

Invariant: a block is one function, on every place of it; what a place is made of, its
value and its derivatives are all that a pass over a tape asks for.

    Functions(2, "mul", ([0], [1])).arguments(0)        # [0, 1]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

import numpy as np
from mpmath.libmp import mpf_mul, mpf_sum, round_nearest

from .chain import slope
from .precision import guarded, held, jostled
from .scalars import SCALARS
from .system import is_float, to_context


class Reading(Protocol):
    """A tape in one precision."""

    @property
    def context(self) -> Any:
        """The precision."""

    def value(self, serial: int) -> Any:
        """A term's value."""

    def literal(self, serial: int) -> Any:
        """The number that a term is written as; else None."""


class Block:
    """``count`` terms from ``start`` on, without arguments unless a kind has some."""

    __slots__ = ("count", "name", "start")

    def __init__(self, start: int, name: str, count: int) -> None:
        self.start = start
        self.name = name
        self.count = count

    def column(self, place: int) -> Any:
        """The arguments of a place: an array of terms."""
        return np.zeros(0, dtype=np.int64)

    def reached(self, flags: Any) -> Any:
        """Per place whether one of its arguments is flagged."""
        return np.zeros(self.count, dtype=bool)

    def arguments(self, place: int) -> list[int]:
        return self.column(place).tolist()  # type: ignore[no-any-return]

    @property
    def steps(self) -> int:
        """How many steps it takes to compute the values of all places."""
        return self.count

    def carrying(self, place: int, live: Any) -> list[tuple[int, int]]:
        """The arguments through which a derivative goes, with their positions."""
        column = self.column(place)
        positions = np.flatnonzero(live[column])
        return list(zip(positions.tolist(), column[positions].tolist(), strict=True))

    def floats(self) -> Any:
        """The values, where they are floats exactly and known without computing."""
        return None

    def value(self, context: Any, place: int, values: Sequence[Any]) -> Any:
        """A place's value from its arguments'."""
        raise NotImplementedError(self.name)

    def slope(self, reading: Reading, place: int, position: int) -> Any:
        """A place's derivative in one of its arguments."""
        raise NotImplementedError(self.name)


EXACTLY: Final = 2**53
"""The largest whole number up to which each is a float."""


class Leaves(Block):
    """Numbers: an input's floats, or what a program has written."""

    __slots__ = ("numbers",)

    def __init__(self, start: int, name: str, numbers: Sequence[Any]) -> None:
        super().__init__(start, name, len(numbers))
        self.numbers = numbers

    def arguments(self, place: int) -> list[int]:
        return []

    def value(self, context: Any, place: int, values: Sequence[Any]) -> Any:
        number = self.numbers[place]
        value = to_context(context, number)
        given = self.name == "symbol" or is_float(number)
        return value if given else held(context, value)

    def floats(self) -> Any:
        if self.name == "symbol":
            return self.numbers
        (number,) = self.numbers
        whole = isinstance(number, int) and abs(number) <= EXACTLY
        return float(number) if whole else None


class Functions(Block):
    """A scalar function; ``args`` has a column per argument."""

    __slots__ = ("args",)

    def __init__(self, start: int, name: str, args: Sequence[Any]) -> None:
        super().__init__(start, name, len(args[0]))
        self.args = args

    def arguments(self, place: int) -> list[int]:
        return [int(column[place]) for column in self.args]

    def reached(self, flags: Any) -> Any:
        return np.logical_or.reduce([flags[column] for column in self.args])

    def carrying(self, place: int, live: Any) -> list[tuple[int, int]]:
        return [(i, a) for i, a in enumerate(self.arguments(place)) if live[a]]

    def value(self, context: Any, place: int, values: Sequence[Any]) -> Any:
        return held(context, guarded(context, SCALARS[self.name].number, *values))

    def slope(self, reading: Reading, place: int, position: int) -> Any:
        args = self.arguments(place)
        return slope(
            reading.context, self.name, position, len(args),
            lambda i: reading.value(args[i]), lambda i: reading.literal(args[i]),
        )  # fmt: skip


class Stops(Functions):
    """The same values once more, as constants."""

    __slots__ = ()

    def reached(self, flags: Any) -> Any:
        return np.zeros(self.count, dtype=bool)

    def carrying(self, place: int, live: Any) -> list[tuple[int, int]]:
        return []

    def value(self, context: Any, place: int, values: Sequence[Any]) -> Any:
        return values[0]


class Totals(Block):
    """Sums; ``rows`` has a row of terms per sum."""

    __slots__ = ("rows",)

    def __init__(self, start: int, rows: Any) -> None:
        super().__init__(start, "total", len(rows))
        self.rows = rows

    @property
    def steps(self) -> int:
        return int(self.rows.size)

    def column(self, place: int) -> Any:
        return self.rows[place]

    def reached(self, flags: Any) -> Any:
        return flags[self.rows].any(axis=1)

    def value(self, context: Any, place: int, values: Sequence[Any]) -> Any:
        addends = jostled(context, values)
        return held(context, guarded(context, SCALARS[self.name].number, *addends))

    def slope(self, reading: Reading, place: int, position: int) -> Any:
        return reading.context.one


class Dots(Block):
    """The entries of ``left @ right``, row by row."""

    __slots__ = ("left", "right")

    def __init__(self, start: int, left: Any, right: Any) -> None:
        super().__init__(start, "dot", len(left) * right.shape[1])
        self.left = left
        self.right = right

    @property
    def steps(self) -> int:
        return self.count * len(self.right)

    def column(self, place: int) -> Any:
        """A row of the one and a column of the other, behind each other."""
        row, column = divmod(place, self.right.shape[1])
        return np.concatenate([self.left[row], self.right[:, column]])

    def reached(self, flags: Any) -> Any:
        rows, columns = flags[self.left].any(axis=1), flags[self.right].any(axis=0)
        return np.logical_or.outer(rows, columns).reshape(-1)

    def value(self, context: Any, place: int, values: Sequence[Any]) -> Any:
        half = len(values) // 2
        left = jostled(context, values[:half])
        return held(context, guarded(context, _dot, left, values[half:]))

    def slope(self, reading: Reading, place: int, position: int) -> Any:
        row, column = divmod(place, self.right.shape[1])
        inner = self.left.shape[1]
        if position < inner:
            return reading.value(int(self.right[position, column]))
        return reading.value(int(self.left[row, position - inner]))


def _dot(context: Any, left: Sequence[Any], right: Sequence[Any]) -> Any:
    """As the context's own, which spends half of its time on other kinds of numbers."""
    products = [mpf_mul(a._mpf_, b._mpf_) for a, b in zip(left, right, strict=True)]
    return context.make_mpf(mpf_sum(products, context.prec, round_nearest))
