"""New tensors from numbers, from arrays and from a shape.

Invariant: what is made here owns its memory, except by `as_tensor`, `from_numpy` and
`from_dlpack`, which share it where they can. Floats get the default type unless one is
named; a tensor of shape () is an array too, so that it can be written to. A private
constructor takes the type asked for and its own arguments, and returns a NumPy array;
`constructor` makes it public, with the type, the device, the gradient and ``out``.

    zeros(2, 3), zeros((2, 3)), full((2,), 7, dtype=float64)
    tensor([[1.0, 2.0]], requires_grad=True)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial, wraps
from inspect import Parameter, signature
from math import ceil
from operator import index
from typing import Any, TypeVar

import numpy as np

from ..engine import devices, dtypes
from ..engine.dtypes import DEFAULT, DeviceLike, Size, dtype, layout, sizes_of, strided
from ..engine.errors import OVERFLOW, EngineError
from ..engine.memory_order import in_memory_order
from ..engine.methods import named
from ..engine.modes import MODE
from ..engine.namespace import NumberSystem
from ..engine.promote import fitting, promoted, type_of
from ..engine.raw import (
    MAX_LIST_DEPTH,
    PLAIN,
    Host,
    Params,
    Raw,
    is_list,
    kinds_of,
    too_deep,
)
from ..engine.record import call
from ..engine.tensor import Tensor, note_view, raw_of
from ..ops.checks import check_size

Build = Callable[..., Any]
"""A function that makes a NumPy array of the type asked for, or None, and arguments."""

OPTIONS: Params = {
    "dtype": None, "layout": strided, "device": None,
    "requires_grad": False, "pin_memory": False,
}  # fmt: skip
"""Keyword arguments of a constructor, with their defaults."""


def make_tensor(
    raw: Raw,
    requires_grad: bool,
    device: DeviceLike = None,
    xp: NumberSystem | None = None,
) -> Tensor:
    """Return the tensor of a fresh NumPy array, on a device or in a namespace."""
    out = Tensor(*at_home(raw, xp or devices.namespace_on(device)))
    if requires_grad:
        out.requires_grad = True
    return out


def at_home(raw: Raw, xp: NumberSystem) -> tuple[Raw, NumberSystem]:
    """Return an array in a namespace, and which; while symbols are traced, floats go to
    the symbols' namespace."""
    if MODE.home is not None and raw.dtype.kind == "f":
        xp = MODE.home
    return xp.array(raw), xp


def constructor(build: Build, like: bool = False) -> Callable[..., Tensor]:
    """Return the public constructor of the tensors whose arrays ``build`` makes.

    Args:
        like: they are of the type and on the device of a tensor, the first argument.
    """
    name = build.__name__
    takes_sizes = bool(build.__code__.co_flags & 0x04)
    keeps_order = name.endswith("_like")

    @wraps(build)
    def make(
        *args: Any,
        dtype: object = None,
        layout: layout = strided,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
        memory_format: object = None,
        **named: Any,
    ) -> Tensor:
        type_ = chosen(dtype, name)
        xp = None if device is None else devices.namespace_on(device)
        if like:
            args = args or (named.pop("input"),)
            if memory_format == "contiguous":
                args = (args[0].detach().contiguous(), *args[1:])
            type_, xp = type_ or args[0].dtype, xp or args[0].xp
        if takes_sizes and "size" in named:
            args = (*args, named.pop("size"))
        elif takes_sizes and len(args) == like:
            raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
        raw = build(type_, *args, **named)
        if keeps_order:
            raw = in_memory_order(raw, args[0].raw)
        return make_tensor(raw, requires_grad, xp=xp)

    own = list(signature(build).parameters.values())[1:]
    shown: Any = make
    shown.__signature__ = signature(build).replace(
        parameters=[
            *[p for p in own if p.kind is not Parameter.KEYWORD_ONLY],
            *[p for p in own if p.kind is Parameter.KEYWORD_ONLY],
            *[
                Parameter(option, Parameter.KEYWORD_ONLY, default=value, annotation=Any)
                for option, value in OPTIONS.items()
            ],
        ],
        return_annotation="Tensor",
    )
    return make


alike = partial(constructor, like=True)
"""Decorator of the constructors of tensors in the type of their first argument."""


def chosen(given: object, name: str) -> dtype | None:
    """Return the type asked of the function ``name``; None if none was."""
    return None if given is None else dtypes.to_dtype(given, name)


# Tensors of given numbers.


def tensor(
    data: object,
    *,
    dtype: dtype | None = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Return a tensor with a copy of numbers, nested lists of them, or an array.

    Args:
        data: Floats give the default type, integers int64, truth values bool; an
            array keeps its own.
        dtype: the type, if not that of the data.
        device: where to put it.
        requires_grad: make it a leaf that gradients are added up for.

    Raises:
        ValueError: the lists are ragged.
        TypeError: the data holds something that is no number.
    """
    type_ = chosen(dtype, "tensor")
    if not isinstance(data, Tensor):
        return make_tensor(array_of(data, type_, copy=True), requires_grad, device)
    warnings.warn(
        "To copy construct from a tensor, it is recommended to use "
        "sourceTensor.detach().clone() or sourceTensor.detach().clone()."
        "requires_grad_(True), rather than torch.tensor(sourceTensor).",
        UserWarning,
        stacklevel=2,
    )
    out = data.detach().to(device or data.device, type_ or data.dtype, copy=True)
    return out.requires_grad_(requires_grad)


def as_tensor(
    data: object, dtype: dtype | None = None, device: DeviceLike = None
) -> Tensor:
    """Return the data as a tensor that shares its memory, if type and device allow it.

    Args:
        data: a tensor, an array, numbers or nested lists of numbers.
        dtype: the type, if not that of the data.
        device: where to put it; None: where it is.
    """
    if isinstance(data, Tensor):
        return data.to(device or data.device, dtype or data.dtype)
    if hasattr(data, "__dlpack__") and not isinstance(data, np.ndarray | np.generic):
        return as_tensor(from_dlpack(data), dtype, device)
    type_ = chosen(dtype, "as_tensor")
    return make_tensor(array_of(data, type_, copy=False), False, device)


def asarray(
    obj: object,
    *,
    dtype: dtype | None = None,
    device: DeviceLike = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """Return a tensor as `as_tensor` does; ``copy`` forces a copy.

    Args:
        requires_grad: make it a leaf that does or does not require a gradient; None:
            a tensor stays in its graph.
    """
    out = as_tensor(obj, dtype, device)
    if copy:
        out = out.clone()
    return out if requires_grad is None else out.detach().requires_grad_(requires_grad)


def from_numpy(ndarray: object) -> Tensor:
    """Return a tensor that shares the memory of a NumPy array.

    Raises:
        TypeError: the argument is no array of numbers.
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    return Tensor(_checked(ndarray), devices.NUMPY)


def from_dlpack(ext_tensor: object) -> Tensor:
    """Return a tensor on the memory of another library's tensor."""
    if isinstance(ext_tensor, Tensor):
        return ext_tensor.detach()
    xp = devices.exchanging(ext_tensor)
    return Tensor(xp.np.from_dlpack(ext_tensor), xp)


@alike
def new_tensor(type_: dtype, input: Tensor, data: object) -> Host:
    """Return a tensor with a copy of the data, of this one's type and device."""
    if isinstance(data, Tensor):
        data = devices.host(data.raw)
    return array_of(data, type_, copy=True)


# Tensors of one number.


def _filled(
    value: object, size: Sequence[object], type_: dtype | None, name: str
) -> Host:
    number = _number(value)
    held = np.dtype((type_ or DEFAULT.dtype).name)
    return np.full(sizes_of(size, name), fitting(number, held), held)


def _family(name: str, value: float, what: str) -> tuple[Callable[..., Tensor], ...]:
    """Return the constructors ``name``, ``name_like``, ``new_name`` of one number."""

    def sized(type_: dtype | None, *size: object) -> Host:
        return _filled(value, size, type_, name)

    def like(type_: dtype, input: Tensor) -> Host:
        return _filled(value, (input.shape,), type_, f"{name}_like")

    def new(type_: dtype, input: Tensor, *size: object) -> Host:
        return _filled(value, size, type_, f"new_{name}")

    of_tensor = f"{what} of the tensor's shape, type and device."
    beside = f"{what} of a shape, of the tensor's type and device."
    return (
        constructor(named(sized, name, f"{what} of a shape: numbers, or one tuple.")),
        alike(named(like, f"{name}_like", of_tensor)),
        alike(named(new, f"new_{name}", beside)),
    )


zeros, zeros_like, new_zeros = _family("zeros", 0, "Zeros")
ones, ones_like, new_ones = _family("ones", 1, "Ones")
empty, empty_like, new_empty = _family("empty", 0, "Zeros that mean nothing")


@constructor
def full(type_: dtype | None, size: object, fill_value: object) -> Host:
    """Return a tensor of a shape with one number in every entry.

    Args:
        size: the shape.
        fill_value: a number; its kind gives the type unless ``dtype`` names one.

    Raises:
        EngineError: the type does not hold the number.
    """
    value = _number(fill_value)
    type_ = type_ or dtypes.of(array_of(value, None, copy=False))
    return _filled(value, (size,), type_, "full")


@alike
def full_like(type_: dtype, input: Tensor, fill_value: object) -> Host:
    """Return a tensor like ``input`` with one number in every entry."""
    return _filled(fill_value, (input.shape,), type_, "full_like")


@alike
def new_full(type_: dtype, input: Tensor, size: object, fill_value: object) -> Host:
    """Return a tensor of a shape with one number in every entry, typed as ``input``."""
    return _filled(fill_value, (size,), type_, "new_full")


@constructor
def eye(type_: dtype | None, n: int, m: int | None = None) -> Host:
    """Return an n by m matrix with ones on the diagonal."""
    rows, columns = sizes_of((n, n if m is None else m), "eye")
    return np.eye(rows, columns, dtype=(type_ or DEFAULT.dtype).name)


@constructor
def tril_indices(type_: dtype | None, row: int, col: int, offset: int = 0) -> Host:
    """Return rows and columns of a matrix's entries on and below a diagonal."""
    return np.array(np.tril_indices(row, offset, col), (type_ or dtypes.int64).name)


@constructor
def triu_indices(type_: dtype | None, row: int, col: int, offset: int = 0) -> Host:
    """Return rows and columns of a matrix's entries on and above a diagonal."""
    return np.array(np.triu_indices(row, offset, col), (type_ or dtypes.int64).name)


# Lines of numbers.


@constructor
def arange(
    type_: dtype | None,
    start: object | None = None,
    end: object | None = None,
    step: float = 1,
) -> Host:
    """Return the numbers from ``start`` (default 0) up to but without ``end``.

    Raises:
        RuntimeError: the step is 0 or leads away from the end.
    """
    if start is None and end is None:
        raise TypeError('arange() missing 1 required positional arguments: "end"')
    first, last = (0, start) if end is None else (start or 0, end)
    first, last, step = map(_number, (first, last, step))
    if type_ is dtypes.int64:
        first, last, step = _in_type(type_, first, last, step)
    _check_step(first, last, step)
    count = ceil((last - first) / step)
    first, step = _in_type(type_, first, step)
    whole = all(isinstance(v, int) for v in (first, last, step))
    return _counted(first, step, count, whole, type_)


@constructor
def range(type_: dtype | None, start: object, end: object, step: float = 1) -> Host:
    """Return the floats from ``start`` to ``end``; use `arange` in new code."""
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its "
        "behavior is inconsistent with Python's range builtin. Instead, use "
        "torch.arange, which produces values in [start, end).",
        UserWarning,
        stacklevel=3,
    )
    first, last, step = map(_number, (start, end, step))
    _check_step(first, last, step)
    count = int((last - first) / step) + 1
    return _counted(first, step, count, False, type_ or DEFAULT.dtype)


def _check_step(first: float, last: float, step: float) -> None:
    if step == 0:
        raise EngineError("step must be nonzero")
    if (last - first) * step < 0:
        raise EngineError("upper bound and lower bound inconsistent with step sign")


def _counted(
    first: float, step: float, count: int, whole: bool, type_: dtype | None
) -> Host:
    check_size((count,))
    values = first + step * np.arange(count, dtype="int64" if whole else "float64")
    name = type_.name if type_ is not None else "int64" if whole else DEFAULT.name
    return values.astype(name)


def _number(value: object) -> Any:
    """Return a number, or the number in a tensor of one entry."""
    if isinstance(value, Tensor) and value.edge is not None:
        raise TypeError(
            "argument must be Number, not Tensor: nothing is differentiated by what "
            "new tensors are made of; give the number, as .item() returns it"
        )
    if is_list(value):
        raise TypeError(f"argument must be Number, not {type(value).__name__}")
    return value.item() if hasattr(value, "item") else value


def _in_type(type_: dtype | None, *numbers: float) -> tuple[float, ...]:
    """Return the numbers, without their fractions if the type holds integers."""
    if type_ is None or type_.is_floating_point:
        return numbers
    return tuple(map(int, numbers))


def _between(type_: dtype | None, start: object, end: object, steps: object) -> Host:
    """Return ``steps`` doubles at equal distances from ``start`` to ``end``."""
    first, last = _in_type(type_, _number(start), _number(end))
    count = index(steps)  # type: ignore[arg-type]  # it raises the error
    if count < 0:
        raise EngineError("number of steps must be non-negative")
    check_size((count,))
    return np.linspace(first, last, count)


@constructor
def linspace(type_: dtype | None, start: object, end: object, steps: int) -> Host:
    """Return ``steps`` numbers at equal distances, both ends among them.

    Returns:
        A tensor of shape ``(steps,)``.

    Raises:
        EngineError: ``steps`` is negative.
    """
    return _between(type_, start, end, steps).astype((type_ or DEFAULT.dtype).name)


@constructor
def logspace(
    type_: dtype | None, start: object, end: object, steps: int, base: float = 10.0
) -> Host:
    """Return powers of ``base`` whose exponents are at equal distances."""
    values = np.power(float(base), _between(type_, start, end, steps))
    return values.astype((type_ or DEFAULT.dtype).name)


# The class of tensors, and those of one type, as constructors.


def new(self: Tensor, *data: object) -> Tensor:
    """Return a tensor of this one's type from a shape or a sequence, as `Tensor` takes
    them; `new_zeros` and `new_tensor` say which of the two is meant."""
    return tensor_of(data, self.dtype, self.xp)


def become_alias(t: Tensor, source: Tensor) -> None:
    """Make a tensor a view of another, in its type and its graph."""
    made = call("alias", source)
    t.raw, t.xp, t.edge = made.raw, made.xp, made.edge
    note_view(source, t)


def floats_of(t: Tensor, data: tuple[object, ...]) -> tuple[Raw, NumberSystem]:
    """Return the array of floats that ``Tensor(...)`` asks for, and its namespace."""
    return at_home(_array_of(data, DEFAULT.dtype), devices.NUMPY)


def tensor_of(data: tuple[object, ...], type_: dtype, xp: NumberSystem) -> Tensor:
    """Return the tensor that a constructor such as ``FloatTensor`` is asked for."""
    given = data[0] if len(data) == 1 else None
    if isinstance(given, Tensor):
        if given.dtype is not type_:
            raise TypeError(f"expected a tensor of {type_} (got {given.dtype})")
        return Tensor(given)
    return Tensor(*at_home(_array_of(data, type_), xp))


def _array_of(data: tuple[object, ...], type_: dtype) -> Raw:
    """Return the zeros of a shape, or the numbers, that such a constructor is given."""
    first = data[0] if data else 0
    if len(data) > 1 or isinstance(first, int | Size):
        return np.zeros(sizes_of(data or (0,), "new"), type_.name)
    if isinstance(first, float):
        raise TypeError("new(): data must be a sequence (got float)")
    return array_of(first, type_, copy=True)


class TypedTensor:
    """Classes such as ``FloatTensor``, which make and recognise tensors of a type."""

    __slots__ = ("__name__", "dtype")

    def __init__(self, type_: dtype) -> None:
        self.dtype = type_
        self.__name__ = f"{type_.legacy}Tensor"

    def __call__(self, *data: object) -> Tensor:
        return tensor_of(data, self.dtype, devices.NUMPY)

    def __instancecheck__(self, instance: object) -> bool:
        return (
            isinstance(instance, Tensor)
            and instance.dtype is self.dtype
            and not instance.is_cuda
        )

    def __repr__(self) -> str:
        return f"<class 'torch.{self.__name__}'>"


TYPED = {f"{each.legacy}Tensor": TypedTensor(each) for each in dtypes.ALL}
"""Constructors such as ``FloatTensor``, by name."""


def __getattr__(name: str) -> Any:
    """Return the constructor of a name such as ``FloatTensor``."""
    if name in TYPED:
        return TYPED[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# Python's numbers, lists of them and arrays as one NumPy array: Python's floats get the
# default type, and whatever has a type of its own keeps it.

KINDS = "biuf"
H = TypeVar("H", bound="np.ndarray[Any, np.dtype[Any]] | np.generic[Any]")


def array_of(data: object, type_: dtype | None, copy: bool) -> Host:
    """Return the NumPy array of a number, nested lists or an array.

    Args:
        data: a number, nested lists or tuples of numbers, or an array.
        type_: the type of the result; None: that of the data.
        copy: always copy; False: share the data's memory where that is possible.
    """
    name = None if type_ is None else dtypes.to_dtype(type_).name
    if isinstance(data, np.ndarray | np.generic):
        return np.array(_checked(data), name, copy=copy or None)
    typed, values = _read(data, name is not None and np.dtype(name).kind == "f")
    if name is None:
        if values.dtype.kind == "f" and typed is None:
            return values.astype(DEFAULT.name)
        return values
    wanted = np.dtype(name)
    if wanted.kind in "iu" and values.dtype.kind in "iuf" and values.size:
        top = np.iinfo(wanted).max
        low = -top if wanted.kind == "u" else np.iinfo(wanted).min
        if not (values.min() >= low and values.max() <= top):
            raise EngineError(OVERFLOW.format(name))
    return values.astype(wanted)


def _checked(array: H) -> H:
    """Return the array; raise an error if a tensor cannot hold its entries."""
    if array.dtype.kind not in KINDS:
        raise TypeError(
            f"can't convert np.ndarray of type {array.dtype.type.__module__}."
            f"{array.dtype.type.__name__}. The only supported types are: float64, "
            "float32, float16, int64, int32, int16, int8, uint64, uint32, uint16, "
            "uint8, and bool."
        )
    return array


def _read(data: object, in_floats: bool) -> tuple[np.dtype[Any] | None, Host]:
    """Return the dtype of the data's typed numbers, None if all are plain, and the
    array. Where floats are wanted, integers may be of any size."""
    kinds = kinds_of(data)
    typed = None if kinds <= PLAIN else _common_type(data)
    try:
        array = np.array(data if typed is None else _plain(data, 0))
    except (ValueError, OverflowError):
        raise _complaint(data) from None
    if in_floats and kinds <= PLAIN and array.dtype.kind in "uO":
        array = array.astype("float64")
    if array.dtype.kind == "u" and typed is None:
        raise ValueError("Overflow when unpacking long long")
    if array.dtype.kind in KINDS:
        return typed, array if typed is None else array.astype(typed)
    if array.size == 0:
        return typed, array.astype(DEFAULT.name)
    raise _complaint(data)


def _leaves(data: Any, depth: int = 0) -> Iterator[Any]:
    """Yield the entries of nested sequences."""
    if is_list(data, depth):
        for each in data:
            yield from _leaves(each, depth + 1)
    else:
        yield data


def _common_type(data: object) -> np.dtype[Any] | None:
    """Return the common NumPy dtype of all typed entries; None if none is typed."""
    found = None
    for each in _leaves(data):
        raw = raw_of(each)
        if not isinstance(raw, int | float) and not hasattr(raw, "dtype"):
            return None
        own = type_of(raw)
        found = own if found is None else promoted(found, own)
    return found


def _plain(data: Any, depth: int) -> object:
    """Return nested sequences with their tensors replaced by NumPy arrays."""
    if isinstance(data, Tensor):
        return data.tolist() if data.xp.symbolic else devices.host(data.raw)
    if is_list(data, depth):
        return [_plain(item, depth + 1) for item in data]
    return data


def _complaint(data: object) -> Exception:
    """Return PyTorch's error for data that is no array of numbers."""
    level: list[Any] = [data]
    dim = 0
    while any(map(is_list, level)):
        if dim == MAX_LIST_DEPTH:
            return too_deep(level[0])
        wanted = len(level[0]) if is_list(level[0]) else None
        for item in level:
            if wanted is None or not is_list(item):
                return TypeError("not a sequence")
            if len(item) != wanted:
                return ValueError(
                    f"expected sequence of length {wanted} at dim {dim} "
                    f"(got {len(item)})"
                )
        level, dim = [entry for item in level for entry in item], dim + 1
    for entry in level:
        if isinstance(entry, str | bytes):
            return TypeError(f"new(): invalid data type '{type(entry).__name__}'")
        if isinstance(entry, int) and abs(entry) >= 1 << 63:
            return ValueError("Overflow when unpacking long long")
        if not isinstance(entry, int | float | np.generic):
            return EngineError(f"Could not infer dtype of {type(entry).__name__}")
    return ValueError("the data holds no numbers")
