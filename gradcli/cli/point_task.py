"""What is done with a block of points, in this process or in another.

Invariant: a task and what it gives can be sent between processes; what a block gives
depends on the block alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..lang.compiled import Compiled
from ..lang.errors import ProgramError
from ..lang.points import Block, Points
from ..render.columns import KINDS


def header(given: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """The names of the columns that are written."""
    return [*given, "value", *(f"grad_{name}" for name in wanted)]


@dataclass(frozen=True, slots=True)
class Done:
    """What a block gave.

    rows   its results, encoded
    count  how many rows it had, good and bad
    bad    why rows could not be computed; with a number among the block's, or with
           the place in the text
    error  what ended the work
    size   how much of the table the block was
    """

    rows: Any
    count: int
    bad: tuple[tuple[int | None, str], ...]
    error: ProgramError | None = None
    size: int = 0


@dataclass(frozen=True, slots=True)
class Task:
    """A program with what is the same for all blocks.

    shared    the values that all points share
    given     the inputs that differ from point to point
    wanted    the inputs whose gradients are written
    suffix    the format of the results
    on_error  what becomes of a row that cannot be computed: skip, stop or nan
    """

    program: Compiled
    shared: Mapping[str, Any]
    given: tuple[str, ...]
    wanted: tuple[str, ...]
    suffix: str
    on_error: str

    def __call__(self, block: Block) -> Done:
        """Compute the value and the gradients at each point of a block."""
        return replace(self._done(block()), size=block.size)

    def _done(self, points: Points) -> Done:
        if self.on_error != "stop":
            return self._computed(points, {})
        if not points.bad:
            return self._computed(points, None)
        bad = points.bad[0]
        done = self._computed(points.before(bad.nr), None)
        error = ProgramError("E517", f"{bad.place}: {bad.reason}")
        return Done(done.rows, done.count, (), error)

    def _computed(self, points: Points, failed: dict[int, ProgramError] | None) -> Done:
        found = self.program.at_rows(points.columns, self.shared, failed)
        columns = [
            *(points.columns[name] for name in self.given),
            found.value,
            *(found.grads[name] for name in self.wanted),
        ]
        lost = failed or {}
        if self.on_error == "skip" and lost:
            columns = [np.delete(column, list(lost), axis=0) for column in columns]
        if self.on_error == "nan":
            for bad in points.bad:
                columns = [np.insert(c, bad.nr, np.nan, axis=0) for c in columns]
        told: list[tuple[int | None, str]] = [
            (None, f"{bad.place}: {bad.reason}") for bad in points.bad
        ]
        told += [(points.number(nr), error.message) for nr, error in lost.items()]
        rows = KINDS[self.suffix].encoded(header(self.given, self.wanted), columns)
        return Done(rows, points.rows + len(points.bad), tuple(told))
