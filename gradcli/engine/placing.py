"""In what order a result's entries lie in memory, and in which precision half floats
are computed with, where its row says so.

Invariant: a row that leaves the order to its formula runs that formula itself.

    placed(OPS["softmax"])(xp, x, 0)    # packed, though x be a transpose
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ops import KEPT, PACKED, Formula, Op
from ..ops.index import entries_at
from ..ops.op import READ
from ..ops.types import Array
from .layouts import order_read
from .namespace import Namespace
from .raw import Raw


def _as_read(xp: Any, y: Raw, x: Raw, indices: Sequence[object]) -> Any:
    """Lay out what was read at positions, where those or the operand lie in another
    order than that of their indices."""
    if xp.is_contiguous(x) and not any(map(_is_turned, indices)):
        return xp.packed(y)
    at: Any = entries_at(xp, indices)
    return xp.packed_in(y, order_read(x, xp.geometry(x)[0], at)[::-1])


def _is_turned(item: object) -> bool:
    """Return whether an array lies in another order than that of its indices."""
    return hasattr(item, "flags") and not item.flags.c_contiguous


_ARRANGED: dict[object, Callable[..., Array]] = {
    PACKED: lambda xp, y, x, **params: xp.packed(y),
    KEPT: lambda xp, y, x, **params: xp.in_order_of(y, x),
    READ: _as_read,
}


def placed(op: Op) -> Formula:
    """Return the row's formula, whose results lie in memory as the row says."""
    fwd, arrange = _widened(op.fwd) if op.wide else op.fwd, _ARRANGED.get(op.memory)
    if arrange is None:
        return fwd

    def run(xp: Namespace, *inputs: object, **params: object) -> Any:
        y = fwd(xp, *inputs, **params)
        if isinstance(y, tuple):
            return tuple([arrange(xp, part, inputs[0], **params) for part in y])
        return arrange(xp, y, inputs[0], **params)

    return run


def _widened(fwd: Formula) -> Formula:
    """Return a formula of one output that is run on single floats where it is given
    half ones."""

    def run(xp: Namespace, x: Any, *others: Any, **params: object) -> Any:
        if xp.symbolic or x.dtype is not HALF:
            return fwd(xp, x, *others, **params)
        wide = [
            r.astype("float32") if getattr(r, "dtype", None) == HALF else r
            for r in (x, *others)
        ]
        return fwd(xp, *wide, **params).astype(HALF)

    def alone(xp: Namespace, x: Any) -> Any:
        return fwd(xp, x) if xp.symbolic or x.dtype is not HALF else run(xp, x)

    takes = fwd.__code__.co_argcount + fwd.__code__.co_kwonlyargcount
    return alone if takes == OPERANDS else run


HALF = np.dtype("float16")
OPERANDS = 2
"""A formula's namespace and its operand."""
