"""In what order a result's entries lie in memory, where its row says so.

Invariant: a row that leaves the order to its formula runs that formula itself.

    placed(OPS["softmax"])(xp, x, 0)    # packed, though x be a transpose
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops import KEPT, PACKED, Formula, Op
from .namespace import Namespace

_ARRANGED: dict[object, Callable[[Any, Any, Any], Any]] = {
    PACKED: lambda xp, y, x: xp.packed(y),
    KEPT: lambda xp, y, x: xp.in_order_of(y, x),
}


def placed(op: Op) -> Formula:
    """The row's formula, whose results lie in memory as the row says."""
    fwd, arrange = op.fwd, _ARRANGED.get(op.memory)
    if arrange is None:
        return fwd

    def run(xp: Namespace, *inputs: object, **params: object) -> Any:
        y = fwd(xp, *inputs, **params)
        if isinstance(y, tuple):
            return tuple([arrange(xp, part, inputs[0]) for part in y])
        return arrange(xp, y, inputs[0])

    return run
