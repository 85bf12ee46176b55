"""Cotangents in the type of the value that they belong to.

Invariant: where floats of two widths meet, what a rule gives may be wider than the
value it belongs to; it has the value's type wherever somebody sees it: at leaves, at
hooks, in functions by hand, and in recorded passes, whose rules refuse to mix types.

    in_type(g, x.raw.dtype)              # g itself, if it has the type of x
"""

from __future__ import annotations

from typing import Any

from ..ops.types import Dtype
from . import dtypes
from .tensor import Tensor


def in_type(g: Any, type_: Dtype) -> Any:
    """A cotangent, raw or a tensor, in an array's type; recorded, if the tensor is."""
    if not isinstance(g, Tensor):
        return g if g.dtype == type_ else g.astype(type_)
    if g.raw.dtype == type_:
        return g
    from .convert import to

    return to(g, dtypes.named(type_.name))


def in_types_of(y: Any, g: object) -> Any:
    """Return the cotangents of one tensor, or of several, each in its tensor's type.

    What did not arrive is None; of a value that was not kept the type is not known.
    """
    if isinstance(g, tuple):
        return tuple([in_types_of(*pair) for pair in zip(y, g, strict=False)])
    value = y[0] if isinstance(y, tuple) else y
    known = isinstance(value, Tensor) and g is not None
    return in_type(g, value.raw.dtype) if known else g
