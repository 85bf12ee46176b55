"""Programs that are read once and then differentiated at many points.

Invariant: a result is what the command line gives at the same point; results are
tensors, arrays or numbers, as the inputs are. Rows of a table that take the same steps
share one run; each row's results are then those of the program at that point alone, but
for the last bits of sums. Where a value that the program branches on differs between
rows, they are run in groups. A row that fails is run alone, and so are rows that reach
a step that has no form for many rows.

    program = compile("y = sin(x)*a")
    result = program.grad(x=0.5, a=2.0)
    result.value, result.grads["x"]             # 0.958..., 1.755...
    program.jacobian(x=np.arange(3.0), a=1.0).blocks["x"]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from gc import collect
from typing import Any

import numpy as np

from ..engine import NUMPY, Tensor, grad, resolve
from ..engine.dtypes import default_dtype
from ..engine.errors import EngineError
from ..engine.jacobian import rows_of
from ..engine.parts import cores
from ..engine.raw import Host, Raw
from ..traces.columns import Apart, Columns
from .errors import LIMIT_REACHED, MORE_MEMORY, NO_MEMORY, ProgramError
from .in_parts import InParts, in_parts
from .maxima import MAX_STEPS
from .point import Gradients, Point, Reading, Settings, Ways, dtype_of, raw_of
from .process import is_out_of_memory
from .record import Record
from .run import Session

Array = Any


class Jacobians(Record):
    """A program's value at a point, and its Jacobian by each input.

    blocks  the Jacobian by each input's name: an array of the value's shape followed by
            the input's, or a ``scipy.sparse.csr_array`` with a row for each entry of
            the value and a column for each entry of the input
    """

    value: Array
    blocks: dict[str, Array]


def compile(
    text: Any = None,
    *,
    wrt: str | Iterable[str] | None = None,
    dtype: str | None = None,
    device: str = "cpu",
    seed: int = 0,
    of: str | None = None,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: object = "inductor",
    mode: str | None = None,
    options: object = None,
    disable: bool = False,
) -> Any:
    """Return a program of the language as a `Compiled`, to be run at many points.

    Args:
        text: the program, as the command line takes it. A function or a module, as
            PyTorch's ``compile`` takes it, is returned as it is; without ``text``, a
            decorator that returns its function is returned.
        wrt: the inputs that derivatives are taken for, ``["a", "b"]`` or ``"a,b"``;
            None: all.
        dtype: ``float64`` or ``float32``; None: float32 if every given array has that
            dtype, else float64.
        device: the device for numbers and lists: ``cpu``, ``cuda`` or ``auto``; an
            array stays on its device.
        seed: the seed of the random numbers that the program draws.
        of: the variable that is the value; None: the last statement's value.
        fullgraph, dynamic, backend, mode, options, disable: PyTorch's options for
            functions; they change nothing.

    Raises:
        ProgramError: the text is no program.
        DeviceError: the device cannot be used.
    """
    if text is None:
        return lambda function: function
    if callable(text):
        return text
    resolve(device)
    if isinstance(wrt, str):
        wrt = [name.strip() for name in wrt.split(",")]
    chosen = None if wrt is None else tuple(wrt)
    return Compiled(text, Settings(chosen, dtype, device, seed, of))


class Compiled:
    """A program that is ready to be run; `compile` returns one.

    inputs  the names of its inputs, in order of first use
    """

    def __init__(self, text: str, settings: Settings) -> None:
        self.text = text
        self.settings = settings
        self._readings: dict[frozenset[str], Reading] = {}
        self.inputs = self.reading(()).names

    def __reduce__(self) -> tuple[type[Compiled], tuple[str, Settings]]:
        return Compiled, (self.text, self.settings)

    def __repr__(self) -> str:
        return f"gradcli.compile({self.text!r})"

    def reading(self, bound: Iterable[str]) -> Reading:
        """Return the program as it is parsed if the names ``bound`` have values."""
        key = frozenset(bound)
        if key not in self._readings:
            self._readings[key] = Reading(self.text, key)
        return self._readings[key]

    def at(self, values: Mapping[str, object]) -> Point:
        """Return the program with its inputs at a point.

        Raises:
            ProgramError: an input is missing or unknown.
        """
        return Point(self.reading(values), values, self.settings)

    def __call__(self, **values: object) -> Array:
        """Return the program's value: a tensor, an array or a number, as the inputs."""
        point = self.at(values)
        return point.back(point.run())

    def grad(self, **values: object) -> Gradients:
        """Return the value and the gradients at a point.

        Args:
            values: a number, a list, an array or a tensor for each input.

        Raises:
            ProgramError: an input is missing or unknown, or the program fails.
            GradError: the value has more than one entry, or depends on no input.
        """
        point = self.at(values)
        cut = None
        if point.of is None:
            cut = in_parts(point.prepared, point.reading.known)
        if isinstance(cut, InParts):
            y, found = cut.value, cut.grads
        else:
            y = point.run()
            found = grad([y], list(point.wanted.values()))
        return Gradients(point.back(y), point.by_name(found))

    def jacobian(self, *, sparse: bool | None = False, **values: object) -> Jacobians:
        """Return the value and its Jacobian at a point.

        Args:
            sparse: True returns every block as a ``csr_array``, False none; None those
                of which the graph shows that most entries are zero.
            values: a number, a list, an array or a tensor for each input.

        Raises:
            ProgramError: an input is missing or unknown, or the program fails.
        """
        point = self.at(values)
        y = point.run()
        blocks = rows_of(y, list(point.wanted.values()))
        by_name: dict[str, Array] = {}
        for name, block in zip(point.wanted, blocks, strict=True):
            kept = block.sparse if sparse is None else sparse
            by_name[name] = block.csr() if kept else point.back(block.dense(), name)
        return Jacobians(point.back(y), by_name)

    def table(self, columns: Mapping[str, object], **shared: object) -> Gradients:
        """Return the value and the gradients at many points.

        Args:
            columns: for each input's name an array with an entry, or a row, for each
                point: a dict, a data frame, a pyarrow table or an array with fields.
            shared: values of the other inputs, the same at all points.

        Returns:
            Arrays with an entry, or a row, for each point; so are the gradients by
            shared values.

        Raises:
            ProgramError: an input is missing or unknown, columns differ in length, or
                the program fails.
            GradError: a value has more than one entry.
        """
        return self.at_rows(_by_name(columns), shared)

    def at_rows(
        self,
        columns: Mapping[str, object],
        shared: Mapping[str, object],
        failed: dict[int, ProgramError] | None = None,
        each: AbstractContextManager[None] | None = None,
        first: bool = False,
    ) -> Gradients:
        """Return the values and the gradients at rows of columns, as `table` does.

        Args:
            columns: an array for each input, with an entry for each row.
            shared: values of the other inputs.
            failed: a dict that errors are added to by row number; the results of these
                rows are NaN. None: an error of a row is raised.
            each: a context that is entered for each run, of several rows or of one.
            first: do not run the rows after the first one that fails.
        """
        twice = next((name for name in shared if name in columns), None)
        if twice is not None:
            hint = "leave out one of the two"
            raise ProgramError("E503", f"{twice} is a column and a value", hint=hint)
        count, dtype = _length(columns), dtype_of({**columns, **shared})
        beside = {name: _shared(v, count, dtype) for name, v in shared.items()}
        point = self.at({**columns, **beside})
        whole = {name for name, value in shared.items() if _dimensions(value)}
        rows = Rows(point, count, whole)
        y, grads = rows.run(failed, each, first)
        return Gradients(point.back(y), point.by_name(grads), rows.ways)


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
        self._prepared = point.prepared
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
        apart: BaseException | None = error
        while apart is not None and not isinstance(apart, Apart):
            apart = apart.__cause__ or apart.__context__
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
        raws = {
            name: t.raw if name in self._whole else t.raw[rows]
            for name, t in point.tensors.items()
        }
        if xp is not None:
            alone = [name for name in raws if name not in self._whole]
            raws |= {name: xp.column(raws[name]) for name in alone}
        leaves = self._prepared.leaves(home, raws)
        if xp is None:
            session = self._session = self._session or Session(self._prepared, point.of)
            session.rebind(leaves)
        else:
            linked = self._prepared.on(leaves, made.on(xp))
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


def _told(error: Exception) -> ProgramError | None:
    """Return the error of a row without the values it held; None if it is internal."""
    if isinstance(error, ProgramError):
        error.__cause__ = error.__context__ = error.__traceback__ = None
        return error
    if is_out_of_memory(error):
        return ProgramError("E403", NO_MEMORY, hint=MORE_MEMORY)
    return ProgramError("E596", str(error)) if isinstance(error, EngineError) else None


def _by_name(columns: Any) -> Mapping[str, object]:
    """Return the columns of a mapping, a data frame or an array with fields, by name.

    Raises:
        ProgramError: ``columns`` has no names for its columns.
    """
    if hasattr(columns, "keys"):
        return {name: columns[name] for name in columns}
    fields = getattr(getattr(columns, "dtype", None), "names", None)
    names = fields or getattr(columns, "column_names", None)
    if names is None:
        message = f"columns have names, and {type(columns).__name__} has none"
        raise ProgramError("E509", message, hint='as in {"x": [1.0, 2.0]}')
    return {name: columns[name] for name in names}


def _length(columns: Mapping[str, Any]) -> int:
    """Return the number of rows that the columns have.

    Raises:
        ProgramError: the columns differ in length, or no column has rows.
    """
    lengths = {n: len(c) for n, c in columns.items() if _dimensions(c)}
    if not lengths:
        raise ProgramError("E509", "no column has rows", hint="give an array")
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} has {n}" for name, n in lengths.items())
        raise ProgramError("E509", f"the columns differ in length: {listed}")
    return next(iter(lengths.values()))


def _shared(value: Any, count: int, dtype: str) -> object:
    """Return a shared array as it is, a shared number as a column of ``count`` rows."""
    if _dimensions(value):
        return value
    raw = raw_of(value)
    return np.full(count, value, dtype) if raw is None else np.full(count, raw)


def _dimensions(value: Any) -> int:
    raw = raw_of(value)
    return np.ndim(value if raw is None else raw)
