"""`fuse` as strict as CuPy's, on NumPy's arrays.

Invariant: what CuPy makes a kernel of one by one is one kernel here; what it refuses is
refused. It was read in CuPy 14.2 (`_core/fusion.pyx`), whose own fusion runs without a
GPU as far as the kernel's text. CuPy tries another kind of fusion where this one fails
(`new_fusion`), which makes a kernel for each shape and a double of each plain number;
here that is a failure.

    fuse(kernel_name="Scaled")(lambda x, a: x*a)(x, 2.0)      # one kernel
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy

from .counts import launched

NUMBERS = (int, float, bool, complex, numpy.generic)

CALLED = {"copy", "clip", "round", "real", "imag", "isposinf", "isneginf"}
"""Functions of arrays that are no ufuncs, and that CuPy makes part of a kernel."""

OF_C = {*dir(math), "abs", "max", "min", "round", "add", "sub", "mul", "div"}
"""Names of functions of C and of CUDA, which a kernel cannot have."""

_fusing: list[Fusion] = []


def is_fusing() -> bool:
    """Whether the function of a kernel is being read."""
    return bool(_fusing)


class Scalar:
    """A plain number, or what was made of plain numbers alone; `weak`: its class."""

    ndim = -1

    def __init__(self, held: Any, weak: Any = None) -> None:
        self.held, self.weak = held, weak
        self.dtype = held.dtype

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise Exception("Can't cast to bool")

    def __setitem__(self, at: Any, value: Any) -> None:
        if at is not Ellipsis and at != slice(None):
            raise ValueError("The fusion supports `[...]` or `[:]`.")
        write(self, variable(value).held)

    def copy(self) -> Any:
        return like(self, numpy.array(self.held))

    def astype(
        self, dtype: Any, order: Any = None, casting: Any = None, subok: Any = None,
        copy: bool = True,
    ) -> Any:  # fmt: skip
        if (order, casting, subok) != (None, None, None):
            raise TypeError("order, casting and subok are not supported yet")
        if not copy and self.dtype == numpy.dtype(dtype):
            return self
        with numpy.errstate(all="ignore"):
            return like(self, self.held.astype(dtype))


class Array(Scalar):
    """An array, of which the kernel sees one entry."""

    def __init__(self, held: Any, given: bool = False) -> None:
        super().__init__(held)
        self.ndim = held.ndim
        self.given = given
        self.written = False


def like(x: Scalar, held: Any) -> Scalar:
    """Return a new value, an array where ``x`` is one."""
    return Array(held) if isinstance(x, Array) else Scalar(held)


def write(into: Any, held: Any) -> None:
    """Write to an array."""
    if not isinstance(into, Array):
        raise TypeError("return arrays must be of ArrayType")
    if numpy.broadcast_shapes(into.held.shape, held.shape) != into.held.shape:
        raise ValueError("non-broadcastable output operand")
    if into.given and not into.written:
        into.held = into.held.copy()
    into.written = True
    with numpy.errstate(all="ignore"):
        into.held[...] = held


def variable(value: Any) -> Any:
    """Return an operand of a call inside of a kernel.

    Raises:
        TypeError: it is an array that the kernel was not given.
    """
    if isinstance(value, Scalar):
        return value
    if isinstance(value, NUMBERS):
        return Scalar(numpy.asarray(value), type(value))
    raise TypeError(f"Unsupported type {type(value)}")


def call(ufunc: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a ufunc inside of a kernel."""
    given = [variable(arg) for arg in args]
    inputs, outputs = given[: ufunc.nin], given[ufunc.nin :]
    out = kwargs.pop("out", None)
    if out is not None:
        outputs.append(variable(out))
    if kwargs:
        raise TypeError(f"Wrong arguments {kwargs}")
    if len(inputs) != ufunc.nin:
        raise ValueError("invalid number of arguments")
    ins, outs = loop(ufunc, inputs)
    with numpy.errstate(all="ignore"):
        held = [x.held.astype(t) for x, t in zip(inputs, ins, strict=True)]
        found = ufunc._run(*held)
    found = found if isinstance(found, tuple) else (found,)
    ndim = max(x.ndim for x in inputs)
    made: list[Any] = []
    for nr, (y, t) in enumerate(zip(found, outs, strict=True)):
        y = numpy.asarray(y).astype(t)
        if nr < len(outputs):
            if not numpy.can_cast(t, outputs[nr].dtype, "same_kind"):
                raise TypeError(f"output {nr}: cannot cast")
            write(outputs[nr], y)
            made.append(outputs[nr])
        else:
            made.append(Scalar(y) if ndim < 0 else Array(y))
    return made[0] if len(made) == 1 else tuple(made)


def loop(ufunc: Any, inputs: Sequence[Any]) -> tuple[str, str]:
    """Return the types of inputs and outputs of the first entry that fits; a plain
    number fits where it would not change the type."""
    for each in ufunc.types:
        ins, outs = each.split("->")
        if all(_fits(x, t) for x, t in zip(inputs, ins, strict=True)):
            return ins, outs
    raise TypeError(f"Invalid type cast in '{ufunc.name}'")


def _fits(x: Any, type_: str) -> bool:
    if numpy.can_cast(x.dtype, type_):
        return True
    if x.weak is None:
        return False
    try:
        return bool(numpy.result_type(x.weak(0), type_) == type_)
    except TypeError:
        return False


BOTH = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide",
    "floordiv": "floor_divide", "mod": "remainder", "lshift": "left_shift",
    "rshift": "right_shift", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor",
}  # fmt: skip
"""Operators that also exist turned, and in place; a power is never turned."""
ALONE = {
    "neg": "negative", "invert": "invert", "pow": "power", "lt": "less",
    "le": "less_equal", "eq": "equal", "ne": "not_equal", "gt": "greater",
    "ge": "greater_equal",
}  # fmt: skip


def _operator(name: str, turned: bool = False, changes: bool = False) -> Any:
    def run(self: Any, *others: Any) -> Any:
        from .modules import function

        given = (*others, self) if turned else (self, *others)
        return function("cupy", name)(*given, *([self] if changes else []))

    return run


for _own, _name in (BOTH | ALONE).items():
    setattr(Scalar, f"__{_own}__", _operator(_name))
for _own, _name in BOTH.items():
    setattr(Scalar, f"__r{_own}__", _operator(_name, turned=True))
for _own, _name in (BOTH | {"pow": "power"}).items():
    if _own not in ("pow",):
        setattr(Array, f"__i{_own}__", _operator(_name, changes=True))
Array.__ipow__ = _operator("power", changes=True)


class Fusion:
    """A function that is one kernel; `new_fusion` is set where it failed to be one."""

    def __init__(self, func: Callable[..., Any], name: str | None = None) -> None:
        self.func = func
        self.name = name or func.__name__
        self.new_fusion: Any = None

    def __call__(self, *args: Any) -> Any:
        from .arrays import ndarray

        if is_fusing() or not any(isinstance(a, ndarray) for a in args):
            return self.func(*args)
        if self.new_fusion is not None:
            raise self.new_fusion
        for arg in args:
            if not isinstance(arg, (ndarray, *NUMBERS, type(None))):
                raise TypeError(f"Invalid argument type for '{self.name}'")
        try:
            with _reading(self):
                return self._run(args)
        except Exception as error:
            self.new_fusion = error
            raise

    def _run(self, args: Sequence[Any]) -> Any:
        from .arrays import _new, ndarray

        if not self.name.isidentifier() or self.name in OF_C:
            raise RuntimeError(f"{self.name} is no name of a kernel")
        given = [
            Array(a._held, True) if isinstance(a, ndarray)
            else None if a is None
            else Scalar(numpy.asarray(a), type(a))
            for a in args
        ]  # fmt: skip
        shape = numpy.broadcast_shapes(*[x.held.shape for x in given if x is not None])
        found = self.func(*given)
        parts = found if isinstance(found, tuple) else (found,)
        parts = tuple([part for part in parts if part is not None])
        if found is not None and not isinstance(found, tuple | Scalar):
            raise TypeError(f"Fusion function can't return {type(found)}")
        made = [
            _new(numpy.array(numpy.broadcast_to(variable(y).held, shape), order="C"))
            for y in parts
        ]
        launched(self.name)
        for arg, x in zip(args, given, strict=True):
            if isinstance(x, Array) and x.written:
                if x.held.shape != shape:
                    raise ValueError("a smaller array is written by several entries")
                arg._held[...] = x.held
        if found is None:
            return None
        return tuple(made) if isinstance(found, tuple) else made[0]


@contextmanager
def _reading(fusion: Fusion) -> Iterator[None]:
    _fusing.append(fusion)
    try:
        yield
    finally:
        _fusing.pop()


def fuse(*args: Any, **kwargs: Any) -> Any:
    """Return a decorator that makes a function one kernel, or what it decorates."""

    def made(f: Callable[..., Any], kernel_name: str | None = None) -> Fusion:
        return Fusion(f, kernel_name)

    if len(args) == 1 and not kwargs and callable(args[0]):
        return made(args[0])
    return lambda f: made(f, *args, **kwargs)
