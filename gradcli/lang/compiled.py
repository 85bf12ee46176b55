"""Programs that are read once and then differentiated at many points.

Invariant: a result is what the command line gives at the same point; results are
tensors, arrays or numbers, as the inputs are.

    program = compile("y = sin(x)*a")
    result = program.grad(x=0.5, a=2.0)
    result.value, result.grads["x"]             # 0.958..., 1.755...
    program.jacobian(x=np.arange(3.0), a=1.0).blocks["x"]
"""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from ..engine import grad, resolve
from ..engine.jacobian import rows_of
from .errors import ProgramError
from .in_parts import InParts, in_parts
from .point import Gradients, Point, Reading, Settings, dtype_of, raw_of
from .record import Record
from .rows import Rows

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

    def __reduce__(self) -> "tuple[type[Compiled], tuple[str, Settings]]":
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
