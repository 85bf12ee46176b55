"""New tensors from numbers, from arrays and from a shape.

Invariant: what is made here owns its memory, except by `as_tensor`, `from_numpy` and
`from_dlpack`, which share it where they can. Floats get the default type unless one is
named; a tensor of shape () is an array too, so that it can be written to.

    zeros(2, 3), zeros((2, 3)), full((2,), 7, dtype=float64)
    tensor([[1.0, 2.0]], requires_grad=True)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from math import ceil
from operator import index
from typing import Any

import numpy as np

from ..ops.limits import check_size
from . import devices, dtypes
from .device import DeviceLike
from .dtypes import DEFAULT, dtype
from .errors import EngineError
from .factories import alike, chosen, constructor, filling, made
from .methods import named
from .numbers import array_of, check_kind
from .promote import fitting
from .raw import Host
from .size import sizes_of
from .tensor import Tensor

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
    """Return the array as a tensor; both are the same memory.

    Raises:
        TypeError: it is no array of numbers.
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
    check_size(shape)
    held = np.dtype((type_ or DEFAULT.dtype).name)
    return np.full(shape, fitting(value, held), held)


def _filling(name: str, value: float, what: str) -> tuple[Callable[..., Tensor], ...]:
    """Return the constructors ``name``, ``name_like`` and ``new_name`` of one number.

    Args:
        what: what they give, as their documentation says it.
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
    shape = sizes_of((n, n if m is None else m), "eye")
    check_size(shape)
    return np.eye(shape[0], shape[1], dtype=(type_ or DEFAULT.dtype).name)


@filling
def arange(
    type_: dtype | None,
    start: object | None = None,
    end: object | None = None,
    step: float = 1,
) -> Host:
    """Return the numbers from ``start`` (0 if not given) up to, without, ``end``.

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
    """Return a number, also of a tensor of one.

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
    """Return the numbers as a type holds them: fractions are cut off for integers."""
    if type_ is None or type_.is_floating_point:
        return numbers
    return tuple(map(int, numbers))


def _between(start: object, end: object, steps: int) -> Host:
    """Return doubles at equal distances."""
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
    """Return one number in the tensor's shape, type and device."""
    return _filled(_number(fill_value), (input.shape,), type_, "full_like")


def new(self: Tensor, *data: object) -> Tensor:
    """Return a tensor of this one's type from a shape or a sequence, as `Tensor` takes
    them; `new_zeros` and `new_tensor` say which of the two is meant."""
    from .legacy import tensor_of

    return tensor_of(data, self.dtype, self.xp)


@alike
def new_full(type_: dtype, input: Tensor, size: object, fill_value: object) -> Host:
    """Return one number in a shape, of the tensor's type and device."""
    return _filled(_number(fill_value), (size,), type_, "new_full")


@alike
def new_tensor(type_: dtype, input: Tensor, data: object) -> Host:
    """Return a tensor with a copy of the data, of this one's type and device."""
    if isinstance(data, Tensor):
        data = devices.host(data.raw)
    return array_of(data, type_, copy=True)


def __getattr__(name: str) -> Any:
    """Return ``FloatTensor`` and the like."""
    from .legacy import TYPED

    found = {each.__name__: each for each in TYPED.values()}.get(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found
