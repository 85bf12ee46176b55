"""Rules that follow from a row: reverse rules from partials, and the sum back to a
broadcast input's shape.

Invariant: everything here works in any number system; ``xp`` says which.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from ..ops import Op
from ..ops.shape import sum_to as _sum_to
from ..ops.types import Array, ArrayRule, Partial, Shape
from .namespace import Namespace

__all__ = ["reverse_rules", "sum_to"]

sum_to = cast("Callable[[Namespace, Array, Shape], Array]", _sum_to)
"""`gradcli.ops.shape.sum_to` in the namespaces of tensors."""


def reverse_rules(op: Op) -> Any:
    """Per input ``(xp, g, y, *inputs, **params)`` or None; one callable if variadic."""
    if op.vjp is not None:
        return op.vjp
    assert op.partials is not None
    return tuple(None if p is None else _times(p) for p in op.partials)


def _times(partial: Partial | float) -> ArrayRule:
    if callable(partial):
        return lambda xp, g, y, *inputs, **params: g * partial(xp, y, *inputs, **params)
    if partial == 1:
        return lambda xp, g, y, *inputs, **params: g
    if partial == -1:
        return lambda xp, g, y, *inputs, **params: -g
    if partial == 0:
        return lambda xp, g, y, *inputs, **params: xp.zeros_like(g)
    return lambda xp, g, y, *inputs, **params: g * partial
