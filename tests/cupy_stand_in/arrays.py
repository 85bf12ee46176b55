"""Arrays and ufuncs as strict as CuPy's, on NumPy's.

Invariant: an array meets its own kind and plain numbers alone; a result of shape () is
an array; a view's base is the array that owns the memory; a ufunc computes in the types
that CuPy's has.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Sequence
from typing import Any

import numpy

from . import fusing
from .counts import launched, sent, waited
from .limits import allocated, compiled, freed

REFUSAL = (
    "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to "
    "construct a NumPy array explicitly."
)
KINDS = "?bBhHiIlLqQefdFD"
"""The types of numbers that a GPU has."""

PLAIN = (bool, int, float, complex, numpy.generic)

DLPACK_CUDA = 2


def supported(dtype: Any) -> numpy.dtype[Any]:
    """Return a type of numbers.

    Raises:
        ValueError: CuPy has none such.
    """
    found = numpy.dtype(dtype)
    if found.char not in KINDS:
        raise ValueError(f"Unsupported dtype {found}")
    return found


def signature(text: str) -> inspect.Signature:
    """Return the signature that was recorded as a text."""
    made: dict[str, Any] = {}
    exec(f"def made{text}: ...", made)
    return inspect.signature(made["made"])


class Memory:
    """Memory of a device, in which arrays lie."""

    __slots__ = ("__weakref__", "ptr", "root", "size")

    def __init__(self, held: Any) -> None:
        self.size = 0
        allocated(held.nbytes)
        self.size = held.nbytes
        self.root = held
        self.ptr = held.__array_interface__["data"][0]

    def __del__(self) -> None:
        freed(self.size)


class MemoryPointer:
    """A place in memory."""

    def __init__(self, mem: Memory, offset: int) -> None:
        self.mem = mem
        self.ptr = mem.ptr + offset


class Flags:
    """How an array lies: CuPy says these three, and nothing of writing."""

    def __init__(self, c: bool, f: bool, owndata: bool) -> None:
        self.c_contiguous, self.f_contiguous, self.owndata = c, f, owndata

    def __getitem__(self, name: str) -> bool:
        return bool(getattr(self, name.lower()))


def _root(held: Any) -> Any:
    while isinstance(held.base, numpy.ndarray):
        held = held.base
    return held


class ndarray:
    """An array on the device."""

    __slots__ = ("__weakref__", "_held", "_memory", "base")
    __array_ufunc__ = None
    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        shape: Any,
        dtype: Any = float,
        memptr: MemoryPointer | None = None,
        strides: Sequence[int] | None = None,
        order: str = "C",
    ) -> None:
        type_ = supported(dtype)
        self.base: ndarray | None = None
        if memptr is None:
            self._held = numpy.empty(shape, type_, order)  # type: ignore[call-overload]
            self._memory = Memory(self._held)
            return
        self._memory = memptr.mem
        flat = memptr.mem.root.ravel("K").view("u1")
        offset = memptr.ptr - memptr.mem.ptr
        if not flat.size:
            self._held = numpy.empty(shape, type_)
        else:
            self._held = numpy.ndarray(shape, type_, flat, offset, strides)

    # what the host knows without asking

    shape = property(lambda self: self._held.shape)
    ndim = property(lambda self: self._held.ndim)
    size = property(lambda self: self._held.size)
    dtype = property(lambda self: self._held.dtype)
    strides = property(lambda self: self._held.strides)
    nbytes = property(lambda self: self._held.nbytes)
    itemsize = property(lambda self: self._held.itemsize)
    T = property(lambda self: _view(self._held.T, self))
    mT = property(lambda self: _view(self._held.mT, self))
    device = property(lambda self: "<CUDA Device 0>")

    @property
    def flags(self) -> Flags:
        held = self._held.flags
        return Flags(held.c_contiguous, held.f_contiguous, self.base is None)

    @property
    def data(self) -> MemoryPointer:
        start = self._held.__array_interface__["data"][0]
        return MemoryPointer(self._memory, start - self._memory.ptr)

    def __len__(self) -> int:
        return len(self._held)

    # what the host has to wait for

    def get(
        self,
        stream: Any = None,
        order: str = "C",
        out: Any = None,
        blocking: Any = True,
    ) -> Any:
        waited("get")
        return self._held.copy(order)

    def _read(self, name: str) -> Any:
        waited(name)
        return self._held

    def item(self) -> Any:
        return self._read("item").item()

    def tolist(self) -> Any:
        return self._read("tolist").tolist()

    def __bool__(self) -> bool:
        return bool(self._read("bool"))

    def __int__(self) -> int:
        return int(self._read("int"))

    def __float__(self) -> float:
        return float(self._read("float"))

    def __index__(self) -> int:
        return operator.index(self._read("index"))

    def __repr__(self) -> str:
        return repr(self._read("repr"))

    def __str__(self) -> str:
        return str(self._read("str"))

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(REFUSAL)

    def __array_function__(self, func: Any, *rest: Any) -> Any:
        raise TypeError(f"numpy.{func.__name__} was given an array of a device")

    # entries

    def __getitem__(self, index: Any) -> ndarray:
        at, copies = self._index(index)
        whole = at if any(i is Ellipsis for i in at) else (*at, Ellipsis)
        found = numpy.asarray(self._held[whole])
        if not copies:
            return _view(found, self)
        launched("getitem")
        return _new(found)

    def __setitem__(self, index: Any, value: Any) -> None:
        at, _ = self._index(index, read=False)
        if not isinstance(value, (ndarray, *PLAIN)):
            raise TypeError(f"Unsupported type {type(value)}")
        launched("setitem")
        self._put(at, opened(value))

    def _put(self, at: Any, value: Any) -> None:
        """Write values; at a position that is written twice, the first of them. CuPy
        leaves any of them there."""
        plain = [not isinstance(i, numpy.ndarray) or i.dtype.kind == "b" for i in at]
        if all(plain):
            self._held[at] = value
            return
        flat = numpy.arange(self.size).reshape(self.shape)[at]
        places, order = numpy.unique(flat, return_index=True)
        values = numpy.broadcast_to(value, flat.shape).reshape(-1)[order]
        self._held[numpy.unravel_index(places, self.shape)] = values

    def _index(self, index: Any, read: bool = True) -> tuple[Any, bool]:
        """Return NumPy's index, and whether what it reads is a copy."""
        items = index if isinstance(index, tuple) else (index,)
        found: list[Any] = []
        copies = False
        for item in items:
            if isinstance(item, list | numpy.ndarray):
                sent("an index")
                item = _new(numpy.asarray(item))
            if not isinstance(item, ndarray):
                plain = item is None or item is Ellipsis
                if not plain and not isinstance(item, slice | int | numpy.generic):
                    raise IndexError(f"Unsupported type of index {type(item)}")
                found.append(item)
                continue
            copies = True
            if item.dtype.kind not in "biu":
                raise IndexError("arrays used as indices must be of integer type")
            if item.dtype.kind == "b" and read:
                waited("mask")
            found.append(item._held)
        return self._wrapped(found), copies

    def _wrapped(self, items: list[Any]) -> tuple[Any, ...]:
        """Let positions beyond the end begin anew, which CuPy does without a word."""
        used = [
            0 if i is None or i is Ellipsis
            else i.ndim if isinstance(i, numpy.ndarray) and i.dtype.kind == "b"
            else 1
            for i in items
        ]  # fmt: skip
        out, d = [], 0
        for item, n in zip(items, used, strict=True):
            if item is Ellipsis:
                d += self.ndim - sum(used)
            if isinstance(item, numpy.ndarray) and item.dtype.kind != "b":
                if d >= self.ndim:
                    raise IndexError("too many indices for array")
                item = item % max(self.shape[d], 1)
            out.append(item)
            d += n
        return tuple(out)

    def __iter__(self) -> Any:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    # others of its kind

    def view(self, dtype: Any = None, type: Any = None) -> ndarray:
        kept = self._held.dtype if dtype is None else supported(dtype)
        return _view(self._held.view(kept), self)

    def astype(
        self,
        dtype: Any,
        order: str = "K",
        casting: str | None = None,
        subok: Any = None,
        copy: bool = True,
    ) -> ndarray:
        type_ = supported(dtype)
        if not copy and type_ == self.dtype:
            return self
        launched("astype")
        with numpy.errstate(all="ignore"):
            return _new(self._held.astype(type_, order))  # type: ignore[arg-type]

    def __copy__(self) -> ndarray:
        launched("copy")
        return _new(self._held.copy())

    def __deepcopy__(self, memo: Any) -> ndarray:
        return self.__copy__()

    def __reduce__(self) -> Any:
        return _restored, (self.get(),)

    def __dlpack_device__(self) -> tuple[int, int]:
        return DLPACK_CUDA, 0

    def __dlpack__(self, **_: Any) -> Any:
        return self


def _restored(held: Any) -> ndarray:
    sent("an unpickled array")
    return _new(held)


def _new(held: Any) -> ndarray:
    """Return an array in memory of its own."""
    supported(held.dtype)
    made = ndarray.__new__(ndarray)
    made._held = held if held.base is None else held.copy("K")
    made._memory = Memory(made._held)
    made.base = None
    return made


def _view(held: Any, x: ndarray) -> ndarray:
    made = ndarray.__new__(ndarray)
    if not held.flags.writeable:
        start = held.__array_interface__["data"][0]
        flat = x._memory.root.ravel("K").view("u1")
        at = start - x._memory.ptr
        held = numpy.ndarray(held.shape, held.dtype, flat, at, held.strides)
    made._held, made._memory = held, x._memory
    made.base = x if x.base is None else x.base
    return made


def apart(held: Any, x: ndarray) -> ndarray:
    """Return a view that has no base, as `as_strided` makes one."""
    made = _view(held, x)
    made.base = None
    return made


def opened(value: Any) -> Any:
    """Return what arrays hold, also inside sequences; NumPy's arrays are refused."""
    if isinstance(value, ndarray):
        return value._held
    if isinstance(value, numpy.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    if isinstance(value, tuple | list):
        return type(value)([opened(v) for v in value])
    return value


def arrays_in(values: Any) -> list[ndarray]:
    """Return the arrays among values, also inside sequences."""
    if isinstance(values, ndarray):
        return [values]
    if isinstance(values, tuple | list):
        return [x for value in values for x in arrays_in(value)]
    return []


def closed(result: Any, given: Sequence[ndarray], name: str) -> Any:
    """Return NumPy's result as arrays, views of what was given among them; a kernel is
    counted unless they are views."""
    new: list[bool] = []
    found = _closed(result, given, new)
    if any(new):
        launched(name)
    return found


def _closed(result: Any, given: Sequence[ndarray], new: list[bool]) -> Any:
    if isinstance(result, tuple | list):
        return (
            type(result)([_closed(v, given, new) for v in result])
            if type(result) in (tuple, list)
            else tuple([_closed(v, given, new) for v in result])
        )
    if not isinstance(result, numpy.ndarray | numpy.generic):
        return result
    held = numpy.asarray(result)
    for x in given:
        if held is x._held:
            return x
        if held.base is not None and _root(held) is _root(x._held):
            return _view(held, x)
    new.append(True)
    return _new(held)


class ufunc:
    """An elementwise function, in the types that were recorded.

    Args:
        types: ``"ee->e ff->f"``
        methods: those of ``reduce accumulate at outer`` that it has
        run: NumPy's or SciPy's function
    """

    def __init__(self, name: str, types: str, methods: str, run: Any) -> None:
        self.__name__ = name
        self.name = f"cupy_{name}"
        self.types = types.split()
        ins, outs = self.types[0].split("->")
        self.nin, self.nout = len(ins), len(outs)
        self._methods = methods.split()
        self._run = run

    def __call__(
        self, *args: Any, out: Any = None, dtype: Any = None, casting: str = "same_kind"
    ) -> Any:
        if fusing.is_fusing():
            named = {"out": out, "dtype": dtype}
            given = {name: value for name, value in named.items() if value is not None}
            return fusing.call(self, *args, **given)
        compiled()
        if self.nin < len(args) <= self.nin + self.nout and out is None:
            args, out = args[: self.nin], args[self.nin :]
        if len(args) != self.nin:
            raise TypeError(f"Wrong number of arguments for {self.name}")
        for arg in args:
            if not isinstance(arg, (ndarray, *PLAIN)):
                raise TypeError(f"Unsupported type {type(arg)}")
        ins, outs = self._loop(args, None if dtype is None else supported(dtype))
        inputs = [
            numpy.asarray(opened(a)).astype(t) for a, t in zip(args, ins, strict=True)
        ]
        with numpy.errstate(all="ignore"):
            found = self._run(*inputs)
        found = found if isinstance(found, tuple) else (found,)
        made = [
            numpy.asarray(y).astype(t, copy=False)
            for y, t in zip(found, outs, strict=True)
        ]
        launched(self.__name__)
        if out is None:
            # CuPy's results lie in the order of their indices, whatever was given.
            results: list[Any] = [_new(numpy.array(y, order="C")) for y in made]
        else:
            results = list(out) if isinstance(out, tuple) else [out]
            for into, y in zip(results, made, strict=True):
                if not isinstance(into, ndarray):
                    raise TypeError("return arrays must be of ArrayType")
                if into.shape != y.shape:
                    raise ValueError("Out shape is mismatched")
                with numpy.errstate(all="ignore"):
                    numpy.copyto(into._held, y, casting=casting)  # type: ignore
        return results[0] if len(results) == 1 else tuple(results)

    def _loop(self, args: Sequence[Any], dtype: Any) -> tuple[str, str]:
        """Return the types of inputs and outputs, of the first entry that fits."""
        kinds = _kinds(args)
        for each in self.types:
            ins, outs = each.split("->")
            if dtype is not None:
                if numpy.dtype(outs[0]) == dtype:
                    return ins, outs
            elif all(_fits(k, t) for k, t in zip(kinds, ins, strict=True)):
                return ins, outs
        raise TypeError(f"Wrong type ({kinds}) of arguments for {self.name}")

    def _demand(self, method: str) -> None:
        if method not in self._methods:
            raise NotImplementedError(f"`{self.name}.{method}` is not supported yet")

    def reduce(
        self,
        array: ndarray,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
    ) -> Any:
        self._demand("reduce")
        found = self._run.reduce(array._held, axis, dtype, None, keepdims)
        return closed(found, [], self.__name__)

    def at(self, a: ndarray, indices: Any, b: Any = None) -> None:
        self._demand("at")
        at, _ = a._index(indices, read=False)
        launched(f"{self.__name__}.at")
        self._run.at(a._held, at, opened(b))


def _kinds(args: Sequence[Any]) -> list[Any]:
    """Return types of arrays; of plain numbers those types' kinds, unless they are of a
    higher kind than all arrays."""
    strong = [a.dtype for a in args if hasattr(a, "dtype")]
    top = max(["?iuf".find(d.kind) for d in strong], default=-1)
    out: list[Any] = []
    for a in args:
        if hasattr(a, "dtype"):
            out.append(a.dtype)
        elif isinstance(a, bool):
            out.append("b")
        elif isinstance(a, int):
            out.append("i" if top > 0 else numpy.dtype("int64"))
        else:
            out.append("f" if top > 2 else numpy.dtype("float64"))
    return out


def _fits(kind: Any, type_: str) -> bool:
    if isinstance(kind, str):
        wanted = {"b": "biuf", "i": "iuf", "f": "f"}[kind]
        return numpy.dtype(type_).kind in wanted
    return bool(numpy.can_cast(kind, type_))
