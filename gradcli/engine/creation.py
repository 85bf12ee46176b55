"""New tensors from numbers, from arrays and from a shape.

Invariant: what is made here owns its memory, except by `as_tensor`, `from_numpy` and
`from_dlpack`, which share it where they can. Floats get the default type unless one is
named; a tensor of shape () is an array too, so that it can be written to.

    zeros(2, 3), zeros((2, 3)), full((2,), 7, dtype=float64)
    tensor([[1.0, 2.0]], requires_grad=True)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np

from . import devices, dtypes
from .device import device as Device
from .dtypes import DEFAULT, dtype
from .errors import EngineError
from .limits import check_size
from .numbers import array_of, check_kind
from .sizes import sizes_of
from .tensor import Tensor

Place = Device | str | int | None

__all__ = [
    "arange",
    "as_tensor",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "from_numpy",
    "full",
    "full_like",
    "linspace",
    "logspace",
    "ones",
    "ones_like",
    "range",
    "scalar_tensor",
    "tensor",
    "zeros",
    "zeros_like",
]


def made(raw: Any, requires_grad: bool, device: Place = None, xp: Any = None) -> Tensor:
    """The tensor of a fresh NumPy array, on a device or in a namespace."""
    if xp is None:
        xp = devices.place(device)
    out = Tensor(xp.array(raw), xp)
    return _leaf(out) if requires_grad else out


def _leaf(out: Tensor) -> Tensor:
    out.requires_grad = True
    return out


def tensor(
    data: Any,
    *,
    dtype: dtype | None = None,
    device: Place = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor with a copy of numbers, nested lists of them, or an array.

    Args:
        data: Floats give the default type, whole numbers int64, truth values bool; an
            array keeps its own.
        dtype: the type, if not that of the data.
        device: where to put it.
        requires_grad: make it a leaf that gradients are added up for.

    Raises:
        ValueError: the lists are ragged.
        TypeError: the data holds something that is no number.
    """
    if isinstance(data, Tensor):
        return _copied(data, dtype, device, requires_grad)
    return made(array_of(data, dtype, copy=True), requires_grad, device)


def _copied(
    data: Tensor, dtype: dtype | None, device: Place, requires_grad: bool
) -> Tensor:
    import warnings

    warnings.warn(
        "To copy construct from a tensor, it is recommended to use "
        "sourceTensor.detach().clone() or sourceTensor.detach().clone()."
        "requires_grad_(True), rather than torch.tensor(sourceTensor).",
        UserWarning,
        stacklevel=3,
    )
    out = data.detach().to(device or data.device, dtype or data.dtype, copy=True)
    return _leaf(out) if requires_grad else out


def as_tensor(data: Any, dtype: dtype | None = None, device: Place = None) -> Tensor:
    """The data as a tensor that shares its memory, if type and device allow it."""
    if isinstance(data, Tensor):
        return data.to(device or data.device, dtype or data.dtype)
    if hasattr(data, "__dlpack__") and not isinstance(data, np.ndarray | np.generic):
        return as_tensor(from_dlpack(data), dtype, device)
    return made(array_of(data, dtype, copy=False), False, device)


def asarray(
    obj: Any,
    *,
    dtype: dtype | None = None,
    device: Place = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """As `as_tensor`; ``copy`` forces a copy."""
    out = as_tensor(obj, dtype, device).detach()
    return (out.clone() if copy else out).requires_grad_(requires_grad)


def scalar_tensor(
    s: Any,
    *,
    dtype: dtype | None = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """One number as a tensor of the default type."""
    return full((), s, dtype=dtype or DEFAULT.dtype, device=device,
                requires_grad=requires_grad)  # fmt: skip


def from_numpy(ndarray: Any) -> Tensor:
    """The array as a tensor; both are the same memory.

    Raises:
        TypeError: it is no array of numbers.
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    return Tensor(check_kind(ndarray), devices.NUMPY)


def from_dlpack(ext_tensor: Any) -> Tensor:
    """What another library holds, as a tensor on the same memory."""
    if isinstance(ext_tensor, Tensor):
        return ext_tensor.detach()
    xp = devices.exchanging(ext_tensor)
    return Tensor(xp.np.from_dlpack(ext_tensor), xp)


def _filled(
    value: Any, size: Sequence[Any], type_: dtype | None, device: Place,
    requires_grad: bool, name: str,
) -> Tensor:  # fmt: skip
    shape = sizes_of(size, name)
    check_size(shape)
    chosen = DEFAULT.dtype if type_ is None else dtypes.to_dtype(type_)
    return made(np.full(shape, value, chosen.name), requires_grad, device)


def zeros(
    *size: Any,
    dtype: dtype | None = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """Zeros of a shape, given as numbers or as one tuple."""
    return _filled(0, size, dtype, device, requires_grad, "zeros")


def ones(
    *size: Any,
    dtype: dtype | None = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """Ones of a shape, given as numbers or as one tuple."""
    return _filled(1, size, dtype, device, requires_grad, "ones")


def empty(
    *size: Any,
    dtype: dtype | None = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of a shape whose entries mean nothing; they are zeros here."""
    return _filled(0, size, dtype, device, requires_grad, "empty")


def full(
    size: Any,
    fill_value: Any,
    *,
    dtype: dtype | None = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """One number in every entry; its kind gives the type."""
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    chosen = dtype or dtypes.of(array_of(value, None, copy=False))
    return _filled(value, (size,), chosen, device, requires_grad, "full")


def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: dtype | None = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """Ones on the diagonal of an n by m matrix."""
    shape = sizes_of((n, n if m is None else m), "eye")
    check_size(shape)
    name = DEFAULT.name if dtype is None else dtype.name
    return made(np.eye(shape[0], shape[1], dtype=name), requires_grad, device)


def arange(
    start: Any,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: dtype | None = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """The numbers from ``start`` (0 if only an end is given) up to, without, ``end``.

    Raises:
        RuntimeError: the step is 0 or leads away from the end.
    """
    first, last = (0, start) if end is None else (start, end)
    first, last, step = (_number(v) for v in (first, last, step))
    _check_step(first, last, step)
    count = ceil((last - first) / step)
    whole = all(isinstance(v, int) for v in (first, last, step))
    return _counted(first, step, count, whole, dtype, device, requires_grad)


def range(
    start: Any,
    end: Any,
    step: Any = 1,
    *,
    dtype: dtype | None = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """The floats from ``start`` up to and with ``end``; use `arange` in new code."""
    first, last, step = (_number(v) for v in (start, end, step))
    _check_step(first, last, step)
    count = int((last - first) / step) + 1
    chosen = dtype or DEFAULT.dtype
    return _counted(first, step, count, False, chosen, device, requires_grad)


def _check_step(first: Any, last: Any, step: Any) -> None:
    if step == 0:
        raise EngineError("step must be nonzero")
    if (last - first) * step < 0:
        raise EngineError("upper bound and lower bound inconsistent with step sign")


def _counted(
    first: Any, step: Any, count: int, whole: bool, type_: dtype | None,
    device: Place, requires_grad: bool,
) -> Tensor:  # fmt: skip
    check_size((count,))
    values = first + step * np.arange(count, dtype="int64" if whole else "float64")
    name = type_.name if type_ is not None else "int64" if whole else DEFAULT.name
    return made(values.astype(name), requires_grad, device)


def _number(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    dtype: dtype | None = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """``steps`` numbers at equal distances, both ends among them."""
    (count,) = sizes_of((steps,), "linspace")
    check_size((count,))
    values = np.linspace(_number(start), _number(end), count)
    name = DEFAULT.name if dtype is None else dtype.name
    return made(values.astype(name), requires_grad, device)


def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    dtype: dtype | None = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """Powers of ``base`` whose exponents are at equal distances."""
    exponents = linspace(start, end, steps, dtype=dtypes.float64)
    name = DEFAULT.name if dtype is None else dtype.name
    values = np.power(float(base), exponents.numpy())
    return made(values.astype(name), requires_grad, device)


def _like(
    input: Tensor, value: Any, type_: dtype | None, device: Place, requires_grad: bool
) -> Tensor:
    xp = input.xp if device is None else devices.place(device)
    chosen = input.dtype if type_ is None else type_
    filled = np.full(input.raw.shape, value, chosen.name)
    return made(filled, requires_grad, xp=xp)


def zeros_like(
    input: Tensor,
    *,
    dtype: dtype | None = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """Zeros of the tensor's shape, type and device."""
    return _like(input, 0, dtype, device, requires_grad)


def ones_like(
    input: Tensor,
    *,
    dtype: dtype | None = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """Ones of the tensor's shape, type and device."""
    return _like(input, 1, dtype, device, requires_grad)


def empty_like(
    input: Tensor,
    *,
    dtype: dtype | None = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of the same shape, type and device; its entries are zeros here."""
    return _like(input, 0, dtype, device, requires_grad)


def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: dtype | None = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """One number in the tensor's shape, type and device."""
    return _like(input, _number(fill_value), dtype, device, requires_grad)


def __getattr__(name: str) -> Any:
    """``FloatTensor`` and the like."""
    from .legacy import TYPED

    found = {each.__name__: each for each in TYPED.values()}.get(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found
