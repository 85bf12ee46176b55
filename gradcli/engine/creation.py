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
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter, signature
from math import ceil
from operator import index
from typing import Any

import numpy as np

from ..ops.checks import check_size
from . import devices, dtypes
from .dtypes import DEFAULT, DeviceLike, Size, dtype, sizes_of
from .errors import EngineError
from .into import refuse_gradients, written
from .layouts import PRESERVING, laid_out, layout, strided
from .methods import named
from .modes import MODE
from .namespace import Namespace
from .numbers import array_of, check_kind
from .promote import fitting
from .raw import Host, Params, Raw
from .record import call
from .tensor import Tensor
from .views import note_view

Build = Callable[..., Any]
"""A function that makes a NumPy array of the type asked for, or None, and arguments."""

OPTIONS = {
    "out": None, "dtype": None, "layout": strided, "device": None,
    "requires_grad": False, "pin_memory": False,
}  # fmt: skip
"""Keyword arguments of a constructor, with their defaults."""

LIKE = {name: OPTIONS[name] for name in OPTIONS if name != "out"}
"""Keyword arguments of the constructors that follow a tensor, with their defaults."""


def made(
    raw: Raw,
    requires_grad: bool,
    device: DeviceLike = None,
    xp: Namespace | None = None,
) -> Tensor:
    """Return the tensor of a fresh NumPy array, on a device or in a namespace."""
    out = Tensor(*at_home(raw, xp or devices.namespace_on(device)))
    if requires_grad:
        out.requires_grad = True
    return out


def at_home(raw: Raw, xp: Namespace) -> tuple[Raw, Namespace]:
    """Return an array in a namespace, and which; while symbols are traced, floats go to
    the symbols' namespace."""
    if MODE.home is not None and raw.dtype.kind == "f":
        xp = MODE.home
    return xp.array(raw), xp


def filling(build: Build) -> Callable[..., Tensor]:
    """Return the public constructor of a line of numbers; an ``out`` of another shape
    is filled in order if it has as many entries."""
    return constructor(build, fills=True)


def constructor(build: Build, fills: bool = False) -> Callable[..., Tensor]:
    """Return the public constructor of the tensors whose arrays ``build`` makes."""
    name = build.__name__
    many = _takes_sizes(build)

    @wraps(build)
    def make(
        *args: object,
        out: Tensor | None = None,
        dtype: object = None,
        layout: layout = strided,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
        **named: object,
    ) -> Tensor:
        if many:
            args = _sizes(name, args, named)
        type_ = chosen(dtype, name)
        if out is None:
            return made(build(type_, *args, **named), requires_grad, device)
        refuse_gradients(name, (out,))
        raw = build(out.dtype if type_ is None else type_, *args, **named)
        if fills and raw.size == out.numel():
            raw = raw.reshape(tuple(out.shape))
        result: Tensor = written(name, out, made(raw, False, device))
        return result

    return _signed(make, build, OPTIONS)


def alike(build: Build) -> Callable[..., Tensor]:
    """Return the public constructor of tensors in the type of its first argument."""
    name = build.__name__
    many, keeps = _takes_sizes(build), name.endswith("_like")

    @wraps(build)
    def make(
        input: Tensor,
        *args: object,
        dtype: object = None,
        layout: layout = strided,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
        memory_format: object = None,
        **named: object,
    ) -> Tensor:
        if many:
            args = _sizes(name, args, named)
        type_ = chosen(dtype, name) or input.dtype
        xp = input.xp if device is None else devices.namespace_on(device)
        raw = build(type_, input, *args, **named)
        if keeps and memory_format in PRESERVING and input.raw.ndim > 1:
            raw = laid_out(raw, input.raw.shape, input.raw.strides)
        return made(raw, requires_grad, xp=xp)

    return _signed(make, build, LIKE | {"memory_format": None} if keeps else LIKE)


def chosen(given: object, name: str) -> dtype | None:
    """Return the type asked of the function ``name``; None if none was."""
    return None if given is None else dtypes.to_dtype(given, name)


def _takes_sizes(build: Build) -> bool:
    return bool(build.__code__.co_flags & 0x04)


def _sizes(name: str, args: tuple[object, ...], named: Params) -> tuple[object, ...]:
    """Return the sizes given as arguments or by the keyword ``size``."""
    if "size" in named:
        return (*args, named.pop("size"))
    if not args:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    return args


def _signed(make: Any, build: Build, options: Params) -> Callable[..., Tensor]:
    """Return the constructor ``make`` with a signature that names its parameters."""
    own = list(signature(build).parameters.values())[1:]
    keywords = [p for p in own if p.kind is Parameter.KEYWORD_ONLY]
    others = [p for p in own if p not in keywords]
    keywords += [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Any)
        for name, default in options.items()
    ]
    make.__signature__ = signature(build).replace(
        parameters=[*others, *keywords], return_annotation="Tensor"
    )
    found: Callable[..., Tensor] = make
    return found


RANGE = (
    "torch.range is deprecated and will be removed in a future release because its "
    "behavior is inconsistent with Python's range builtin. Instead, use torch.arange, "
    "which produces values in [start, end)."
)


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
    if isinstance(data, Tensor):
        return _copied(data, chosen(dtype, "tensor"), device, requires_grad)
    type_ = chosen(dtype, "tensor")
    return made(array_of(data, type_, copy=True), requires_grad, device)


def _copied(
    data: Tensor, dtype: dtype | None, device: DeviceLike, requires_grad: bool
) -> Tensor:
    warnings.warn(
        "To copy construct from a tensor, it is recommended to use "
        "sourceTensor.detach().clone() or sourceTensor.detach().clone()."
        "requires_grad_(True), rather than torch.tensor(sourceTensor).",
        UserWarning,
        stacklevel=3,
    )
    out = data.detach().to(device or data.device, dtype or data.dtype, copy=True)
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
    return made(array_of(data, type_, copy=False), False, device)


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
    return Tensor(check_kind(ndarray), devices.NUMPY)


def from_dlpack(ext_tensor: object) -> Tensor:
    """Return a tensor on the memory of another library's tensor."""
    if isinstance(ext_tensor, Tensor):
        return ext_tensor.detach()
    xp = devices.exchanging(ext_tensor)
    return Tensor(xp.np.from_dlpack(ext_tensor), xp)


def _filled(
    value: float, size: Sequence[object], type_: dtype | None, name: str
) -> Host:
    shape = sizes_of(size, name)
    held = np.dtype((type_ or DEFAULT.dtype).name)
    return np.full(shape, fitting(value, held), held)


def _filling(name: str, value: float, what: str) -> tuple[Callable[..., Tensor], ...]:
    """Return the constructors ``name``, ``name_like`` and ``new_name`` of one number.

    Args:
        what: the entries they give, in the words of their documentation.
    """

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


zeros, zeros_like, new_zeros = _filling("zeros", 0, "Zeros")
ones, ones_like, new_ones = _filling("ones", 1, "Ones")
empty, empty_like, new_empty = _filling("empty", 0, "Zeros that mean nothing")


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


@constructor
def eye(type_: dtype | None, n: int, m: int | None = None) -> Host:
    """Return an n by m matrix with ones on the diagonal."""
    rows, columns = sizes_of((n, n if m is None else m), "eye")
    return np.eye(rows, columns, dtype=(type_ or DEFAULT.dtype).name)


@filling
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


@filling
def range(type_: dtype | None, start: object, end: object, step: float = 1) -> Host:
    """Return the floats from ``start`` to ``end``; use `arange` in new code."""
    warnings.warn(RANGE, UserWarning, stacklevel=3)
    first, last, step = (_number(v) for v in (start, end, step))
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
    """Return a number, or the number in a tensor of one entry.

    Raises:
        TypeError: a gradient is asked for the tensor.
    """
    if isinstance(value, Tensor) and value.edge is not None:
        raise TypeError(
            "argument must be Number, not Tensor: nothing is differentiated by what "
            "new tensors are made of; give the number alone, as .item() gives it"
        )
    return value.item() if hasattr(value, "item") else value


def _in_type(type_: dtype | None, *numbers: float) -> tuple[float, ...]:
    """Return the numbers, without their fractions if the type holds integers."""
    if type_ is None or type_.is_floating_point:
        return numbers
    return tuple(map(int, numbers))


def _between(start: object, end: object, steps: int) -> Host:
    """Return ``steps`` doubles at equal distances from ``start`` to ``end``."""
    if steps < 0:
        raise EngineError("number of steps must be non-negative")
    check_size((steps,))
    return np.linspace(_number(start), _number(end), steps)


@filling
def linspace(type_: dtype | None, start: object, end: object, steps: int) -> Host:
    """Return ``steps`` numbers at equal distances, both ends among them.

    Returns:
        A tensor of shape ``(steps,)``.

    Raises:
        EngineError: ``steps`` is negative.
    """
    start, end = _in_type(type_, _number(start), _number(end))
    return _between(start, end, index(steps)).astype((type_ or DEFAULT.dtype).name)


@filling
def logspace(
    type_: dtype | None, start: object, end: object, steps: int, base: float = 10.0
) -> Host:
    """Return powers of ``base`` whose exponents are at equal distances."""
    start, end = _in_type(type_, _number(start), _number(end))
    values = np.power(float(base), _between(start, end, index(steps)))
    return values.astype((type_ or DEFAULT.dtype).name)


def _triangle(type_: dtype | None, rows_and_columns: tuple[Host, Host]) -> Host:
    return np.stack(rows_and_columns).astype((type_ or dtypes.int64).name)


@constructor
def tril_indices(type_: dtype | None, row: int, col: int, offset: int = 0) -> Host:
    """Return rows and columns of a matrix's entries on and below a diagonal."""
    return _triangle(type_, np.tril_indices(row, offset, col))


@constructor
def triu_indices(type_: dtype | None, row: int, col: int, offset: int = 0) -> Host:
    """Return rows and columns of a matrix's entries on and above a diagonal."""
    return _triangle(type_, np.triu_indices(row, offset, col))


@alike
def full_like(type_: dtype, input: Tensor, fill_value: object) -> Host:
    """Return a tensor like ``input`` with one number in every entry."""
    return _filled(_number(fill_value), (input.shape,), type_, "full_like")


def new(self: Tensor, *data: object) -> Tensor:
    """Return a tensor of this one's type from a shape or a sequence, as `Tensor` takes
    them; `new_zeros` and `new_tensor` say which of the two is meant."""

    return tensor_of(data, self.dtype, self.xp)


@alike
def new_full(type_: dtype, input: Tensor, size: object, fill_value: object) -> Host:
    """Return a tensor of a shape with one number in every entry, typed as ``input``."""
    return _filled(_number(fill_value), (size,), type_, "new_full")


@alike
def new_tensor(type_: dtype, input: Tensor, data: object) -> Host:
    """Return a tensor with a copy of the data, of this one's type and device."""
    if isinstance(data, Tensor):
        data = devices.host(data.raw)
    return array_of(data, type_, copy=True)


def become_alias(t: Tensor, source: Tensor) -> None:
    """Make a tensor a view of another, in its type and its graph."""
    made = call("alias", source)
    t.raw, t.xp, t.edge = made.raw, made.xp, made.edge
    note_view(source, t)


def floats_of(t: Tensor, data: tuple[object, ...]) -> tuple[Raw, Namespace]:
    """Return the array of floats that ``Tensor(...)`` asks for, and its namespace."""
    return at_home(_array_of(data, DEFAULT.dtype), devices.NUMPY)


def tensor_of(data: tuple[object, ...], type_: dtype, xp: Namespace) -> Tensor:
    """Return the tensor that a constructor such as ``FloatTensor`` is asked for.

    Raises:
        TypeError: the data is a tensor of another type.
    """
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


TYPED = {each: TypedTensor(each) for each in dtypes.ALL}
"""Constructors such as ``FloatTensor``, by type."""


def __getattr__(name: str) -> Any:
    """Return the constructor of a name such as ``FloatTensor``."""
    for each in TYPED.values():
        if each.__name__ == name:
            return each
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
