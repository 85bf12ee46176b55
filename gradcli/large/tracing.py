"""Traces: the steps that a program and its reverse pass run on large arrays.

Each step is a call of the namespace that formulas are written against. The steps are
run on samples: arrays with the shape of the whole, of which a few entries are known.

Invariant: a step computes each entry from the same entry of its operands, or the sum of
all entries; any other use (a truth value, an entry, its memory) is refused, and
`Trace.refused` says so even if the program caught the error. So the steps, run on other
entries, compute what the program would have computed there, to the last bit.

    trace = Trace((1000, 50))
    xp = Samples(NUMPY, trace)
    x = trace.input(np.linspace(0, 1, 61), xp)
    y = xp.tanh(x) * 2
    trace.steps                       # tanh of value 0, multiply of value 1 and 2
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np

from ..engine.arrays import ArrayNamespace
from ..engine.beside import Readable, WrapperNamespace, give_operators, whole
from ..engine.raw import Params, Raw, RawDtype
from ..ops.basis import ARITHMETIC, SPECIAL, UFUNCS
from ..ops.types import Dims, Shape
from .columns import is_elementwise

Function: TypeAlias = Callable[..., Any]
"""The function that a step calls on its operands."""


SINGLE_BYTES = 4
"""Size of the narrowest floats that the library of special functions takes, in bytes.
"""


class Untraceable(TypeError, AttributeError):
    """The error of a use of a traced array that would depend on its entries."""


class TraceValue(NamedTuple):
    """A value of a trace, by its number."""

    nr: int


class UniformArray(NamedTuple):
    """An array with the same number at each entry.

    stretched  True: it has one number in memory, broadcast to its shape
    """

    number: Raw | np.generic | float
    stretched: bool


Operand: TypeAlias = TraceValue | UniformArray | Raw | np.generic | float | None
"""An operand of a step: a value of the trace, or a constant."""


class TraceStep(NamedTuple):
    """One operation: the function that is called, its operands and its options.

    dtype, shape  those of the result; None: it is no array
    """

    function: Function
    operands: tuple[Operand, ...]
    options: tuple[tuple[str, object], ...]
    dtype: RawDtype | None
    shape: Shape | None

    @property
    def entries(self) -> bool:
        """True if the result is an array, False if it is one number."""
        return bool(self.shape)

    def key(self) -> Hashable:
        """Return a key; steps with equal keys compute the same."""
        operands = tuple([constant_key(o) for o in self.operands])
        options = tuple([(name, str(option)) for name, option in self.options])
        return self.function, operands, options, str(self.dtype), self.entries


def constant_key(operand: Operand) -> Hashable:
    """Return a key; operands with equal keys are the same to the last bit."""
    if isinstance(operand, TraceValue):
        return operand
    if isinstance(operand, UniformArray):
        return UniformArray, constant_key(operand.number), operand.stretched
    if isinstance(operand, tuple | list):
        return type(operand), tuple([constant_key(part) for part in operand])
    if isinstance(operand, slice):
        ends = operand.start, operand.stop, operand.step
        return slice, tuple([constant_key(end) for end in ends])
    if getattr(operand, "ndim", 0):
        return id(operand)
    return type(operand), np.asarray(operand).dtype.str, np.asarray(operand).tobytes()


class Trace:
    """The steps that were run, in order.

    shape    the shape of the arrays, where all have one
    inputs   the number of inputs, which are the first values
    known    the number of entries that are known of each array
    steps    the steps, one for each value that is not an input
    given    by number the dtype and the shape of an input, where they are known
    asked    the values of the steps that compare what is read with what was read
    refused  the reason why the program cannot be traced; empty: it can be traced
    """

    def __init__(self, shape: Shape = ()) -> None:
        self.shape = shape
        self.inputs = 0
        self.known = 0
        self.steps: list[TraceStep] = []
        self.given: dict[int, tuple[RawDtype, Shape]] = {}
        self.asked: list[TraceValue] = []
        self.refused = ""

    def input(self, sample: Raw, xp: SampleNamespace) -> Sample:
        """Return a new input with the known entries ``sample``; add inputs first."""
        self.inputs += 1
        self.known = len(sample)
        return Sample(sample, xp, TraceValue(self.inputs - 1))

    def refuse(self, reason: str) -> Untraceable:
        """Record why the program cannot be traced, and return the error to raise."""
        self.refused = self.refused or reason
        return Untraceable(reason)

    def add(
        self,
        function: Function,
        operands: tuple[Operand, ...],
        options: Mapping[str, object],
        result: Any,
    ) -> TraceValue:
        """Add a step, and return its value."""
        given = tuple(sorted(options.items()))
        told = getattr(result, "dtype", None), getattr(result, "shape", None)
        self.steps.append(TraceStep(function, operands, given, *told))
        return TraceValue(self.inputs + len(self.steps) - 1)


class TracedArray(Readable):
    """An array of a trace.

    data   its entries, those that are known, or a number computed from them
    value  its value in the trace
    """

    __slots__ = ("data", "value")

    def __init__(self, data: Any, xp: WrapperNamespace, value: TraceValue) -> None:
        self.data = data
        self.value = value
        self.__gradcli_namespace__ = xp

    @property
    def dtype(self) -> RawDtype:
        found: RawDtype = self.data.dtype
        return found

    @property
    def flags(self) -> Any:
        return self.data.flags


class Sample(TracedArray):
    """An array of which a few entries are known, or a number computed from such
    arrays."""

    __slots__ = ()

    @property
    def trace(self) -> Trace:
        found: Trace = self.__gradcli_namespace__.trace
        return found

    @property
    def shape(self) -> Shape:
        return self.trace.shape if self.data.ndim else ()

    @property
    def size(self) -> int:
        """The number of known entries, on which no trace depends."""
        return int(self.data.size)

    def astype(self, dtype: Any, copy: bool = True) -> Sample:
        if dtype == self.dtype:
            return self.copy()
        xp: SampleNamespace = self.__gradcli_namespace__
        return xp.call_traced(cast_to(dtype), (self,))

    def copy(self, order: str = "C") -> Sample:
        """Return a sample of the same value; changing it does not change this one."""
        return Sample(self.data, self.__gradcli_namespace__, self.value)

    def __getattr__(self, name: str) -> NoReturn:
        raise self.trace.refuse(f"an array's {name} is asked for")


def _refusing(self: Sample, *args: object, **kwargs: object) -> NoReturn:
    raise self.trace.refuse("a number is read")


for _name in (
    "__bool__", "__int__", "__float__", "__complex__", "__index__", "__round__",
    "__len__", "__iter__", "__getitem__", "__setitem__", "__contains__", "__array__",
    "item", "tolist",
):  # fmt: skip
    setattr(Sample, _name, _refusing)

give_operators(Sample)


class SampleNamespace(WrapperNamespace, of=Sample):
    """The namespace of samples of arrays of ``base``, which traces its calls."""

    writeable = False

    def __init__(self, base: ArrayNamespace, trace: Trace) -> None:
        super().__init__(base)
        self.trace = trace

    def other(self, name: str, args: tuple[Any, ...], kwargs: Params) -> Any:
        if not is_elementwise(name):
            raise self.trace.refuse("it reads other entries")
        dtypes = [a.dtype for a in args if isinstance(a, Sample)]
        wide = all(d.kind == "f" and d.itemsize >= SINGLE_BYTES for d in dtypes)
        return self.call_traced(self._function(name, len(args), wide), args, kwargs)

    def _function(self, name: str, count: int, wide: bool) -> Function:
        """Return the function that a step calls for a name of the namespace and a count
        of operands: a library's own one if there is one and it takes all operands
        (``wide``)."""
        own: Any = self.base
        if name in ARITHMETIC:
            return _ufunc_of(ARITHMETIC[name], *[_ONES] * count)[0]
        if name in UFUNCS and (name == "where" or not hasattr(type(own), name)):
            own, name = np, UFUNCS[name]
        if name in SPECIAL and wide and not hasattr(type(own), name):
            word, _, which = SPECIAL[name].partition("[")
            if not which:
                own, name = own._special(), word
        function: Function = getattr(own, name)
        return function

    def call_traced(
        self,
        function: Function,
        args: Sequence[Any],
        options: Mapping[str, object] | None = None,
    ) -> Sample:
        """Return a function's result on the known entries, and record the step."""
        given = options or {}
        result = function(*map(self._some, args), **given)
        if isinstance(result, tuple):
            raise self.trace.refuse("several arrays are given")
        operands = tuple(map(self._operand, args))
        return Sample(result, self, self.trace.add(function, operands, given, result))

    def _some(self, given: Any) -> Any:
        if isinstance(given, Sample):
            return given.data
        if not isinstance(given, np.ndarray) or not given.ndim:
            return given
        if given.shape != self.trace.shape:
            raise self.trace.refuse("an array has another shape than the inputs")
        return np.broadcast_to(given.reshape(-1)[:1], self.trace.known)

    def _operand(self, given: Any) -> Operand:
        if isinstance(given, Sample):
            if given.trace is not self.trace:
                raise self.trace.refuse("an array is of another trace")
            return given.value
        if given is None or isinstance(given, bool | int | float | np.generic):
            return given
        if not isinstance(given, np.ndarray):
            name = type(given).__name__
            raise self.trace.refuse(f"{name} is no number and no array")
        if not given.ndim:
            return given
        first, stretched = given[(0,) * given.ndim], not any(given.strides)
        if not stretched and given.tobytes() != first.tobytes() * given.size:
            raise self.trace.refuse("an array's entries differ")
        return UniformArray(first, stretched)

    def traced(self, given: Any) -> Sample:
        """Return a sample as it is, and any other array as a constant of the trace."""
        if isinstance(given, Sample):
            return given
        return self.call_traced(constant, (given,))

    # -- powers, as NumPy's operator computes them ------------------------------------

    def pow(self, a: Any, b: Any) -> Any:
        if not np.ndim(getattr(a, "data", a)) and not np.ndim(getattr(b, "data", b)):
            return self.call_traced(operator.pow, (a, b))
        if not isinstance(a, Sample) or not isinstance(b, bool | int | float):
            return self.call_traced(np.power, (a, b))
        ufunc, count = _ufunc_of(operator.pow, np.ones(2, a.dtype.str), b)
        return self.call_traced(ufunc, (a, b)[:count])

    # -- sums and shapes ---------------------------------------------------------------

    def sum(self, x: Any, dim: Dims = None, keepdim: bool = False) -> Any:
        axes = (None, 0, (0,)) if x.ndim == 1 else (None,)
        if keepdim or dim not in axes:
            raise self.trace.refuse("a sum is not of all entries")
        return self.call_traced(np.add.reduce, (x,))

    def expand(self, x: Any, shape: Any) -> Any:
        if tuple(shape) == x.shape:
            return x
        if x.ndim or tuple(shape) != self.trace.shape:
            raise self.trace.refuse("it reads other entries")
        stretched = np.broadcast_to(x.data, self.trace.known)
        value = self.trace.add(spread, (x.value,), {}, stretched)
        return Sample(stretched, self, value)

    def reshape(self, x: Any, shape: Any) -> Any:
        if tuple(shape) != x.shape and (x.ndim != 1 or tuple(shape) != (-1,)):
            raise self.trace.refuse("an array's shape is changed")
        return x

    @whole
    def new_full(self, x: Any, shape: Shape, value: Any) -> Any:
        if not shape or tuple(shape) != self.trace.shape:
            return self.base.new_full(x, shape, value)
        held = self.base.new_full(x, (self.trace.known,), value)
        everywhere = UniformArray(held[0], False)
        return Sample(held, self, self.trace.add(constant, (everywhere,), {}, held))


@dataclass(frozen=True, slots=True)
class Cast:
    """A function that converts arrays to a dtype."""

    dtype: RawDtype

    def __call__(self, x: Raw) -> Raw:
        return x.astype(self.dtype)


def cast_to(dtype: Any) -> Cast:
    """Return the function that converts arrays to a dtype."""
    return Cast(np.dtype(dtype))


def constant(x: Raw) -> Raw:
    """Return ``x``: marks the step that makes a constant a value of the trace."""
    return x


def spread(x: Raw) -> Raw:
    """Return ``x``: marks the step that broadcasts a number to the arrays' shape."""
    return x


class _AskedArray(np.ndarray):
    """An array that returns the ufunc that an operator calls, and its operand count."""

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **_: object
    ) -> tuple[np.ufunc, int]:
        return ufunc, len(inputs)


_ONES = np.ones(2)


def _ufunc_of(run: Function, first: Any, *others: Any) -> tuple[np.ufunc, int]:
    """Return the ufunc that NumPy calls for an operator on an array and others, and on
    how many operands it calls it."""
    found: Any = run(first.view(_AskedArray), *others)
    return found  # type: ignore[no-any-return]
