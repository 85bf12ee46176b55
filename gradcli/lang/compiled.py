"""A program that is read once and asked for derivatives at many points.

Invariant: a result is what the command line gives at the same point; arrays come back
as the kind that was given.

    program = compile("y = sin(x)*a")
    result = program.grad(x=0.5, a=2.0)
    result.value, result.grads["x"]             # 0.958..., 1.755...
    program.jacobian(x=np.arange(3.0), a=1.0).blocks["x"]
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from gc import collect
from typing import Any

import numpy as np

from ..engine import Tensor, grad, resolve
from ..engine.errors import EngineError
from ..engine.jacobian import rows_of
from ..engine.raw import Raw
from .errors import MORE_MEMORY, NO_MEMORY, ProgramError
from .excerpt import enumerated
from .in_parts import entrywise, in_parts, tell_region
from .point import (
    Gradients,
    Point,
    Reading,
    Settings,
    dtype_of,
    raw_of,
)
from .process import is_out_of_memory
from .record import Record
from .tiles import Fusion

Array = Any


class Jacobians(Record):
    """A program's value at a point, and its Jacobian by each input.

    blocks  by name, of the value's shape followed by the input's, or a
            ``scipy.sparse.csr_array`` with a row for each entry of the value and a
            column for each of the input
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
    """Read a program of the language once, to differentiate it at many points.

    Args:
        text: the program, as the command line takes it. A function or a module, as
            PyTorch's ``compile`` takes it, comes back as it is; without it, a
            decorator of functions that does nothing.
        wrt: the inputs that derivatives are taken for, ``["a", "b"]`` or ``"a,b"``;
            None: all.
        dtype: ``float64`` or ``float32``; None: float32 where every array that comes
            is of that type, else float64.
        device: where numbers and lists go: ``cpu``, ``cuda`` or ``auto``; arrays stay
            where they are.
        seed: of the random numbers that the program itself draws.
        of: the variable that is the value; None: the last statement's value.
        fullgraph, dynamic, backend, mode, options, disable: PyTorch's, of functions;
            they change nothing.

    Raises:
        ProgramError: the text is no program.
        DeviceError: the device is not there.
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
    """A program, ready to be run; `compile` makes one.

    inputs  the names of its inputs, in order of first use
    """

    def __init__(self, text: str, settings: Settings) -> None:
        self.text = text
        self.settings = settings
        self._readings: dict[frozenset[str], Reading] = {}
        self.inputs = self.reading(()).names

    def __reduce__(self) -> "tuple[type[Compiled], tuple[str, Settings]]":
        return Compiled, (self.text, self.settings)

    def __repr__(self) -> str:
        return f"gradcli.compile({self.text!r})"

    def reading(self, bound: Iterable[str]) -> Reading:
        """Return the program as it is read where these names have values."""
        key = frozenset(bound)
        if key not in self._readings:
            self._readings[key] = Reading(self.text, key, self.settings.of)
        return self._readings[key]

    def at(self, values: Mapping[str, object]) -> Point:
        """Return the program's inputs at a point.

        Raises:
            ProgramError: an input is missing or unknown.
        """
        return Point(self.reading(values), values, self.settings)

    def __call__(self, **values: object) -> Array:
        """Return the program's value, of the kind of the arrays given."""
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
        cut = in_parts(point.prepared, point.reading)
        if cut is None:
            y = point.run()
            found = grad([y], list(point.wanted.values()))
        else:
            y, found = cut[:2]
        return Gradients(point.back(y), point.by_name(found))

    def jacobian(self, *, sparse: bool | None = False, **values: object) -> Jacobians:
        """Return the value and its Jacobian at a point.

        Args:
            sparse: True gives every block as a ``csr_array``, False none, None those
                that are mostly zeros for a reason that the program shows.
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
            columns: by an input's name an array with an entry, or a row, for each
                point; a frame, a table of pyarrow or an array with fields is that, too.
            shared: values of the other inputs, the same at all points.

        Returns:
            Arrays with an entry, or a row, for each point, the gradients by shared
            values too.

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
            failed: takes the errors of rows by their number; their results are NaN.
            each: a context for a row that is computed for itself.
            first: leave the rows behind the first that fails.
        """
        return _table(self.at, columns, shared, failed, each, first)

    def fusion(
        self, columns: Mapping[str, object], shared: Mapping[str, object]
    ) -> Fusion:
        """Return how `table` computes such rows: at once, part by part, or one by one,
        and why."""
        return _fusion_of(self.at, columns, shared)


def _by_name(columns: Any) -> Mapping[str, object]:
    """Return the columns of whatever has some.

    Raises:
        ProgramError: it has no names for them.
    """
    if hasattr(columns, "keys"):
        return {name: columns[name] for name in columns}
    fields = getattr(getattr(columns, "dtype", None), "names", None)
    names = fields or getattr(columns, "column_names", None)
    if names is None:
        message = f"columns have names, and {type(columns).__name__} has none"
        raise ProgramError("E509", message, hint='as in {"x": [1.0, 2.0]}')
    return {name: columns[name] for name in names}


def _table(
    at: Callable[[Mapping[str, object]], Point],
    columns: Mapping[str, object],
    shared: Mapping[str, object],
    failed: dict[int, ProgramError] | None = None,
    each: AbstractContextManager[None] | None = None,
    first: bool = False,
) -> Gradients:
    """Return the values and the gradients at each row of the columns.

    Args:
        at: makes a point of values by name.
        columns: arrays of one length.
        shared: values that all rows share.
        failed: takes the errors of rows at which the program fails, by their number;
            their results are NaN. None: the first is raised.
        each: what a row is computed inside of, where they are computed one by one.
        first: leave the rows behind the first that fails.

    Raises:
        ProgramError: columns differ in length, a shared value is a column too, or the
            program fails.
    """
    twice = next((name for name in shared if name in columns), None)
    if twice is not None:
        hint = "leave out one of the two"
        raise ProgramError("E503", f"{twice} is a column and a value", hint=hint)
    count = _length(columns)
    point, whole = _point(at, columns, shared, count)
    apart = not _in_the_way(point, whole)
    cut = entrywise(point.prepared, point.reading) if apart else None
    if cut is None:
        within = each or nullcontext()
        y, grads = _row_by_row(point, count, whole, failed, within, first)
    else:
        y, grads = cut[:2]
    return Gradients(point.back(y), point.by_name(grads))


def _fusion_of(
    at: Callable[[Mapping[str, object]], Point],
    columns: Mapping[str, object],
    shared: Mapping[str, object],
) -> Fusion:
    """Tell whether `_table` computes the rows at once, part by part, or why one by
    one."""
    point, whole = _point(at, columns, shared, _length(columns))
    reading, fusion = point.reading, Fusion()
    reason = _in_the_way(point, whole)
    if reason:
        fusion.refused(reason)
    if reading.pointwise is not None and reading.pointwise.obstacles:
        fusion.obstacles(point.prepared.source, reading.pointwise.obstacles)
    if fusion.rest:
        return fusion
    cut = entrywise(point.prepared, reading)
    if cut is None:
        fusion.refused("its value is not one number for each row")
    else:
        tell_region(point.prepared, reading, fusion, cut.tile_entries)
    return fusion


def _point(
    at: Callable[[Mapping[str, object]], Point],
    columns: Mapping[str, object],
    shared: Mapping[str, object],
    count: int,
) -> tuple[Point, set[str]]:
    """Return all rows as one point, and the inputs that are arrays in every row."""
    dtype = dtype_of({**columns, **shared})
    point = at({**columns, **{n: _shared(v, count, dtype) for n, v in shared.items()}})
    return point, {name for name, value in shared.items() if _dimensions(value)}


def _in_the_way(point: Point, whole: set[str]) -> str:
    """Return why the rows are not computed at once; empty: they may be."""
    if whole:
        return f"{enumerated(sorted(whole))} has many entries in each row"
    if any(t.raw.ndim != 1 for t in point.tensors.values()):
        return "an input has many entries in each row"
    if point.of is not None:
        return "--of asks for another value than the last"
    return ""


def _row_by_row(
    point: Point,
    count: int,
    whole: set[str],
    failed: dict[int, ProgramError] | None,
    each: AbstractContextManager[None],
    first: bool,
) -> tuple[Tensor, list[Tensor | None]]:
    """Run the program for each row, with the values of ``whole`` as they are."""
    xp, session = point.factory.xp, point.session()
    rows: list[tuple[object, ...] | None] = []
    with np.errstate(all="ignore"):
        for row in range(count):
            if first and failed:
                rows += [None] * (count - row)
                break
            leaves = {
                name: Tensor(
                    t.raw if name in whole else t.raw[row],
                    xp,
                    requires_grad=name in point.wanted,
                )
                for name, t in point.tensors.items()
            }
            session.rebind(leaves)
            wanted = [leaves[name] for name in point.wanted]
            try:
                with each:
                    y = session()
                    _demand_number(y)
                    found = (y.raw, *_gradients_of_row(y, wanted))
            except Exception as error:
                told = _told(error)
                if failed is None or told is None:
                    raise
                failed[row] = told
                rows.append(None)
            else:
                rows.append(found)
            if failed and row in failed and failed[row].code == "E403":
                collect()  # what it held, in a circle with where it failed
    like = next((row for row in rows if row is not None), None)
    if like is None:
        like = (np.nan,) * (1 + len(point.wanted))
    nothing = tuple(np.full_like(part, np.nan) for part in like)
    if not rows:
        y, *grads = (Tensor(xp.np.empty(0), xp) for _ in like)
        return y, [*grads]
    parts = zip(*(nothing if row is None else row for row in rows), strict=True)
    y, *grads = (Tensor(xp.np.array(part), xp) for part in parts)
    return y, [*grads]


def _told(error: Exception) -> ProgramError | None:
    """Return the error of a row without the values it held; None: an internal one."""
    if isinstance(error, ProgramError):
        error.__cause__ = error.__context__ = error.__traceback__ = None
        return error
    if is_out_of_memory(error):
        return ProgramError("E403", NO_MEMORY, hint=MORE_MEMORY)
    return ProgramError("E596", str(error)) if isinstance(error, EngineError) else None


def _demand_number(y: Tensor) -> None:
    """See that a row's value is one number.

    Raises:
        ProgramError: it is not.
    """
    if y.numel() != 1:
        message = (
            f"the value has shape {list(y.shape)}, and a gradient is of one number"
        )
        raise ProgramError("E596", message, hint="add .sum(), or take an entry")


def _gradients_of_row(y: Tensor, wanted: Sequence[Tensor]) -> list[Raw]:
    """Return the raw gradients of a row's value; zeros where it does not depend on
    one."""
    found = grad([y], wanted) if y.edge is not None else [None] * len(wanted)
    return [
        x.xp.zeros_like(x.raw) if g is None else g.raw
        for x, g in zip(wanted, found, strict=True)
    ]


def _length(columns: Mapping[str, Any]) -> int:
    """Return how many rows the columns have.

    Raises:
        ProgramError: they differ, or there are none.
    """
    lengths = {n: len(c) for n, c in columns.items() if _dimensions(c)}
    if not lengths:
        raise ProgramError("E509", "no column has rows", hint="give an array")
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} has {n}" for name, n in lengths.items())
        raise ProgramError("E509", f"the columns differ in length: {listed}")
    return next(iter(lengths.values()))


def _shared(value: Any, count: int, dtype: str) -> object:
    """Return a value that all rows share; a number as a column."""
    if _dimensions(value):
        return value
    raw = raw_of(value)
    return np.full(count, value, dtype) if raw is None else np.full(count, raw)


def _dimensions(value: Any) -> int:
    raw = raw_of(value)
    return np.ndim(value if raw is None else raw)
