"""What every constructor takes beside its own arguments, given to it in one place.

Invariant: a constructor is a function from its own arguments, and the type asked for,
to a NumPy array; type, device, gradient and ``out`` are added here. One that is *like*
a tensor, its first argument, takes type and device from there.

    @constructor
    def zeros(type_, *size): ...        # zeros(2, dtype=float64, requires_grad=True)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Any

from . import devices, dtypes
from .device import DeviceLike
from .dtypes import dtype
from .into import refuse_gradients, written
from .layouts import PRESERVING, laid_out, layout, strided
from .modes import MODE
from .namespace import Namespace
from .raw import Params, Raw
from .tensor import Tensor

Build = Callable[..., Any]
"""Function from the type asked for, or None, and arguments to a NumPy array."""

OPTIONS = {
    "out": None, "dtype": None, "layout": strided, "device": None,
    "requires_grad": False, "pin_memory": False,
}  # fmt: skip
"""Keyword arguments of a constructor, with their values where they are left out."""

LIKE = {name: OPTIONS[name] for name in OPTIONS if name != "out"}
"""Keyword arguments of a constructor that is like a tensor, with their values."""


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
    """Put an array into a namespace; floats into that of symbols that are at home."""
    if MODE.home is not None and raw.dtype.kind == "f":
        xp = MODE.home
    return xp.array(raw), xp


def filling(build: Build) -> Callable[..., Tensor]:
    """Return the public constructor of a line of numbers, which fills an ``out`` of
    another shape in order if it has as many entries."""
    return constructor(build, fills=True)


def constructor(build: Build, fills: bool = False) -> Callable[..., Tensor]:
    """Return the public constructor of what ``build`` makes."""
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
    """Return the public constructor of what is like a tensor, its first argument."""
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
    """Return the sizes, which may come as one keyword too."""
    if "size" in named:
        return (*args, named.pop("size"))
    if not args:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    return args


def _signed(make: Any, build: Build, options: Params) -> Callable[..., Tensor]:
    """Return the constructor with a signature that shows all it takes."""
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
