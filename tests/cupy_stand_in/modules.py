"""The modules of the stand-in, made of what was recorded.

Invariant: a name that CuPy lacks is an AttributeError, a parameter that its function
lacks a TypeError; a name that CuPy has and NumPy or SciPy have not is a
NotImplementedError, which is a fault of the stand-in.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy

from . import arrays, fusing, limits
from .arrays import apart, arrays_in, closed, ndarray, opened, signature, supported
from .counts import launched, sent, waited

RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text())

BESIDE = {
    "cupy": "numpy", "cupy.linalg": "numpy.linalg",
    "cupy.lib.stride_tricks": "numpy.lib.stride_tricks",
    "cupyx.scipy.special": "scipy.special", "cupyx.scipy.linalg": "scipy.linalg",
}  # fmt: skip
"""Which module computes what a module of CuPy's computes."""

READS = {
    "nonzero", "argwhere", "flatnonzero", "unique", "bincount", "extract", "compress",
    "allclose", "histogram", "array_repr", "array_str",
}  # fmt: skip
"""Functions that wait for the device: a shape, or a check, follows from values."""

ARRAYS = {"array_equal", "allclose", "array_equiv"}
"""Functions whose truth value is an array."""

OF_NUMBERS = {
    "array", "asarray", "asanyarray", "ascontiguousarray", "shape", "ndim", "size",
    "result_type", "isscalar", "can_cast", "concatenate", "stack", "hstack", "vstack",
    "einsum", "broadcast_shapes", "promote_types", "arange", "linspace", "full",
    "zeros", "ones", "empty", "eye", "identity", "tri", "tril_indices", "triu_indices",
    "ix_", "meshgrid", "indices", "lexsort", "broadcast_arrays", "finfo", "iinfo",
    "block_diag", "may_share_memory", "shares_memory", "get_array_module", "asnumpy",
    "is_available",
}  # fmt: skip
"""Functions whose first argument need not be an array."""


class Settings:
    """Whether functions of linear algebra look at what they were told."""

    linalg = "ignore"


@contextmanager
def errstate(*, linalg: str | None = None, **_: Any) -> Iterator[None]:
    kept = Settings.linalg
    Settings.linalg = linalg or kept
    try:
        yield
    finally:
        Settings.linalg = kept


WORDS = (
    "Error reported by getrf in cuSOLVER. devInfo = 1. Please refer to the cuSOLVER "
    "documentation."
)


def unchecked(name: str, run: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of linear algebra that is CuPy's where that is not NumPy's.

    Where NumPy's refuses it gives what its steps left in memory, unless it was told to
    raise; then it speaks of cuSOLVER, also of matrices with nan and infinities. Results
    lie column by column, and vectors of `eigh` and `svd` have other signs.
    """

    def checked(a: Any, *others: Any, **named: Any) -> Any:
        refuses = Settings.linalg == "raise"
        if refuses:
            waited(name)
        several = name == "solve" and numpy.ndim(others[0]) > 1
        if several and a.shape[:-1] != others[0].shape[:-1]:
            raise ValueError(
                "a must have (..., M, M) shape and b must have (..., M, K) for "
                "multidimensional b"
            )
        solved = name in ("cholesky", "inv", "solve")
        if solved and refuses and not numpy.isfinite(a).all():
            raise numpy.linalg.LinAlgError(WORDS)
        try:
            found = run(a, *others, **named)
        except numpy.linalg.LinAlgError:
            if refuses or not solved:
                raise numpy.linalg.LinAlgError(WORDS) from None
            if name == "cholesky":
                return numpy.tril(a)
            return numpy.full_like(others[0] if others else a, numpy.nan)
        return _otherwise(name, found)

    return checked


def _otherwise(name: str, found: Any) -> Any:
    """Return results of linear algebra as a GPU has them: by columns, signs turned."""
    several = isinstance(found, tuple)
    parts = [_by_columns(numpy.asarray(x)) for x in (found if several else (found,))]
    if name == "eigh" or (name == "svd" and several):
        turns = parts[1 if name == "eigh" else 0].shape[-1]
        signs = numpy.where(numpy.arange(turns) % 2, 1, -1)
        if name == "eigh":
            parts[1] *= signs
        else:
            fewer = signs[: parts[2].shape[-2]]
            parts[0][..., : len(fewer)] *= fewer[: parts[0].shape[-1]]
            parts[2][..., :turns, :] *= signs[: parts[2].shape[-2], None]
    return tuple(parts) if several else parts[0]


def _by_columns(x: Any) -> Any:
    if x.ndim < 2:
        return x
    return numpy.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2)


def floored(a: Any, b: Any) -> Any:
    """Return the floor of a quotient, which CuPy makes of the rounded quotient."""
    if a.dtype.kind != "f":
        return numpy.floor_divide(a, b)
    return numpy.floor(a / b)


def rest(a: Any, b: Any) -> Any:
    """Return a remainder, which CuPy makes of `floored`."""
    if a.dtype.kind != "f":
        return numpy.remainder(a, b)
    return a - floored(a, b) * b


def erfinv(x: Any) -> Any:
    """Return the inverse of erf; outside of its domain an infinity, not nan."""
    import scipy.special

    with numpy.errstate(all="ignore"):
        found = scipy.special.erfinv(x)
        return numpy.where(numpy.abs(x) > 1, numpy.copysign(numpy.inf, x), found)


def argsort(x: Any, axis: Any = -1, kind: Any = None) -> Any:
    """Return the order of entries; nan comes first, where NumPy has it last."""
    if x.dtype.kind != "f":
        return numpy.argsort(x, axis=axis, kind="stable")
    keys = numpy.where(numpy.isnan(x), -numpy.inf, x)
    return numpy.argsort(keys, axis=axis, kind="stable")


INSTEAD: dict[tuple[str, str], Callable[..., Any]] = {
    ("cupy", "floor_divide"): floored,
    ("cupy", "remainder"): rest,
    ("cupy", "mod"): rest,
    ("cupy", "argsort"): argsort,
    ("cupyx.scipy.special", "erfinv"): erfinv,
}
"""Functions that compute other numbers than NumPy's and SciPy's of that name."""


@cache
def function(module: str, name: str) -> Any:
    """Return what a module has under a name.

    Raises:
        AttributeError: CuPy has no such name.
    """
    own = OWN.get((module, name))
    if own is not None:
        return own
    recorded = RECORDED["modules"].get(module, {}).get(name)
    if recorded is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    theirs = (
        getattr(import_module(BESIDE[module]), name, None)
        if (module in BESIDE)
        else None
    )
    theirs = INSTEAD.get((module, name), theirs)
    if theirs is None:
        if recorded == "value":
            return None
        raise NotImplementedError(f"the stand-in lacks {module}.{name}")
    if isinstance(recorded, Mapping):
        return arrays.ufunc(name, recorded["types"], recorded["methods"], theirs)
    if recorded in ("class", "value"):
        return theirs
    if module == "cupy.linalg":
        theirs = unchecked(name, theirs)
    return calling(name, signature(recorded), theirs)


def calling(
    name: str, asked: inspect.Signature, theirs: Callable[..., Any]
) -> Callable[..., Any]:
    """Return a function that takes the parameters that were recorded, and arrays."""
    first = next(iter(asked.parameters), "")
    loose = {"check_finite", "blocking"} - set(_names(theirs))

    def run(*args: Any, **kwargs: Any) -> Any:
        given = asked.bind(*args, **kwargs).arguments
        if fusing.is_fusing():
            return _inside(name, theirs, args, kwargs)
        limits.compiled()
        head = given.get(first)
        head = head[0] if isinstance(head, tuple) and head else head
        if name not in OF_NUMBERS and not isinstance(head, ndarray):
            raise TypeError(f"cupy.{name}: unsupported type {type(head)}")
        if "dtype" in kwargs and kwargs["dtype"] is not None:
            supported(kwargs["dtype"])
        if name in READS or (name == "where" and len(given) == 1):
            waited(name)
        if name == "repeat" and isinstance(given["repeats"], ndarray):
            waited(name)
        held = arrays_in([*args, *kwargs.values()])
        plain = {k: opened(v) for k, v in kwargs.items() if k not in loose}
        out = plain.pop("out", None)
        with numpy.errstate(all="ignore"):
            found = theirs(*opened(list(args)), **plain)
        if out is not None:
            out[...] = found
            launched(name)
            return kwargs["out"]
        if name in ARRAYS:
            found = numpy.asarray(found)
        return closed(found, held, name)

    run.__name__ = name
    return run


def _inside(name: str, theirs: Any, args: Any, kwargs: Any) -> Any:
    """Call a function of arrays inside of a kernel."""
    if name not in fusing.CALLED:
        raise ValueError(f"cupy.{name}: Unsupported dtype object")
    with numpy.errstate(all="ignore"):
        first, *rest_ = [fusing.variable(arg).held for arg in args]
        return fusing.like(args[0], numpy.asarray(theirs(first, *rest_, **kwargs)))


def _names(theirs: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(theirs).parameters)
    except (TypeError, ValueError):
        return []


# where CuPy's functions are not NumPy's with other arrays


def array(
    obj: Any,
    dtype: Any = None,
    copy: bool = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    blocking: bool = False,
) -> ndarray:
    """Return an array of one, of NumPy's or of numbers."""
    if fusing.is_fusing():
        raise TypeError("Concrete ndarray is not supported in fusion.")
    type_ = None if dtype is None else supported(dtype)
    if isinstance(obj, ndarray) and not copy:
        fits = type_ is None or type_ == obj.dtype
        lies = order in ("K", "A") or (order == "C" and obj.flags.c_contiguous)
        if fits and (lies or (order == "F" and obj.flags.f_contiguous)):
            return obj
    if arrays_in(obj):
        launched("array")
        held = numpy.array(opened(obj), type_, order=order, ndmin=ndmin)  # type: ignore
    else:
        sent("array")
        held = numpy.array(obj, type_, order=order, ndmin=ndmin)  # type: ignore
    return arrays._new(held if held.base is None else held.copy("K"))


def asarray(
    a: Any, dtype: Any = None, order: str | None = None, *, blocking: bool = False,
    copy: bool | None = None,
) -> ndarray:  # fmt: skip
    """Return an array of one, of NumPy's or of numbers; itself where it is one."""
    return array(a, dtype, bool(copy), order or "K", blocking=blocking)


def ascontiguousarray(a: Any, dtype: Any = None) -> ndarray:
    """Return an array that lies by rows; one of shape () gets a dimension."""
    found = array(a, dtype, False, "C")
    return found if found.ndim else found.reshape(1)


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Choose; where nothing is to choose between, the places of what holds."""
    if x is None and y is None:
        return condition.nonzero()
    chosen = arrays.ufunc(
        "where", " ".join(f"?{t}{t}->{t}" for t in arrays.KINDS), "", numpy.where
    )
    if fusing.is_fusing():
        return fusing.call(chosen, condition, x, y)
    # As CuPy: what is no array has no such method.
    return chosen(condition.astype("?", copy=False), x, y)


def as_strided(x: ndarray, shape: Any = None, strides: Any = None) -> ndarray:
    """Return a view with any steps, whose base nobody knows."""
    return apart(numpy.lib.stride_tricks.as_strided(x._held, shape, strides), x)


def empty(shape: Any, dtype: Any = float, order: str = "C") -> ndarray:
    return ndarray(shape, dtype, order=order)


def from_dlpack(array: Any) -> ndarray:
    return array.__dlpack__().view()


class Stream:
    """A queue of a device."""

    def synchronize(self) -> None:
        waited("synchronize")


OWN: dict[tuple[str, str], Any] = {
    ("cupy", "ndarray"): ndarray,
    ("cupy", "ufunc"): arrays.ufunc,
    ("cupy", "array"): array,
    ("cupy", "asarray"): asarray,
    ("cupy", "ascontiguousarray"): ascontiguousarray,
    ("cupy", "empty"): empty,
    ("cupy", "where"): where,
    ("cupy", "from_dlpack"): from_dlpack,
    ("cupy", "is_available"): lambda: True,
    ("cupy", "fuse"): fusing.fuse,
    ("cupy", "get_default_memory_pool"): lambda: limits.POOL,
    ("cupy.cuda", "memory"): limits,
    ("cupy.lib.stride_tricks", "as_strided"): as_strided,
    ("cupyx", "errstate"): errstate,
    ("cupy.cuda", "get_current_stream"): Stream,
}
"""What is not NumPy's with other arrays."""


def made(name: str) -> ModuleType:
    """Return a module that has what was recorded, or modules alone."""
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)
    names = RECORDED["modules"].get(name, {})
    module.__dict__["__getattr__"] = lambda each: function(name, each)
    module.__dict__["__dir__"] = lambda: list(names)
    return module


NAMES = ("cupy.lib", "cupyx.scipy", *RECORDED["modules"])
MODULES = {name: made(name) for name in NAMES}
"""The modules, by their full names."""

MODULES["cupy"].__dict__["__version__"] = RECORDED["version"]
for _name, _module in MODULES.items():
    _outer, _, _inner = _name.rpartition(".")
    if _outer:
        setattr(MODULES[_outer], _inner, _module)


def _method(name: str, text: str) -> Callable[..., Any]:
    asked = signature(text)

    def run(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        asked.bind(self, *args, **kwargs)
        if name in READS:
            waited(name)
        plain = {k: opened(v) for k, v in kwargs.items()}
        out = plain.pop("out", None)
        with numpy.errstate(all="ignore"):
            found = getattr(self._held, name)(*opened(list(args)), **plain)
        if out is not None:
            out[...] = found
            launched(name)
            return kwargs["out"]
        if found is None:
            launched(name)
            return None
        return closed(found, [self], name)

    run.__name__ = name
    return run


for _name, _text in RECORDED["ndarray"].items():
    hidden = _name.startswith("_") or _text == "value"
    if not hidden and not hasattr(ndarray, _name) and hasattr(numpy.ndarray, _name):
        setattr(ndarray, _name, _method(_name, _text))


def _applied(name: str, turned: bool = False, changes: bool = False) -> Any:
    """Return an operator that applies a function of CuPy's, perhaps in place."""

    def run(self: ndarray, *others: Any) -> Any:
        for other in others:
            if isinstance(other, numpy.ndarray):
                raise TypeError(f"Unsupported type {type(other)}")
            if not isinstance(other, (ndarray, *arrays.PLAIN)):
                return NotImplemented
        given = (*others, self) if turned else (self, *others)
        kept = {"out": self} if changes else {}
        return function("cupy", name)(*given, **kept)

    return run


OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide",
    "floordiv": "floor_divide", "mod": "remainder", "pow": "power",
    "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip
COMPARISONS = {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
    "eq": "equal", "ne": "not_equal",
}  # fmt: skip
for _own, _name in OPERATORS.items():
    setattr(ndarray, f"__{_own}__", _applied(_name))
    setattr(ndarray, f"__r{_own}__", _applied(_name, turned=True))
    if _own != "matmul":
        setattr(ndarray, f"__i{_own}__", _applied(_name, changes=True))
ALONE = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}
for _own, _name in (COMPARISONS | ALONE).items():
    setattr(ndarray, f"__{_own}__", _applied(_name))
