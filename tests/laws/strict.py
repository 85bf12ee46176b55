"""Arrays that refuse to become NumPy arrays behind one's back, as CuPy's do.

Invariant: a `StrictArray` meets only its own kind and Python numbers; results of shape
() stay arrays. What runs on these arrays runs on a GPU's without a hidden copy.

    x = StrictArray(numpy.ones(3))
    STRICT.exp(x)           # a StrictArray
    numpy.exp(x)            # TypeError
"""

from __future__ import annotations

import operator
from importlib import import_module
from typing import Any
from weakref import WeakValueDictionary

import numpy

from gradcli.engine.arrays import ArrayNamespace
from gradcli.engine.versions import apart

REFUSAL = "implicit conversion to a NumPy array"


_OWNERS: WeakValueDictionary[int, Any] = WeakValueDictionary()
"""The first strict array of each NumPy array that owns its memory."""


class _Memory:
    """Where an array lies, as CuPy says it."""

    def __init__(self, held: Any) -> None:
        self.ptr = held.__array_interface__["data"][0]


class StrictArray:
    """An array of the imaginary device "strict"."""

    __slots__ = ("__weakref__", "held")
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, held: Any) -> None:
        self.held = numpy.asarray(held)
        if self.held.base is None:
            _OWNERS.setdefault(id(self.held), self)

    def get(self) -> Any:
        """The explicit copy to the host."""
        return self.held.copy()

    @property
    def __gradcli_namespace__(self) -> ArrayNamespace:
        return STRICT

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(REFUSAL)

    shape = property(lambda self: self.held.shape)
    ndim = property(lambda self: self.held.ndim)
    size = property(lambda self: self.held.size)
    dtype = property(lambda self: self.held.dtype)
    flags = property(lambda self: self.held.flags)
    strides = property(lambda self: self.held.strides)
    data = property(lambda self: _Memory(self.held))
    base = property(lambda self: _OWNERS.get(id(self.held.base)))
    T = property(lambda self: StrictArray(self.held.T))

    def __getattr__(self, name: str) -> Any:
        """Methods (`reshape`, `astype`, `all`, ...), which give their own kind."""
        if name.startswith("__"):
            raise AttributeError(name)
        return _wrapped(getattr(self.held, name))

    def item(self) -> Any:
        return self.held.item()

    def tolist(self) -> Any:
        return self.held.tolist()

    def __getitem__(self, index: Any) -> Any:
        return StrictArray(self.held[_opened(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        self.held[_opened(index)] = _opened(value)

    def __len__(self) -> int:
        return len(self.held)

    def __bool__(self) -> bool:
        return bool(self.held)

    def __int__(self) -> int:
        return int(self.held)

    def __float__(self) -> float:
        return float(self.held)

    def __index__(self) -> int:
        return operator.index(self.held)


def _operator(name: str) -> Any:
    apply = getattr(operator, name)

    def run(self: StrictArray, *others: Any) -> Any:
        return StrictArray(apply(self.held, *map(_opened, others)))

    return run


def _reflected(name: str) -> Any:
    apply = getattr(operator, name)

    def run(self: StrictArray, other: Any) -> Any:
        return StrictArray(apply(_opened(other), self.held))

    return run


def _changing(name: str) -> Any:
    apply = getattr(operator, name)

    def run(self: StrictArray, other: Any) -> Any:
        self.held = numpy.asarray(apply(self.held, _opened(other)))
        return self

    return run


for _name in ("add", "sub", "mul", "truediv"):
    setattr(StrictArray, f"__i{_name}__", _changing(f"__i{_name}__"))
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"):
    setattr(StrictArray, f"__{_name}__", _operator(f"__{_name}__"))
    setattr(StrictArray, f"__r{_name}__", _reflected(f"__{_name}__"))
for _name in ("and", "or", "xor"):
    setattr(StrictArray, f"__{_name}__", _operator(f"__{_name}__"))
    setattr(StrictArray, f"__r{_name}__", _reflected(f"__{_name}__"))
for _name in ("neg", "pos", "abs", "invert", "lt", "le", "gt", "ge", "eq", "ne"):
    setattr(StrictArray, f"__{_name}__", _operator(f"__{_name}__"))


def _opened(value: Any) -> Any:
    """What a strict array holds, also inside sequences; NumPy's arrays are refused."""
    if isinstance(value, StrictArray):
        return value.held
    if isinstance(value, numpy.ndarray):
        raise TypeError(f"unsupported type {type(value)} among strict arrays")
    if isinstance(value, tuple | list):
        return type(value)([_opened(v) for v in value])
    if isinstance(value, dict):
        return {k: _opened(v) for k, v in value.items()}
    return value


def _closed(value: Any) -> Any:
    """NumPy's result as strict arrays, also inside sequences."""
    if isinstance(value, numpy.ndarray | numpy.generic):
        return StrictArray(value)
    if isinstance(value, tuple | list):
        return tuple([_closed(v) for v in value])
    return value


def _wrapped(function: Any) -> Any:
    def run(*args: Any, **kwargs: Any) -> Any:
        return _closed(function(*_opened(args), **_opened(kwargs)))

    return run


class StrictUfunc:
    """A ufunc with its methods: `reduce`, `at`, `accumulate`."""

    def __init__(self, ufunc: numpy.ufunc) -> None:
        self._ufunc = ufunc

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _wrapped(self._ufunc)(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return _wrapped(getattr(self._ufunc, name))


class StrictModule:
    """A module of functions on arrays, NumPy's or SciPy's, for strict arrays."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if isinstance(found, type(numpy)):
            return StrictModule(found)
        if isinstance(found, numpy.ufunc):
            return StrictUfunc(found)
        if isinstance(found, type) or not callable(found):
            return found
        return _wrapped(found)


class StrictNamespace(ArrayNamespace):
    """The one door: `array` takes a NumPy array over, as CuPy's `asarray` does."""

    def array(self, values: Any) -> Any:
        known = isinstance(values, numpy.ndarray | numpy.generic)
        return StrictArray(values if known else _opened(values))

    def apart(self, x: Any) -> Any:
        return StrictArray(apart(x.held))


STRICT = StrictNamespace(
    StrictModule(numpy),
    lambda: StrictModule(import_module("scipy.special")),
    lambda: StrictModule(import_module("scipy.linalg")),
    "strict",
)
