"""The views that programs take most, without a look at everything that may be given.

Invariant: what is made here is what the general function makes of the same call, graph
included. Plain numbers are read here, of arrays that nobody looks at; whatever else is
given, and whatever fails, is left to the general function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy import ndarray

from ..ops import OPS
from .modes import MODE
from .record import recorder
from .tensor import Tensor

General = Callable[..., object]


def reading(general: General) -> Callable[[Tensor, Any], Any]:
    """Return the function of ``x[1]`` and ``x[1:3]``."""
    select, narrow = (recorder(OPS[name]).see for name in ("select", "slice.Tensor"))
    assert select is not None
    assert narrow is not None

    def read(x: Tensor, index: Any) -> object:
        raw = x.raw
        kind = type(index)
        if not MODE.fast or not x.xp.plain or not raw.shape:
            return general(x, index)
        if kind is int:
            try:
                y = raw[index, ...]
            except IndexError:
                return general(x, index)
            return select(x, raw, y, {"dim": 0, "index": index})
        if kind is slice:
            start, end, step = index.start, index.stop, index.step
            if step is None:
                step = 1
            if (
                (start is None or type(start) is int)
                and (end is None or type(end) is int)
                and type(step) is int
                and step > 0
            ):
                params = {"dim": 0, "start": start, "end": end, "step": step}
                return narrow(x, raw, raw[index], params)
        return general(x, index)

    return read


def turning(general: General) -> Callable[[Tensor], object]:
    """Return the function of ``x.T``."""
    permute = recorder(OPS["permute"]).see
    assert permute is not None

    def turn(x: Tensor) -> object:
        raw = x.raw
        if MODE.fast and x.xp.plain and len(raw.shape) == 2:
            return permute(x, raw, raw.T, {"dims": (1, 0)})
        return general(x)

    return turn


def transposing(general: General) -> General:
    """Return the function of ``x.transpose(0, 1)``."""
    transpose = recorder(OPS["transpose"]).see
    assert transpose is not None

    def exchange(*args: object, **kwargs: object) -> Any:
        if kwargs or len(args) != 3 or not MODE.fast:
            return general(*args, **kwargs)
        x, dim0, dim1 = args
        if type(dim0) is not int or type(dim1) is not int or not isinstance(x, Tensor):
            return general(*args)
        raw = x.raw
        if not raw.shape or not x.xp.plain:
            return general(*args)
        try:
            y = raw.swapaxes(dim0, dim1)
        except ValueError:
            return general(*args)
        return transpose(x, raw, y, {"dim0": dim0, "dim1": dim1})

    return exchange


def reshaping(general: General) -> General:
    """Return ``reshape`` of a tensor whose entries lie in their indices' order."""
    view = recorder(OPS["view.default"]).see
    assert view is not None

    def reshape(*args: object, **kwargs: object) -> Any:
        if kwargs or len(args) < 2 or not MODE.fast:
            return general(*args, **kwargs)
        x = args[0]
        shape = args[1] if len(args) == 2 else args[1:]
        if type(shape) is not tuple or not isinstance(x, Tensor):
            return general(*args)
        for n in shape:
            if type(n) is not int or n < -1:
                return general(*args)
        raw = x.raw
        if type(raw) is not ndarray or not x.xp.plain or not raw.flags.c_contiguous:
            return general(*args)
        try:
            y = raw.reshape(shape)
        except ValueError:
            return general(*args)
        return view(x, raw, y, {"shape": y.shape})

    return reshape
