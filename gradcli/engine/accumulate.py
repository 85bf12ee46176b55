"""The ends of a reverse pass: what arrives at a leaf is added to its gradient.

Invariant: a gradient's memory is its leaf's own, and is of its leaf's type; passes in
threads add one after another.

    finish(x.edge, [g])                  # x.grad is g, or x.grad + g
"""

from __future__ import annotations

from sys import getrefcount
from threading import Lock
from typing import Any

from ..ops.types import Array
from . import hooks
from .cast import in_type
from .hooks import HOOKS
from .node import AccumulateGrad
from .record import call
from .tensor import Tensor
from .versions import is_lent


def finish(end: AccumulateGrad, held: list[Tensor]) -> None:
    """Add to a leaf's gradient, between its hooks.

    Args:
        held: what arrived, alone in a list: memory that nothing else holds becomes the
            gradient itself.
    """
    if HOOKS.used:
        held = [hooks.before(end, held[0])]
    with _ADDING:
        _add(end, held)
    if HOOKS.used:
        hooks.accumulated(end)
        hooks.after(end, (), held[0])


_ADDING = Lock()
"""Lock that is held while a leaf's gradient is read and written in any thread."""


def _add(end: AccumulateGrad, held: list[Any]) -> None:
    """Add to the leaf's gradient, whose memory is the leaf's own."""
    if end.grad is not None:
        _add_to_held(end, end.grad, held[0])
    elif _is_lone(end, held):
        end.grad = Tensor(held[0], end.xp)
    else:
        g = in_type(held[0], end.raw.dtype)
        if isinstance(g, Tensor):
            end.grad = _copied(g)
        else:
            end.grad = Tensor(g.copy() if g.shape else g, end.xp)


def _is_lone(end: AccumulateGrad, held: list[object]) -> bool:
    """Return whether an array, or the one that it is all of, is held by the list alone.

    Whatever else sees this memory, a view, a saved value or a tensor, holds one of the
    two; what is called while hooks are in use may hold them for longer.
    """
    if getrefcount(held[0]) != _HELD_ONCE or HOOKS.used:
        return False
    g: Any = held[0]
    kind = type(g)
    if not end.xp.plain or kind is not type(end.raw) or g.dtype != end.raw.dtype:
        return False
    if not (g.flags.c_contiguous and getattr(g.flags, "writeable", True)):
        return False
    if g.base is None:
        return bool(g.flags.owndata) and not is_lent(g)
    whole = type(g.base) is kind and g.base.size == g.size
    return whole and g.base.flags.owndata and getrefcount(g.base) == _HELD_ONCE


_HELD_ONCE = getrefcount([object()][0]) + 1
"""References that Python counts to an object of a list: the list's and the call's."""


def _copied(g: Tensor) -> Tensor:
    """Copy a gradient to memory of its own, recorded where it has a graph."""
    if g.edge is None:
        return Tensor(g.xp.clone(g.raw), g.xp)
    found: Tensor = call("copy_.default", g.detach(), g)
    return found


def _add_to_held(end: AccumulateGrad, held: Tensor, g: Array) -> None:
    """Add to a gradient that is there: in its own memory, unless it is recorded."""
    if isinstance(g, Tensor):
        end.grad = held + g
    elif held.edge is None and held.raw.shape and not held.xp.symbolic:
        held.raw += g
    else:
        held.raw = held.raw + g
