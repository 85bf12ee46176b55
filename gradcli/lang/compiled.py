"""Programs that are read once and then differentiated at many points.

Invariant: a result is what the command line gives at the same point; results are
tensors, arrays or numbers, as the inputs are.

    program = compile("y = sin(x)*a")
    result = program.grad(x=0.5, a=2.0)
    result.value, result.grads["x"]             # 0.958..., 1.755...
    program.jacobian(x=np.arange(3.0), a=1.0).blocks["x"]
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib import import_module
from itertools import product
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from ..engine import NUMPY, Tensor, resolve
from ..engine.devices import cuda
from ..large.blocks import without_lost
from ..tables.rows import Rows
from .compiler import compile_program
from .errors import ProgramError
from .excerpt import enumerated
from .factory import Factory
from .in_parts import Known, in_parts
from .machine import Code
from .parser import parse
from .prepare import Input, Prepared, differentiated, input_names, unread
from .run import Replays, Session
from .shown_results import ShownRows, text_of_numbers

Array = Any


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PointGradients(ShownRows):
    """A program's value at a point, and the gradient by each input.

    grads  the gradients by the inputs' names; None if the value does not depend on one
    single the number of rows of a table that were computed one by one
    absent the rows of a table, as masks, in which nothing is differentiable (0), or the
           value does not depend on the n-th input (n), whose gradient stands as 0
    """

    value: Any
    grads: dict[str, Any]
    single: int = 0
    absent: Mapping[int, Any] = field(default_factory=dict)

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield the value and the gradient by each input, with their labels."""
        return _rows(self.value, self.grads)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Jacobians(ShownRows):
    """A program's value at a point, and its Jacobian by each input.

    blocks  the Jacobian by each input's name: an array of the value's shape followed by
            the input's, or a ``scipy.sparse.csr_array`` with a row for each entry of
            the value and a column for each entry of the input
    """

    value: Array
    blocks: dict[str, Array]

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield the value and the block by each input, with their labels."""
        return _rows(self.value, self.blocks)


def _rows(value: Any, derivatives: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "value", text_of_numbers(value)
    for name, numbers in derivatives.items():
        text = "does not depend on it" if numbers is None else text_of_numbers(numbers)
        yield f"d/d{name}", text


class Settings(NamedTuple):
    """The settings of a program that are the same at every point, as in `compile`."""

    wrt: tuple[str, ...] | None
    dtype: str | None
    device: str
    seed: int
    of: str | None


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
        device: the device for numbers and lists: ``cpu``, ``cuda``, or ``auto`` for a
            GPU where the lists are large; an array stays on its device.
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


def _rank(value: Any) -> int | None:
    """Return the number of a value's dimensions; None if it has no value yet."""
    if value is None:
        return None
    return int(value.ndim if hasattr(value, "ndim") else np.ndim(value))


class ProgramReading:
    """A program's text, parsed and compiled for the names that have values; ``known``
    and ``replays`` are its traces that were made so far."""

    def __init__(self, text: str, bound: Mapping[str, object]) -> None:
        program = parse(text, bound, lambda: {n: _rank(v) for n, v in bound.items()})
        self.rewritten = program.source != text
        self.names = input_names(program, bound)
        self.code: Code = compile_program(program)
        self.known: Known = {}
        self.replays: dict[Hashable, Replays] = {}


class Compiled:
    """A program that is ready to be run; `compile` returns one.

    inputs  the names of its inputs, in order of first use
    """

    def __init__(self, text: str, settings: Settings) -> None:
        self.text = text
        self.settings = settings
        self._readings: dict[Hashable, ProgramReading] = {}
        self.inputs = self.reading({}).names

    def __reduce__(self) -> tuple[type[Compiled], tuple[str, Settings]]:
        return Compiled, (self.text, self.settings)

    def __repr__(self) -> str:
        return f"gradcli.compile({self.text!r})"

    def reading(self, bound: Mapping[str, object]) -> ProgramReading:
        """Return the program as it is parsed if the names ``bound`` have values."""
        key: Hashable = frozenset(bound)
        found = self._readings.get(key)
        if found is not None and found.rewritten:
            # What the text means depends on the numbers of dimensions.
            key = frozenset((name, _rank(value)) for name, value in bound.items())
            found = self._readings.get(key)
        if found is None:
            found = self._readings[key] = ProgramReading(self.text, bound)
        return found

    def at(self, values: Mapping[str, object]) -> ProgramPoint:
        """Return the program with a value for each input."""
        return ProgramPoint(self.reading(values), values, self.settings)

    def __call__(self, **values: object) -> Array:
        """Return the program's value: a tensor, an array or a number, as the inputs."""
        point = self.at(values)
        return point.back(point.run())

    def grad(self, **values: object) -> PointGradients:
        """Return the value and the gradients at a point.

        Args:
            values: a number, a list, an array or a tensor for each input.

        Raises:
            ProgramError: an input is missing or unknown, or the program fails.
            GradError: the value has more than one entry, or depends on no input.
        """
        point = self.at(values)
        cut = None
        if self.settings.of is None:
            cut = in_parts(point.prepared, self.reading(values).known)
        if cut is not None:
            return PointGradients(point.back(cut.value), point.by_name(cut.grads))
        session = point.session(self.reading(values).replays)
        value, raws = session.differentiate(list(point.wanted))
        xp = point.prepared.factory.xp
        found = [None if g is None else Tensor(g, xp) for g in raws]
        return PointGradients(point.back(Tensor(value, xp)), point.by_name(found))

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
        with np.errstate(all="ignore"):
            (blocks,) = without_lost([y], list(point.wanted.values()))
        by_name: dict[str, Array] = {}
        for name, block in zip(point.wanted, blocks, strict=True):
            kept = block.sparse if sparse is None else sparse
            by_name[name] = block.csr() if kept else point.back(block.dense(), name)
        return Jacobians(point.back(y), by_name)

    def table(self, columns: Mapping[str, object], **shared: object) -> PointGradients:
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
        given: Any = columns
        names = getattr(getattr(given, "dtype", None), "names", None)
        names = names or getattr(given, "column_names", None)
        if hasattr(given, "keys"):
            names = list(given.keys())
        elif names is None and hasattr(given, "get_column"):  # a frame of polars
            names = list(given.columns)
        elif names is None and hasattr(given, "__arrow_c_stream__"):
            given = _read_stream(given)
            names = given.column_names
        if names is None:
            message = f"columns have names, and {type(columns).__name__} has none"
            raise ProgramError("E595", message, hint='as in {"x": [1.0, 2.0]}')
        return self.at_rows({name: given[name] for name in names}, shared)

    def at_rows(
        self,
        columns: Mapping[str, Any],
        shared: Mapping[str, object],
        failed: dict[int, ProgramError] | None = None,
        each: AbstractContextManager[None] | None = None,
        first: bool = False,
        kind: str = "grad",
    ) -> PointGradients:
        """Return the values and the gradients at rows of columns, as `table` does.

        Args:
            columns: an array for each input, with an entry for each row.
            shared: values of the other inputs.
            failed, each, first, kind: as in `Rows`.
        """
        twice = next((name for name in shared if name in columns), None)
        if twice is not None:
            hint = "leave out one of the two"
            raise ProgramError("E503", f"{twice} is a column and a value", hint=hint)
        lengths = {n: len(c) for n, c in columns.items() if _dimensions(c)}
        if not lengths:
            raise ProgramError("E595", "no column has rows", hint="give an array")
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{name} has {n}" for name, n in lengths.items())
            raise ProgramError("E595", f"the columns differ in length: {listed}")
        count, dtype = next(iter(lengths.values())), _dtype_of({**columns, **shared})
        whole = {name for name, value in shared.items() if _dimensions(value)}
        values = {**columns, **shared}
        for name in shared.keys() - whole:  # a number becomes a column of it
            value: Any = shared[name]
            raw = _raw_of(value)
            values[name] = np.full(count, *((value, dtype) if raw is None else (raw,)))
        point, of = self.at(values), self.settings.of
        rows = Rows(point.prepared, of, count, whole, failed, each, first, kind)
        y, grads = rows.run()
        names = product(point.wanted, repeat=1 + (kind == "hessian"))
        found = {"_".join(n): point.back(g) for n, g in zip(names, grads, strict=True)}
        return PointGradients(point.back(y), found, rows.single, rows.absent)


class ProgramPoint:
    """Values for a program's inputs.

    prepared  the program, with the values as tensors
    wanted    those that derivatives are taken for, by the inputs' names
    """

    def __init__(
        self, reading: ProgramReading, values: Mapping[str, object], settings: Settings
    ) -> None:
        names, code = reading.names, reading.code
        check_names(names, values)
        self.of = settings.of
        self.given = values
        dtype = settings.dtype or _dtype_of(values)
        factory = Factory(_namespace(values, settings.device), dtype, settings.seed)
        wrt = differentiated(settings.wrt, names, "wrt")
        inputs = tuple(
            Input(name, _tensor(name, values[name], name in wrt, factory), False,
                  name in wrt)
            for name in names
        )  # fmt: skip
        self.prepared = Prepared(code.source, code, factory, inputs)
        self.wanted = {i.name: i.tensor for i in inputs if i.requires_grad}

    def run(self) -> Tensor:
        """Return the program's value, with the graph below it."""
        with np.errstate(all="ignore"):
            return self.session()()

    def session(self, known: dict[Hashable, Replays] | None = None) -> Session:
        """Return the program with these values, to be run."""
        return Session(self.prepared, self.of, known=known)

    def by_name(self, found: Sequence[Tensor | None]) -> dict[str, object]:
        """Return derivatives by input: tensors, arrays or numbers, like the inputs."""
        taken: list[Any] = []
        by_name: dict[str, object] = {}
        for name, g in zip(self.wanted, found, strict=True):
            if g is not None and isinstance(g.raw, np.ndarray):
                g = Tensor(_copy_if_shared(g.raw, taken), g.xp)
                taken.append(g.raw)
            by_name[name] = None if g is None else self.back(g, name)
        return by_name

    def back(self, y: Tensor, name: str | None = None) -> Any:
        """Return a result as a tensor, an array or a number: as the inputs are, or the
        input ``name`` is."""
        values = self.given.values() if name is None else (self.given[name],)
        if any(isinstance(value, Tensor) for value in values):
            return y.detach()
        raw = y.raw
        if isinstance(raw, np.ndarray) and raw.ndim:
            given = (i.tensor.raw for i in self.prepared.inputs)
            raw = _copy_if_shared(raw, [r for r in given if isinstance(r, np.ndarray)])
        for value in values:
            if _is_torch(value):
                return value.new_tensor(raw)
        if any(hasattr(value, "dtype") for value in values) or raw.ndim:
            return raw
        return float(raw)


def _tensor(name: str, value: object, wanted: bool, factory: Factory) -> Tensor:
    raw = _raw_of(value)
    if raw is None or raw.dtype.kind == "O":
        numbers = factory.numbers_of(value if raw is None else raw.tolist())
        return factory.leaf(numbers) if wanted else factory.constant(numbers)
    if raw.dtype.kind not in "fiub":
        message = f"{name} holds {raw.dtype}, not real numbers"
        raise ProgramError("E302", message)
    kept = raw.astype(factory.dtype, copy=False)
    return Tensor(kept, factory.xp, requires_grad=wanted)


def _copy_if_shared(raw: Any, taken: Sequence[Any]) -> Any:
    """Return an array, or a copy if it is read-only or shares memory with another."""
    shared = any(np.may_share_memory(raw, other) for other in taken)
    return raw.copy() if shared or not raw.flags.writeable else raw


def _read_stream(table: Any) -> Any:
    """Return the table of an object that gives columns as a stream of Arrow's."""
    try:
        pyarrow = import_module("pyarrow")
    except ImportError:
        message = f"reading {type(table).__name__} needs the package pyarrow"
        hint = 'install it, or give a dict: {"x": [1.0, 2.0]}'
        raise ProgramError("E595", message, hint=hint) from None
    return pyarrow.table(table)


def _is_torch(value: object) -> TypeGuard[Any]:
    """Return whether a value is a tensor of PyTorch, which is not imported for that."""
    return hasattr(value, "new_tensor") and not isinstance(value, Tensor)


def _raw_of(value: object) -> Any:
    """Return a tensor, an array-like object or a range as an array; None for others."""
    if isinstance(value, Tensor):
        return value.raw
    if _is_torch(value):
        return value.detach().cpu().numpy()
    if isinstance(value, np.ndarray | np.generic):
        return value
    if hasattr(value, "__cuda_array_interface__") and not hasattr(value, "numpy"):
        return value
    known = hasattr(value, "__array__") or isinstance(value, range)
    return np.asarray(value) if known else None


def _dimensions(value: Any) -> int:
    raw = _raw_of(value)
    return np.ndim(value if raw is None else raw)


def check_names(
    names: Sequence[str], values: Iterable[str], others: Iterable[str] = ()
) -> None:
    """Refuse an input of ``names`` that is in neither ``values`` nor ``others``, which
    get their values later, and a value without an input."""
    for name in values:
        if name not in names:
            message, hint = unread(name, names)
            raise ProgramError("E505", message, hint=hint)
    missing = [name for name in names if name not in {*values, *others}]
    if missing:
        message = f"no value for {enumerated(missing)}"
        raise ProgramError("E506", message, hint=f"add {missing[0]}=...")


def _namespace(values: Mapping[str, object], device: str) -> Any:
    """Return the namespace of the first array's device; without one, of ``device``."""
    for value in values.values():
        if isinstance(value, Tensor):
            return value.xp
        if hasattr(value, "__cuda_array_interface__"):
            return cuda()
        if isinstance(value, np.ndarray):
            return NUMPY
    if device != "auto":
        return resolve(device)
    given: list[Any] = [*values.values()]
    return resolve(device, max(map(np.size, given), default=0))


def _dtype_of(values: Mapping[str, object]) -> str:
    """Return ``float32`` if that is the dtype of all arrays, else ``float64``."""
    raws = (v if hasattr(v, "dtype") else None for v in values.values())
    found = {str(_raw_of(v).dtype) for v in raws if v is not None}
    return "float32" if found == {"float32"} else "float64"
