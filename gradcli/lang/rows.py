"""Runs of a program at many points: rows that take the same steps share one run.

Invariant: each row's results are those of the program at that point alone, but for the
last bits of sums. Where a value that the program branches on differs between rows, they
are run in groups. A row that fails is run alone, and so are rows that reach a step that
has no form for many rows.

    value, grads = Rows(point, count, set()).run()
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from gc import collect
from typing import Any

import numpy as np

from ..engine import NUMPY, Tensor, grad
from ..engine.dtypes import default_dtype
from ..engine.errors import EngineError
from ..engine.raw import Host, Raw
from ..traces.columns import Apart, Columns
from ..traces.tiles import cores
from .errors import LIMIT_REACHED, MORE_MEMORY, NO_MEMORY, ProgramError
from .maxima import MAX_STEPS
from .point import Point, Ways
from .process import is_out_of_memory
from .run import Session

MAX_ROWS_TOGETHER = 1 << 13
"""Largest number of rows of one run, small enough for the processor's cache."""

MIN_ROWS_TOGETHER = 4
"""Smallest number of rows that are run together; fewer take less time one by one."""

MAX_STEPS_IN_THREADS = 100_000
"""Largest number of steps that a thread other than the main one runs in loops."""


class Rows:
    """The rows of a table, and the runs that compute them.

    Args:
        point: all rows as one point: each input is an array with an entry for each row,
            or an array that all rows share.
        count: the number of rows.
        whole: the names of the inputs whose arrays all rows share.
    """

    def __init__(self, point: Point, count: int, whole: set[str]) -> None:
        self._point = point
        self._count = count
        self._whole = whole
        self._xp = Columns(NUMPY) if point.factory.xp is NUMPY else None
        self._session: Session | None = None
        self._results: list[Host] = []
        self._runs = self._alone = 0
        self._threads = 1
        self._text = ""

    @property
    def ways(self) -> Ways:
        """The ways in which the rows were computed."""
        counts = self._count, self._runs, self._threads, self._alone
        return Ways(*counts, self._text)

    def run(
        self,
        failed: dict[int, ProgramError] | None = None,
        each: AbstractContextManager[None] | None = None,
        first: bool = False,
    ) -> tuple[Tensor, list[Tensor | None]]:
        """Return the values and the gradients, with the rows as their first dimension.

        Args:
            failed: a dict that the errors of rows are added to, by their number; the
                results of these rows are NaN. None: the first error is raised.
            each: a context that is entered for each run.
            first: do not run the rows after the first one that fails.

        Raises:
            ProgramError: the program fails at a row, and ``failed`` is None.
        """
        self._failed, self._each = failed, each or nullcontext()
        self._first = first
        starts = range(0, self._count, MAX_ROWS_TOGETHER)
        rows = np.arange(self._count)
        waiting = [rows[start : start + MAX_ROWS_TOGETHER] for start in starts][::-1]
        with default_dtype(self._point.factory.dtype), np.errstate(all="ignore"):
            while waiting:
                waiting += reversed(self._run(waiting.pop()))
                if self._runs == 1 and len(waiting) > 1 and not self._alone:
                    waiting = self._in_threads(waiting)
        xp = self._point.factory.xp
        results = self._results or self._room([np.nan] * (1 + len(self._point.wanted)))
        value, *grads = (Tensor(each, xp) for each in results)
        return value, [*grads]

    def _in_threads(self, waiting: list[Host]) -> list[Host]:
        """Run groups of rows on all cores; return the groups that could not be run."""
        self._threads = min(cores(), len(waiting))
        if self._threads < 2:
            return waiting
        left = []
        with ThreadPoolExecutor(self._threads) as pool:
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
        """Run some rows; return the groups of rows that are still to be run."""
        if self._first and self._failed:
            return ()
        if self._xp is None or len(rows) < MIN_ROWS_TOGETHER:
            self._one_by_one(rows)
            return ()
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
        apart = _cause(error)
        if apart is not None and apart.groups:
            return [rows[group] for group in apart.groups]
        if apart is not None:
            span, source = getattr(error, "span", None), getattr(error, "source", "")
            self._text = self._text or ("" if span is None else source[slice(*span)])
        limited = isinstance(error, ProgramError) and error.exit_status == LIMIT_REACHED
        if apart is None and not limited:
            middle = len(rows) // 2
            with suppress(Exception), self._each:
                self._found(None, rows[0])
                return rows[:middle], rows[middle:]
        self._one_by_one(rows)
        return ()

    def _one_by_one(self, rows: Host) -> None:
        for row in rows.tolist():
            if self._first and self._failed:
                return
            self._alone += 1
            try:
                with self._each:
                    found = self._found(None, row)
            except Exception as error:
                told = _told(error)
                if self._failed is None or told is None:
                    raise
                self._failed[row] = told
            else:
                self._keep(row, found)
            lost = (self._failed or {}).get(row)
            if lost is not None and lost.code == "E403":
                collect()  # frees the values of the failed run, which are in a cycle

    def _found(
        self, xp: Columns | None, rows: Any, max_steps: int = MAX_STEPS
    ) -> list[Raw]:
        """Return the value and the gradients at several rows, run on columns of ``xp``,
        or at one row if ``xp`` is None."""
        point = self._point
        made = point.factory
        home: Any = made.xp if xp is None else xp
        leaves = {}
        for name, t in point.tensors.items():
            raw = t.raw if name in self._whole else t.raw[rows]
            if xp is not None and name not in self._whole:
                raw = xp.column(raw)
            leaves[name] = Tensor(raw, home, requires_grad=name in point.wanted)
        if xp is None:
            session = self._session = self._session or Session(point.prepared, point.of)
            session.rebind(leaves)
        else:
            linked = point.prepared.on(leaves, made.on(xp))
            session = Session(linked, point.of, max_steps=max_steps)
        y = session()
        if y.numel() != 1:
            message = (
                f"the value has shape {list(y.shape)}, and a gradient is of one number"
            )
            raise ProgramError("E596", message, hint="add .sum(), or take an entry")
        wanted = [leaves[name] for name in point.wanted]
        grads = grad([y], wanted) if y.edge is not None else [None] * len(wanted)
        found = [y.raw]
        for x, g in zip(wanted, grads, strict=True):
            found.append(home.zeros_like(x.raw) if g is None else g.raw)
        return found

    def _keep_all(self, rows: Host, found: Sequence[Raw]) -> None:
        """Store the results of a run of many rows."""
        assert self._xp is not None
        self._runs += 1
        self._keep(rows, [self._xp.spread(raw, len(rows)) for raw in found])

    def _keep(self, rows: Any, found: Sequence[Raw]) -> None:
        """Store results at the places of their rows."""
        if not self._results:
            like = found if np.ndim(rows) == 0 else [part[0] for part in found]
            self._results = self._room(like)
        for kept, part in zip(self._results, found, strict=True):
            kept[rows] = part

    def _room(self, like: Sequence[Any]) -> list[Host]:
        """Return arrays for the results of all rows, filled with NaN."""
        full, dtype = self._point.factory.xp.np.full, self._point.factory.dtype
        shapes = [(self._count, *np.shape(each)) for each in like]
        dtypes = [getattr(each, "dtype", dtype) for each in like]
        return [full(shape, np.nan, t) for shape, t in zip(shapes, dtypes, strict=True)]


def _cause(error: BaseException | None) -> Apart | None:
    """Return the `Apart` that an error comes from; None if it has another cause."""
    while error is not None and not isinstance(error, Apart):
        error = error.__cause__ or error.__context__
    return error


def _told(error: Exception) -> ProgramError | None:
    """Return the error of a row without the values it held; None if it is internal."""
    if isinstance(error, ProgramError):
        error.__cause__ = error.__context__ = error.__traceback__ = None
        return error
    if is_out_of_memory(error):
        return ProgramError("E403", NO_MEMORY, hint=MORE_MEMORY)
    return ProgramError("E596", str(error)) if isinstance(error, EngineError) else None
