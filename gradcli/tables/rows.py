"""The rows of a table as points of a program, run together where they go the same way.

Invariant: each row's results are those of the program at that point alone, but for the
last bits of sums. Where a value that the program branches on differs between rows, they
are run in groups. A row that fails is run alone, and so are rows that reach a step that
has no form for many rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from gc import collect
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from ..engine import NUMPY, Tensor
from ..engine.dtypes import default_dtype
from ..engine.errors import EngineError
from ..engine.raw import Host, Raw
from ..lang.errors import LIMIT_REACHED, MORE_MEMORY, NO_MEMORY, ProgramError
from ..lang.prepare import Prepared
from ..lang.process import is_out_of_memory
from ..lang.run import Session
from ..large.blocks import derivatives, filled
from ..large.columns import Columns, RowsDiffer

MAX_ROWS_TOGETHER = 1 << 14
"""Largest number of rows of one run, small enough for the processor's cache."""

MIN_ROWS_TOGETHER = 4
"""Smallest number of rows that are run together; fewer take less time one by one."""

Found: TypeAlias = tuple[Sequence[Raw], Sequence[bool]]
"""Results of rows, and whether there is no derivative, or not the n-th one."""


@dataclass
class Rows:
    """The rows of a table, and the runs that compute them.

    Args:
        prepared: the program; each of its inputs is an array with an entry for each
            row, or an array that all rows share.
        of: the variable that is the value; None: the last statement's value.
        count: the number of rows.
        whole: the names of the inputs whose arrays all rows share.
        failed: a dict that errors are added to by row number; the results of these rows
            are NaN. None: the error of the first row that fails is raised.
        each: a context that is entered for each run, of several rows or of one.
        first: do not run the rows after the first one that fails.
        kind: what is computed beside the values, as `derivatives` has it.

    ``absent`` holds, after a run, for the number of a result the rows in which it is
    None: for 0 those in which no derivative exists, for n the n-th derivative;
    ``single`` is the number of rows that were computed one by one.
    """

    prepared: Prepared
    of: str | None
    count: int
    whole: set[str]
    failed: dict[int, ProgramError] | None = None
    each: AbstractContextManager[None] | None = None
    first: bool = False
    kind: str = "grad"

    def __post_init__(self) -> None:
        self.single, self._last = 0, self.count
        self._raised = self.failed is None
        self._failed: dict[int, Any] = {} if self.failed is None else self.failed
        self._each = self.each or nullcontext()
        self._session = Session(self.prepared, self.of)
        self._is_alike = self.prepared.factory.xp is NUMPY
        self._most = MAX_ROWS_TOGETHER
        self._results: list[Host] = []
        self.absent: dict[int, Host] = {}

    def run(self) -> tuple[Tensor, list[Tensor]]:
        """Return the values and the gradients, with the rows as their first dimension.

        Raises:
            ProgramError: the program fails at a row, and ``failed`` is None.
        """
        factory = self.prepared.factory
        waiting = [np.arange(self.count)] if self.count else []
        with default_dtype(factory.dtype), np.errstate(all="ignore"):
            while waiting:
                parts = (np.array_split(g, -(-len(g) // self._most)) for g in waiting)
                groups, waiting = [*chain(*parts)], []
                for rows in groups:
                    waiting += self._run(rows)
        if self._raised and self._failed:
            raise self._failed[self._last]
        if not self._results:
            wanted = sum(given.requires_grad for given in self.prepared.inputs)
            self._make_room([np.nan] * (1 + wanted ** (1 + (self.kind == "hessian"))))
        value, *grads = (Tensor(each, factory.xp) for each in self._results)
        return value, [*grads]

    def _run(self, rows: Host) -> Sequence[Host]:
        """Compute rows and keep their results; or return the groups that they are to be
        run in instead."""
        if rows[0] > self._last:
            return ()
        if not self._is_alike or len(rows) < MIN_ROWS_TOGETHER:
            return self._one_by_one(rows)
        try:
            with self._each:
                found = self._results_of(rows, True)
        except Exception as error:
            return self._parted(rows, error)
        self._keep(rows, found)
        return ()

    def _parted(self, rows: Host, error: Exception) -> Sequence[Host]:
        """Return the groups that rows are to be run in, after a run of all failed with
        an error; rows that cannot be run in groups are run one by one here."""
        apart = _diverged_error(error)
        if apart is not None:
            if apart.crowded:
                self._most = min(self._most, len(rows) // 2)
                return (rows,)
            if apart.groups:
                return [rows[group] for group in apart.groups]
        elif not isinstance(error, ProgramError) or error.exit_status != LIMIT_REACHED:
            middle = len(rows) // 2
            with suppress(Exception), self._each:
                self._results_of(rows[0])
                return rows[:middle], rows[middle:]
        return self._one_by_one(rows)

    def _one_by_one(self, rows: Host) -> Sequence[Host]:
        for row in rows.tolist():
            if row > self._last:
                break
            self.single += 1
            try:
                with self._each:
                    self._keep(row, self._results_of(row))
            except Exception as error:
                told = error if self._raised else _without_values(error)
                if told is None:
                    raise
                self._failed[row] = told
                if self.first or self._raised:
                    self._last = min(self._last, row)
                if getattr(told, "code", "") == "E403":
                    collect()  # frees the values of the failed run, in a cycle
        return ()

    def _results_of(self, rows: Any, together: bool = False) -> Found:
        """Return the value and the gradients at several rows, run ``together`` on
        columns, or at one row."""
        prepared = self.prepared
        xp = Columns(NUMPY) if together else None
        home: Any = xp or prepared.factory.xp
        # A row alone has its own memory, which a program may look at.
        column = xp.column if xp is not None else lambda raw: raw.copy()
        raws = {
            name: x.raw if name in self.whole else column(x.raw[rows])
            for name, x in prepared.environment.items()
        }
        leaves = prepared.leaves(home, raws)
        session = self._session
        if xp is None:
            session.rebind(leaves)
        else:
            session = Session(prepared.on(leaves, prepared.factory.on(xp)), self.of)
        y = session()
        if y.numel() != 1 and self.kind in ("grad", "hessian"):
            shape = list(y.shape)
            message = f"the value has shape {shape}, and a gradient is of one number"
            raise ProgramError("E596", message, hint="add .sum(), or take an entry")
        wanted = [leaves[i.name] for i in prepared.inputs if i.requires_grad]
        grads = derivatives(self.kind, y, wanted)
        absent = [y.edge is None, *(g is None for g in grads)]
        there = filled(grads, wanted) if None in grads else grads
        found = [y.raw, *(g.raw for g in there if g is not None)]
        if xp is not None:
            found = [xp.spread(raw, len(rows)) for raw in found]
        return found, absent

    def _keep(self, rows: Any, done: Found) -> None:
        found, absent = done
        if not self._results:
            several = np.ndim(rows) > 0
            self._make_room([part[0] if several else part for part in found])
        for kept, part in zip(self._results, found, strict=True):
            kept[rows] = part
        for nr, missing in enumerate(absent):
            if missing:
                none = np.zeros(self.count, bool)
                self.absent.setdefault(nr, none)[rows] = True

    def _make_room(self, like: Sequence[Any]) -> None:
        factory = self.prepared.factory
        for each in like:
            dtype = getattr(each, "dtype", factory.dtype)
            room = factory.xp.np.full((self.count, *np.shape(each)), np.nan, dtype)
            self._results.append(room)


def _diverged_error(error: BaseException | None) -> RowsDiffer | None:
    """Return the error of rows that go different ways that caused an error, if any."""
    while error is not None and not isinstance(error, RowsDiffer):
        error = error.__cause__ or error.__context__
    return error


def _without_values(error: Exception) -> ProgramError | None:
    """Return the error of a row without the values it held; None if it is internal."""
    if isinstance(error, ProgramError):
        error.__cause__ = error.__context__ = error.__traceback__ = None
        return error
    if is_out_of_memory(error):
        return ProgramError("E403", NO_MEMORY, hint=MORE_MEMORY)
    return ProgramError("E596", str(error)) if isinstance(error, EngineError) else None
