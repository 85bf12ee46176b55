"""The rows of a table as points of a program, run together where they go the same way.

Invariant: each row's results are those of the program at that point alone, but for the
last bits of sums. Where a value that the program branches on differs between rows, they
are run in groups. A row that fails is run alone, and so are rows that reach a step that
has no form for many rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from gc import collect
from typing import Any, NamedTuple

import numpy as np

from ..autograd.blocks import derivatives
from ..engine import NUMPY, Tensor
from ..engine.dtypes import default_dtype
from ..engine.errors import EngineError
from ..engine.parts import cores
from ..engine.raw import Host, Raw
from ..traces.columns import Apart, Columns
from .errors import LIMIT_REACHED, MORE_MEMORY, NO_MEMORY, ProgramError
from .maxima import MAX_STEPS
from .prepare import Prepared
from .process import is_out_of_memory
from .run import Session

MAX_ROWS_TOGETHER = 1 << 13
"""Largest number of rows of one run, small enough for the processor's cache."""

MIN_ROWS_TOGETHER = 4
"""Smallest number of rows that are run together; fewer take less time one by one."""

MAX_STEPS_IN_THREADS = 100_000
"""Largest number of steps that a thread other than the main one runs in loops."""


class Ways(NamedTuple):
    """Counts of the ways in which the rows of a table were computed.

    rows     the number of rows
    runs     the number of runs that computed several rows together
    threads  the number of threads that shared these runs
    alone    the number of rows that were computed one by one
    text     the text of a step that differs between rows; empty: it is not known
    """

    rows: int
    runs: int = 0
    threads: int = 1
    alone: int = 0
    text: str = ""

    def and_then(self, more: Ways) -> Ways:
        """Return the counts of these rows and of others together."""
        threads, text = max(self.threads, more.threads), self.text or more.text
        rows, runs = self.rows + more.rows, self.runs + more.runs
        return Ways(rows, runs, threads, self.alone + more.alone, text)


class Rows:
    """The rows of a table, and the runs that compute them.

    Args:
        prepared: the program; each of its inputs is an array with an entry for each
            row, or an array that all rows share.
        of: the variable that is the value; None: the last statement's value.
        count: the number of rows.
        whole: the names of the inputs whose arrays all rows share.
        failed: a dict that errors are added to by row number; the results of these rows
            are NaN. None: the first error is raised.
        each: a context that is entered for each run, of several rows or of one.
        first: do not run the rows after the first one that fails.
        kind: what is computed beside the values, as `derivatives` has it.
    """

    def __init__(
        self,
        prepared: Prepared,
        of: str | None,
        count: int,
        whole: set[str],
        failed: dict[int, ProgramError] | None = None,
        each: AbstractContextManager[None] | None = None,
        first: bool = False,
        kind: str = "grad",
    ) -> None:
        self._kind = kind
        self._prepared = prepared
        self._of = of
        self._whole = whole
        self._failed = failed
        self._each = each or nullcontext()
        self._first = first
        self._xp = Columns(NUMPY) if prepared.factory.xp is NUMPY else None
        self._session: Session | None = None
        self._results: list[Host] = []
        self.ways = Ways(count)

    def run(self) -> tuple[Tensor, list[Tensor]]:
        """Return the values and the gradients, with the rows as their first dimension.

        Raises:
            ProgramError: the program fails at a row, and ``failed`` is None.
        """
        factory, count = self._prepared.factory, self.ways.rows
        starts = range(0, count, MAX_ROWS_TOGETHER)
        rows = np.arange(count)
        waiting = [rows[start : start + MAX_ROWS_TOGETHER] for start in starts][::-1]
        with default_dtype(factory.dtype), np.errstate(all="ignore"):
            while waiting:
                waiting += reversed(self._run(waiting.pop()))
                if self.ways.runs == 1 and len(waiting) > 1 and not self.ways.alone:
                    waiting = self._in_threads(waiting)
        if not self._results:
            wanted = sum(given.requires_grad for given in self._prepared.inputs)
            self._make_room([np.nan] * (1 + wanted ** (1 + (self._kind == "hessian"))))
        value, *grads = (Tensor(each, factory.xp) for each in self._results)
        return value, [*grads]

    def _in_threads(self, waiting: list[Host]) -> list[Host]:
        """Run groups of rows on all cores; return the groups that could not be run."""
        threads = min(cores(), len(waiting))
        if threads < 2:
            return waiting
        self.ways = self.ways._replace(threads=threads)
        left = []
        with ThreadPoolExecutor(threads) as pool:
            tried = pool.map(self._tried, waiting)
            for rows, found in zip(waiting, tried, strict=True):
                if found is None:
                    left.append(rows)
                else:
                    self._keep_all(rows, found)
        return left

    def _tried(self, rows: Host) -> list[Raw] | None:
        """Return the results of rows that a thread runs together; None if that fails or
        takes too many steps: only the main thread can be interrupted."""
        with np.errstate(all="ignore"):
            try:
                return self._found(self._xp, rows, MAX_STEPS_IN_THREADS)
            except Exception:
                return None

    def _run(self, rows: Host) -> Sequence[Host]:
        if self._first and self._failed:
            return ()
        if self._xp is None or len(rows) < MIN_ROWS_TOGETHER:
            return self._one_by_one(rows)
        try:
            with self._each:
                found = self._found(self._xp, rows)
        except Exception as error:
            return self._parted(rows, error)
        self._keep_all(rows, found)
        return ()

    def _parted(self, rows: Host, error: Exception) -> Sequence[Host]:
        """Return the groups that rows are to be run in, after a run of all failed with
        an error; rows that cannot be run in groups are run one by one here."""
        apart: BaseException | None = error
        while apart is not None and not isinstance(apart, Apart):
            apart = apart.__cause__ or apart.__context__
        if apart is not None:
            if apart.groups:
                return [rows[group] for group in apart.groups]
            span, source = getattr(error, "span", None), getattr(error, "source", "")
            if span is not None and not self.ways.text:
                self.ways = self.ways._replace(text=source[slice(*span)])
        elif not isinstance(error, ProgramError) or error.exit_status != LIMIT_REACHED:
            middle = len(rows) // 2
            with suppress(Exception), self._each:
                self._found(None, rows[0])
                return rows[:middle], rows[middle:]
        return self._one_by_one(rows)

    def _one_by_one(self, rows: Host) -> Sequence[Host]:
        for row in rows.tolist():
            if self._first and self._failed:
                break
            self.ways = self.ways._replace(alone=self.ways.alone + 1)
            try:
                with self._each:
                    self._keep(row, self._found(None, row))
            except Exception as error:
                told = _told(error)
                if self._failed is None or told is None:
                    raise
                self._failed[row] = told
            lost = (self._failed or {}).get(row)
            if lost is not None and lost.code == "E403":
                collect()  # frees the values of the failed run, which are in a cycle
        return ()

    def _found(
        self, xp: Columns | None, rows: Any, max_steps: int = MAX_STEPS
    ) -> list[Raw]:
        """Return the value and the gradients at several rows, run on columns of ``xp``,
        or at one row if ``xp`` is None."""
        prepared = self._prepared
        home: Any = prepared.factory.xp if xp is None else xp
        raws = {
            name: x.raw if name in self._whole else x.raw[rows]
            for name, x in prepared.environment.items()
        }
        if xp is not None:
            alone = [name for name in raws if name not in self._whole]
            raws |= {name: xp.column(raws[name]) for name in alone}
        leaves = prepared.leaves(home, raws)
        if xp is None:
            session = self._session = self._session or Session(prepared, self._of)
            session.rebind(leaves)
        else:
            linked = prepared.on(leaves, prepared.factory.on(xp))
            session = Session(linked, self._of, max_steps=max_steps)
        y = session()
        if y.numel() != 1 and self._kind in ("grad", "hessian"):
            message = (
                f"the value has shape {list(y.shape)}, and a gradient is of one number"
            )
            raise ProgramError("E596", message, hint="add .sum(), or take an entry")
        wanted = [leaves[i.name] for i in prepared.inputs if i.requires_grad]
        return [y.raw, *(g.raw for g in derivatives(self._kind, y, wanted))]

    def _keep_all(self, rows: Host, found: Sequence[Raw]) -> None:
        assert self._xp is not None
        self.ways = self.ways._replace(runs=self.ways.runs + 1)
        self._keep(rows, [self._xp.spread(raw, len(rows)) for raw in found])

    def _keep(self, rows: Any, found: Sequence[Raw]) -> None:
        if not self._results:
            self._make_room(
                found if np.ndim(rows) == 0 else [part[0] for part in found]
            )
        for kept, part in zip(self._results, found, strict=True):
            kept[rows] = part

    def _make_room(self, like: Sequence[Any]) -> None:
        factory, count = self._prepared.factory, self.ways.rows
        for each in like:
            shape, dtype = (
                (count, *np.shape(each)),
                getattr(each, "dtype", factory.dtype),
            )
            self._results.append(factory.xp.np.full(shape, np.nan, dtype))


def _told(error: Exception) -> ProgramError | None:
    """Return the error of a row without the values it held; None if it is internal."""
    if isinstance(error, ProgramError):
        error.__cause__ = error.__context__ = error.__traceback__ = None
        return error
    if is_out_of_memory(error):
        return ProgramError("E403", NO_MEMORY, hint=MORE_MEMORY)
    return ProgramError("E596", str(error)) if isinstance(error, EngineError) else None
