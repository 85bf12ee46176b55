"""Points: values for the inputs of a compiled program, and its run at them.

Invariant: results are tensors, arrays or numbers, as the inputs are.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from ..engine import NUMPY, Tensor, resolve
from ..engine.devices import cuda
from .compiler import compile_program
from .errors import ProgramError
from .excerpt import enumerated
from .factory import Factory
from .in_parts import Known
from .parser import parse
from .prepare import differentiated, unread
from .record import Record
from .run import Input, Prepared, Session, input_names


class Reading:
    """A program's text, parsed and compiled for the names that have values.

    known  the traces of the program that were made so far
    """

    def __init__(self, text: str, bound: frozenset[str]) -> None:
        program = parse(text, bound)
        self.names = input_names(program, bound)
        self.code = compile_program(program)
        self.known: Known = {}


class Settings(NamedTuple):
    """The settings of a program that are the same at every point.

    wrt    the inputs that derivatives are taken for; None: all
    dtype  the dtype of all numbers; None: that of the given arrays
    device the device for numbers and lists: ``cpu``, ``cuda`` or ``auto``
    seed   the seed of the numbers that the program draws
    of     the variable that is the value; None: the last statement's value
    """

    wrt: tuple[str, ...] | None
    dtype: str | None
    device: str
    seed: int
    of: str | None


class Ways(NamedTuple):
    """Counts of the ways in which the rows of a table were computed.

    rows     the number of rows
    runs     the number of runs that computed several rows together
    threads  the number of threads that shared these runs
    alone    the number of rows that were computed one by one
    text     the text of a step that differs between rows; empty: it is not known
    """

    rows: int
    runs: int
    threads: int
    alone: int
    text: str

    def and_then(self, more: "Ways") -> "Ways":
        """Return the counts of these rows and of others together."""
        threads, text = max(self.threads, more.threads), self.text or more.text
        rows, runs = self.rows + more.rows, self.runs + more.runs
        return Ways(rows, runs, threads, self.alone + more.alone, text)


class Gradients(Record):
    """A program's value at a point, and the gradient by each input.

    grads  the gradients by the inputs' names; None if the value does not depend on one
    ways   the ways in which the rows of a table were computed; None: it is no table
    """

    value: Any
    grads: dict[str, object]
    ways: Ways | None = None


class Point:
    """Values for a program's inputs.

    tensors  the values as tensors, by the inputs' names
    wanted   those of them that derivatives are taken for
    """

    def __init__(
        self, reading: Reading, values: Mapping[str, object], settings: Settings
    ) -> None:
        names = reading.names
        check_names(names, values)
        self.reading = reading
        self.of = settings.of
        self.given = values
        dtype = settings.dtype or dtype_of(values)
        xp = _namespace(values, settings.device)
        self.factory = Factory(xp, dtype, settings.seed)
        wrt = differentiated(settings.wrt, names, "wrt")
        self.tensors = {n: self._tensor(n, values[n], n in wrt) for n in names}
        self.wanted = {n: t for n, t in self.tensors.items() if n in wrt}

    def _tensor(self, name: str, value: object, wanted: bool) -> Tensor:
        raw = raw_of(value)
        if raw is not None and raw.dtype.kind == "O":
            value, raw = raw.tolist(), None
        if raw is not None:
            if raw.dtype.kind not in "fiub":
                message = f"{name} holds {raw.dtype}, not real numbers"
                raise ProgramError("E302", message)
            kept = raw.astype(self.factory.dtype, copy=False)
            return Tensor(kept, self.factory.xp, requires_grad=wanted)
        made = self.factory.leaf if wanted else self.factory.constant
        return made(self.factory.numbers_of(value))

    @property
    def prepared(self) -> Prepared:
        """The program with its inputs."""
        inputs = tuple(
            Input(name, t, False, name in self.wanted)
            for name, t in self.tensors.items()
        )
        code = self.reading.code
        return Prepared(code.source, code, self.factory, inputs)

    def run(self) -> Tensor:
        """Return the program's value, with the graph below it."""
        with np.errstate(all="ignore"):
            return Session(self.prepared, self.of)()

    def by_name(self, found: Sequence[Tensor | None]) -> dict[str, object]:
        """Return derivatives by input: tensors, arrays or numbers, like the inputs."""
        taken: list[Any] = []
        by_name: dict[str, object] = {}
        for name, g in zip(self.wanted, found, strict=True):
            if g is not None and isinstance(g.raw, np.ndarray):
                g = Tensor(_own(g.raw, taken), g.xp)
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
            given = (t.raw for t in self.tensors.values())
            raw = _own(raw, [r for r in given if isinstance(r, np.ndarray)])
        for value in values:
            if _is_torch(value):
                return value.new_tensor(raw)
        if any(hasattr(value, "dtype") for value in values) or raw.ndim:
            return raw
        return float(raw)


def _own(raw: Any, taken: Sequence[Any]) -> Any:
    """Return an array, or a copy if it is read-only or shares memory with another."""
    shared = any(np.may_share_memory(raw, other) for other in taken)
    return raw.copy() if shared or not raw.flags.writeable else raw


def _is_torch(value: object) -> TypeGuard[Any]:
    """Return whether a value is a tensor of PyTorch, which is not imported for that."""
    return hasattr(value, "new_tensor") and not isinstance(value, Tensor)


def raw_of(value: object) -> Any:
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


def check_names(
    names: Sequence[str], values: Iterable[str], others: Iterable[str] = ()
) -> None:
    """Refuse an input without a value, and a value without an input.

    Args:
        names: the inputs.
        values: the names that have values.
        others: the names that will be given values later.

    Raises:
        ProgramError: an input has no value, or a value has no input.
    """
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
    return resolve(device)


def dtype_of(values: Mapping[str, object]) -> str:
    """Return ``float32`` if that is the dtype of all arrays, else ``float64``."""
    raws = (v if hasattr(v, "dtype") else None for v in values.values())
    found = {str(raw_of(v).dtype) for v in raws if v is not None}
    return "float32" if found == {"float32"} else "float64"
