"""Arrays that write down what is done to them.

Invariant: a traced array answers only what is the same for any entries and any count of
them; what is asked beside that (a truth value, an entry, its memory) is refused, and
the recording says so even where the failure was caught. So what was written down, done
to other entries, gives what the program would have given there, to the last bit.

    recording = Recording((1000, 50))
    x = recording.input(np.linspace(0, 1, 61))
    y = np.tanh(x)*2
    recording.steps                       # tanh of value 0, multiply of value 1 and 2
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, NoReturn, TypeAlias, TypeVar

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ...engine.raw import Flags, Raw, RawDtype
from ..pointwise import is_elementwise

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

Function: TypeAlias = Callable[..., Raw]
"""The function that a step calls on its operands."""

T = TypeVar("T")


class Untraceable(TypeError, AttributeError):
    """Something that depends on entries was asked of a traced array."""


class Value(NamedTuple):
    """A value of a recording, by its number."""

    nr: int


class Uniform(NamedTuple):
    """An array with the same number at each entry.

    stretched  it is one number in memory, broadcast
    """

    number: Raw | np.generic | float
    stretched: bool


Operand: TypeAlias = Value | Uniform | Raw | np.generic | float
"""An operand of a step: a value of the recording, or a constant."""


class Step(NamedTuple):
    """One operation: what is done, to which values and constants, with which options.

    entries  it gives an entry for each entry; False: one number
    """

    function: Function
    operands: tuple[Operand, ...]
    options: tuple[tuple[str, object], ...]
    dtype: RawDtype
    entries: bool

    def key(self) -> Hashable:
        """Return a key that is equal for steps that give the same."""
        operands = tuple([constant_key(o) for o in self.operands])
        options = tuple([(name, str(option)) for name, option in self.options])
        return self.function, operands, options, self.dtype.str, self.entries


def constant_key(operand: Operand) -> Hashable:
    """Return a key that is equal for operands that are the same to the last bit."""
    if isinstance(operand, Value):
        return operand
    if isinstance(operand, Uniform):
        return Uniform, constant_key(operand.number), operand.stretched
    return type(operand), np.asarray(operand).dtype.str, np.asarray(operand).tobytes()


class Recording:
    """The steps that were done to traced arrays, in order.

    shape    the shape of the arrays, of which some entries are known
    inputs   the count of values that are inputs; these come first
    known    the count of entries that are known
    steps    the steps that give the other values, one for each
    refused  the reason why the program cannot be recorded; empty: it can
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.inputs = 0
        self.known = 0
        self.steps: list[Step] = []
        self.refused = ""

    def input(self, sample: Raw) -> Traced:
        """Add an input, of which some entries are known, before all steps."""
        self.inputs += 1
        self.known = len(sample)
        return Traced(sample, self, Value(self.inputs - 1))

    def constant(self, array: Raw) -> Traced:
        """Return a traced array with the same number at each entry."""
        return self._wrapped(constant, (self._operand(array),), {}, self._some(array))

    def spread(self, number: Traced) -> Traced:
        """Return a traced number as an array."""
        stretched = np.broadcast_to(number.known, self.known)
        return self._wrapped(spread, (number.value,), {}, stretched)

    def array(self, given: Traced | Raw) -> Traced:
        """Return a traced array as it is, and any other as a constant one."""
        return given if isinstance(given, Traced) else self.constant(given)

    def refuse(self, reason: str) -> Untraceable:
        """Note what was asked that cannot be written down, and give the error of it."""
        self.refused = self.refused or reason
        return Untraceable(reason)

    def call(
        self, function: Function, args: Sequence[object], options: Mapping[str, object]
    ) -> Traced:
        """Do an operation on the known entries and write it down."""
        result = function(*map(self._some, args), **options)
        if isinstance(result, tuple):
            raise self.refuse(f"{function.__name__} gives several arrays")
        return self._wrapped(function, tuple(map(self._operand, args)), options, result)

    def _wrapped(
        self,
        function: Function,
        operands: tuple[Operand, ...],
        options: Mapping[str, object],
        result: Raw,
    ) -> Traced:
        entries = np.ndim(result) > 0
        given = tuple(sorted(options.items()))
        self.steps.append(Step(function, operands, given, result.dtype, entries))
        return Traced(result, self, Value(self.inputs + len(self.steps) - 1))

    def _some(self, given: T) -> T | Raw:
        """Return the known entries of an operand."""
        if isinstance(given, Traced):
            return given.known
        if not isinstance(given, np.ndarray) or not given.ndim:
            return given
        if given.shape != self.shape:
            raise self.refuse("an array has another shape than the inputs")
        return np.broadcast_to(given.reshape(-1)[:1], self.known)

    def _operand(self, given: object) -> Operand:
        """Return an operand as it is written down."""
        if isinstance(given, Traced):
            if given.recording is not self:
                raise self.refuse("an array is of another recording")
            return given.value
        if isinstance(given, bool | int | float | np.generic):
            return given
        if not isinstance(given, np.ndarray):
            raise self.refuse(f"{type(given).__name__} is no number and no array")
        if not given.ndim:
            return given
        first, stretched = given[(0,) * given.ndim], not any(given.strides)
        if not stretched and given.tobytes() != first.tobytes() * given.size:
            raise self.refuse("an array's entries differ")
        return Uniform(first, stretched)


class Traced(NDArrayOperatorsMixin):
    """An array whose operations are written down.

    known      some entries, or the one number that it is
    recording  where its operations are written
    value      its number there
    """

    __slots__ = ("__weakref__", "known", "recording", "value")

    base = None
    """The array that this one is a view of: none, it has memory of its own."""

    def __init__(self, known: Raw, recording: Recording, value: Value) -> None:
        self.known = known
        self.recording = recording
        self.value = value

    @property
    def shape(self) -> tuple[int, ...]:
        return self.recording.shape if self.known.ndim else ()

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """The count of known entries, on which no recording depends."""
        return int(self.known.size)

    @property
    def dtype(self) -> RawDtype:
        found: RawDtype = self.known.dtype
        return found

    @property
    def flags(self) -> Flags:
        """The layout of the entries, which is that of the whole array."""
        return self.known.flags

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **options: object
    ) -> Traced:
        recording = self.recording
        if "out" in options or "where" in options:
            raise recording.refuse(f"{ufunc.__name__} changes an array")
        if method == "__call__" and ufunc.signature is None:
            return recording.call(ufunc, inputs, options)
        if method != "reduce" or ufunc is not np.add:
            raise recording.refuse(f"{ufunc.__name__}.{method} puts entries together")
        axes = (None, 0, (0,)) if self.ndim == 1 else (None,)
        if options.pop("keepdims", False) or options.pop("axis", 0) not in axes:
            raise recording.refuse("a sum is not of all entries")
        return recording.call(np.add.reduce, inputs, options)

    def __array_function__(
        self, function: Function, types: object, args: tuple[object, ...],
        options: Mapping[str, object],
    ) -> Traced:  # fmt: skip
        if function is np.broadcast_to and len(args) == 2:
            if args[1] == self.shape:
                return self
            if args == (self, self.recording.shape):
                return self.recording.spread(self)
        if not is_elementwise(function.__name__):
            raise self.recording.refuse(f"numpy.{function.__name__} is not recorded")
        return self.recording.call(function, args, options)

    def __pow__(self, other: Traced | Raw | float) -> Traced:
        if not self.ndim and not np.ndim(_known(other)):
            return self.recording.call(operator.pow, (self, other), {})
        if not isinstance(other, bool | int | float):
            return self.recording.call(np.power, (self, other), {})
        ufunc, count = _power_by(self.dtype, other)
        return self.recording.call(ufunc, (self, other)[:count], {})

    def __rpow__(self, other: Raw | float) -> Traced:
        if not self.ndim and not np.ndim(other):
            return self.recording.call(operator.pow, (other, self), {})
        return self.recording.call(np.power, (other, self), {})

    def astype(self, dtype: DTypeLike, copy: bool = True) -> Traced:
        """Return the entries in another type."""
        dtype = np.dtype(dtype)
        if dtype == self.dtype:
            return self.copy()
        return self.recording.call(_CASTS.setdefault(dtype, Cast(dtype)), (self,), {})

    def copy(self, order: str = "C") -> Traced:
        """Return an array of the same value, whose changes leave this one as it is."""
        return Traced(self.known, self.recording, self.value)

    def reshape(self, *shape: int | Sequence[int]) -> Traced:
        """Return the array itself under its own shape."""
        first = shape[0] if len(shape) == 1 else shape
        sizes = tuple(first) if isinstance(first, Sequence) else shape
        if sizes != self.shape and (self.ndim != 1 or sizes != (-1,)):
            raise self.recording.refuse("an array's shape is changed")
        return self

    def __getattr__(self, name: str) -> NoReturn:
        raise self.recording.refuse(f"an array's {name} is asked for")


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refuse(self: Traced, *args: object) -> NoReturn:
        raise self.recording.refuse(f"an array's {name} is asked for")

    return refuse


for _name in (
    "__bool__", "__int__", "__float__", "__complex__", "__index__", "__round__",
    "__len__", "__iter__", "__getitem__", "__setitem__", "__contains__", "__array__",
):  # fmt: skip
    setattr(Traced, _name, _refusing(_name))


class Cast:
    """Converts arrays to a type."""

    def __init__(self, dtype: RawDtype) -> None:
        self.dtype = dtype
        self.__name__ = "astype"

    def __call__(self, x: Raw) -> Raw:
        return x.astype(self.dtype)


_CASTS: dict[RawDtype, Cast] = {}


def constant(x: Raw) -> Raw:
    """Make a value of a constant."""
    return x


def _known(x: Traced | T) -> Raw | T:
    return x.known if isinstance(x, Traced) else x


def spread(x: Raw) -> Raw:
    """Make an array of a number, which is one number in
    memory."""
    return x


class _Asked(np.ndarray):
    """An array that says which function an operator calls, and with how many."""

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **_: object
    ) -> tuple[np.ufunc, int]:
        return ufunc, len(inputs)


def _power_by(dtype: RawDtype, exponent: float) -> tuple[np.ufunc, int]:
    """Return the function that NumPy's ``**`` calls for an array and a plain number,
    and how many operands it takes."""
    found: tuple[np.ufunc, int] = operator.pow(
        np.ones(2, dtype.str).view(_Asked), exponent
    )
    return found
