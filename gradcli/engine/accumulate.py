"""The ends of a reverse pass: what arrives at a leaf is added to its gradient.

Invariant: a gradient's memory is its leaf's own, and is of its leaf's type; passes in
threads add one after another.

    finish(x.edge, g)                    # x.grad is g, or x.grad + g
"""

from __future__ import annotations

from threading import Lock
from typing import Any

from . import hooks
from .cast import in_type
from .hooks import HOOKS
from .node import AccumulateGrad
from .record import call
from .tensor import Tensor


def finish(end: AccumulateGrad, g: Any) -> None:
    """Add to a leaf's gradient, between its hooks."""
    if HOOKS.used:
        g = hooks.before(end, g)
    with _ADDING:
        _add(end, g)
    if HOOKS.used:
        hooks.accumulated(end)
        hooks.after(end, (), g)


_ADDING = Lock()
"""Held while a leaf's gradient is read and written: passes may run in threads."""


def _add(end: AccumulateGrad, g: Any) -> None:
    """Add to the leaf's gradient, whose memory is the leaf's own."""
    if end.grad is not None:
        _add_to_held(end, end.grad, g)
        return
    g = in_type(g, end.raw.dtype)
    if isinstance(g, Tensor):
        end.grad = _copied(g)
    else:
        end.grad = Tensor(g.copy() if g.shape else g, end.xp)


def _copied(g: Tensor) -> Tensor:
    """Copy a gradient to memory of its own, recorded where it has a graph."""
    if g.edge is None:
        return Tensor(g.xp.clone(g.raw), g.xp)
    found: Tensor = call("copy_.default", g.detach(), g)
    return found


def _add_to_held(end: AccumulateGrad, held: Any, g: Any) -> None:
    """Add to a gradient that is there: in its own memory, unless it is recorded."""
    if isinstance(g, Tensor):
        end.grad = held + g
    elif held.edge is None and held.raw.shape and not held.xp.symbolic:
        held.raw += g
    else:
        held.raw = held.raw + g
