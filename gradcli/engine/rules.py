"""Rules that follow from a row: products with partials, and the sum back to a broadcast
input's shape.

Invariant: everything here works in any number system; ``xp`` says which.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from ..ops import Op
from ..ops.shape import sum_to as _sum_to
from ..ops.types import Array, ArrayRule, Partial, Shape
from .namespace import Namespace

__all__ = ["reverse_rules", "sum_to", "times"]

sum_to = cast("Callable[[Namespace, Array, Shape], Array]", _sum_to)
"""`gradcli.ops.shape.sum_to` in the namespaces of tensors."""


def reverse_rules(op: Op) -> Any:
    """Return ``(xp, g, y, *inputs, **params)`` or None per input; one if variadic."""
    if op.vjp is not None:
        return op.vjp
    assert op.partials is not None
    return tuple(None if p is None else times(p, op.masks) for p in op.partials)


def times(partial: Partial | float, masks: bool) -> ArrayRule:
    """Return the product of a partial with what arrives, a cotangent or a tangent.

    Args:
        masks: where the partial is 0 the product is, whatever arrives.
    """
    if callable(partial):
        if masks:
            return _masked(partial)
        return lambda xp, g, y, *inputs, **params: g * partial(xp, y, *inputs, **params)
    if partial == 1:
        return lambda xp, g, y, *inputs, **params: g
    if partial == -1:
        return lambda xp, g, y, *inputs, **params: -g
    if partial == 0:
        return lambda xp, g, y, *inputs, **params: xp.zeros_like(g)
    return lambda xp, g, y, *inputs, **params: g * partial


def _masked(partial: Partial) -> ArrayRule:
    def rule(
        xp: Namespace, g: Array, y: Array, *inputs: Array, **params: object
    ) -> Array:
        share = partial(xp, y, *inputs, **params)
        return xp.where(xp.eq(share, 0), 0, g * share)

    return rule
