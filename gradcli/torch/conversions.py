"""Conversion of tensors to other types, other devices and other libraries' arrays.

Invariant: a tensor that has the wanted type and device already is returned itself;
where a copy is made the gradient passes through it. Nothing leaves a GPU unasked.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ..engine import devices, dtypes
from ..engine.dtypes import DeviceLike, dtype
from ..engine.dtypes import device as Device
from ..engine.errors import EngineError
from ..engine.methods import named
from ..engine.modes import is_grad_enabled
from ..engine.raw import Params, Raw
from ..engine.record import apply, function, moved
from ..engine.tensor import Tensor, note_view
from ..engine.versions import owner
from ..ops import OPS
from ..ops.index import contiguous_strides

NUMPY_OF_RECORDED = (
    "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() "
    "instead."
)


def _wanted(arguments: tuple[object, ...]) -> Params:
    """Return what the positional arguments of `to` ask for, by keyword."""
    found: Params = {}
    flags = iter(("non_blocking", "copy"))
    for value in arguments:
        if isinstance(value, Tensor):
            found.update(dtype=value.dtype, device=value.xp)
        elif isinstance(value, dtype):
            found["dtype"] = value
        elif isinstance(value, builtins.bool):
            found[next(flags)] = value
        elif isinstance(value, Device | str | builtins.int):
            found["device"] = value
        elif isinstance(value, builtins.type):
            found["dtype"] = dtypes.to_dtype(value)
        elif value is not None:
            raise dtypes.no_type(
                value,
                "to() received an invalid combination of arguments - got "
                f"({value.__class__.__name__}), but expected a dtype, a device or a "
                "tensor",
            )
    return found


def to(
    self: Tensor,
    *args: object,
    dtype: dtype | None = None,
    device: DeviceLike = None,
    non_blocking: builtins.bool = False,
    copy: builtins.bool = False,
    memory_format: str | None = None,
) -> Tensor:
    """Return the tensor in another type, on another device, or both.

    It is called as ``to(dtype)``, ``to(device)``, ``to(device, dtype)``, ``to(other)``.

    Args:
        copy: copy also where type and device are the wanted ones already.
        non_blocking, memory_format: accepted; copies are made at once, in order.

    Returns:
        The tensor itself, or a copy of its shape through which gradients pass.
    """
    wanted: Params = {"dtype": dtype, "device": device, "copy": copy} | _wanted(args)
    target = wanted["device"]
    if target is None:
        xp = self.xp
    else:
        xp = target if hasattr(target, "symbolic") else devices.namespace_on(target)
    chosen = None if wanted["dtype"] is None else dtypes.to_dtype(wanted["dtype"])
    type_ = None if chosen is None or chosen is self.dtype else chosen.name
    elsewhere = None if xp.device == self.xp.device else xp
    if type_ is None and elsewhere is None:
        return self.clone() if wanted["copy"] else self
    return moved(self, type_, elsewhere)


def cpu(self: Tensor, memory_format: str | None = None) -> Tensor:
    """Return the tensor in the host's memory: itself if it is there, else a copy."""
    return to(self, "cpu")


def cuda(
    self: Tensor,
    device: DeviceLike = None,
    non_blocking: builtins.bool = False,
    memory_format: str | None = None,
) -> Tensor:
    """Return the tensor on the GPU.

    Raises:
        DeviceError: there is none.
    """
    return to(self, "cuda" if device is None else device)


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """Return the tensor in the type of another."""
    return to(self, other.dtype)


def type(
    self: Tensor, dtype: object = None, non_blocking: builtins.bool = False
) -> Any:
    """Return the name of the tensor's class or, given a type, the tensor in it."""
    if dtype is None:
        prefix = "cuda." if self.is_cuda else ""
        return f"torch.{prefix}{self.dtype.legacy}Tensor"
    if isinstance(dtype, str):
        named = {f"torch.{each.legacy}Tensor": each for each in dtypes.ALL}
        if dtype not in named:
            raise ValueError(f"invalid type: '{dtype}'")
        dtype = named[dtype]
    return to(self, getattr(dtype, "dtype", dtype))


def _conversion(name: str, type_: dtype) -> object:
    def convert(self: Tensor, memory_format: str | None = None) -> Tensor:
        return to(self, type_)

    return named(convert, name, f"The tensor in the type {type_}.")


half = _conversion("half", dtypes.float16)
float = _conversion("float", dtypes.float32)
double = _conversion("double", dtypes.float64)
char = _conversion("char", dtypes.int8)
short = _conversion("short", dtypes.int16)
int = _conversion("int", dtypes.int32)
long = _conversion("long", dtypes.int64)
byte = _conversion("byte", dtypes.uint8)
bool = _conversion("bool", dtypes.bool_)


def numpy(self: Tensor, *, force: builtins.bool = False) -> Any:
    """Return the NumPy array on the same memory.

    Args:
        force: accept tensors that require a gradient or live on a GPU too, and copy
            where that is needed.

    Raises:
        RuntimeError: the tensor requires a gradient, and gradients are recorded.
        TypeError: it lives on a GPU.
    """
    if force:
        return np.asarray(devices.host(self.detach()._shareable()))
    if self.requires_grad and is_grad_enabled():
        raise EngineError(NUMPY_OF_RECORDED)
    if self.xp.symbolic:
        raise EngineError(
            "numpy() leaves the tensors, and what holds formulas or balls has no "
            "numbers to give; compute with functions of tensors"
        )
    if self.xp.device != "cpu":
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. Use "
            "Tensor.cpu() to copy the tensor to host memory first."
        )
    return self._shareable()


def __array__(self: Tensor, dtype: object = None, copy: object = None) -> Any:
    """Return the tensor's entries as a NumPy array; NumPy calls this."""
    array = numpy(self)
    if dtype is not None and array.dtype != dtype:
        return array.astype(dtype)
    return array.copy() if copy else array


def __array_wrap__(
    self: Tensor,
    array: Raw,
    context: object = None,
    return_scalar: builtins.bool = False,
) -> Tensor:
    """Return the result of a NumPy function of this tensor as a tensor; truth values
    become bytes, as in PyTorch."""
    made = np.asarray(array)
    return Tensor(made.astype("uint8") if made.dtype.kind == "b" else made, self.xp)


def __dlpack__(self: Tensor, **options: object) -> Any:
    """Return the tensor's memory for another library, by the DLPack protocol."""
    if self.requires_grad:
        raise BufferError(
            "Can't export tensors that require gradient, use tensor.detach()"
        )
    options.pop("stream", None)
    return self._shareable().__dlpack__(**options)


def __dlpack_device__(self: Tensor) -> tuple[builtins.int, builtins.int]:
    """Return the kind and the number of the memory's device, by the DLPack protocol."""
    found: tuple[builtins.int, builtins.int] = self._shareable().__dlpack_device__()
    return found


def contiguous(self: Tensor, memory_format: str | None = None) -> Tensor:
    """Return the tensor itself if its entries lie in order, else a copy in order."""
    return self if is_contiguous(self) else apply(
        OPS["clone"], (self,), {"memory_format": "contiguous"}
    )  # fmt: skip


def is_contiguous(self: Tensor, memory_format: str | None = None) -> builtins.bool:
    """Return whether its entries lie in memory in the order of their indices."""
    return builtins.bool(self.xp.is_contiguous(self.raw))


def stride(self: Tensor, dim: Any = None) -> Any:
    """Return the step from one entry to the next in each dimension, in entries."""
    if self.numel():
        steps = tuple([s // self.raw.dtype.itemsize for s in self.raw.strides])
    else:
        steps = contiguous_strides(self.raw.shape)
    return steps if dim is None else steps[dim]


def storage_offset(self: Tensor) -> builtins.int:
    """Return how many entries the memory holds before the tensor's first."""
    start = self.xp.address(owner(self.raw))
    found: builtins.int = (self.xp.address(self.raw) - start) // self.raw.dtype.itemsize
    return found


def data_ptr(self: Tensor) -> builtins.int:
    """Return the address of the first entry, in bytes; 0 if there is none."""
    found: builtins.int = self.xp.address(self._shareable()) if self.numel() else 0
    return found


def get_device(self: Tensor) -> builtins.int:
    """Return the number of the tensor's GPU; -1 if it is in the host's memory."""
    return self.device.index or 0 if self.is_cuda else -1


def view(self: Tensor, *size: object, **named: object) -> Tensor:
    """Return a view of another shape or, given a type, of the bytes as such numbers."""
    asked = named["dtype"] if "dtype" in named else size[0] if size else None
    if asked.__class__ in _TYPES:
        return _reread(self, dtypes.to_dtype(asked, "view"))
    found: Tensor = _view(self, *size, **named)
    return found


_TYPES = frozenset({dtype, builtins.type})
"""Classes of the arguments that name a type."""


_view = function("view")


def _reread(t: Tensor, type_: dtype) -> Tensor:
    """Return the same bytes as numbers of another type; no gradient passes."""
    if t.itemsize != type_.itemsize and (
        not t.raw.shape or t.raw.shape[-1] * t.itemsize % type_.itemsize
    ):
        raise EngineError(
            "self.size(-1) must be divisible by "
            f"{type_.itemsize // t.itemsize} to view {t.dtype.legacy} as "
            f"{type_.legacy} (different element sizes)"
        )
    source = t.detach()
    out = Tensor(source.raw.view(type_.name), t.xp)
    note_view(source, out)
    return out


def element_size(self: Tensor) -> builtins.int:
    """Return the size of an entry, in bytes."""
    return self.itemsize


def nelement(self: Tensor) -> builtins.int:
    """Return the number of entries."""
    return self.numel()


def ndimension(self: Tensor) -> builtins.int:
    """Return the number of dimensions."""
    return self.ndim


def pin_memory(self: Tensor, device: DeviceLike = None) -> Tensor:
    """Return the tensor itself: memory is not pinned here."""
    return self
