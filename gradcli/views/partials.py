"""The local gradients of one node: its row's partials at the saved values.

Invariant: one entry per edge, as raw values of the node's own number system; None
where the node is not elementwise, that input needs no gradient, or its derivative is
not known.

    raw_partials((a * b).grad_fn)        # [b.raw, a.raw]
"""

from __future__ import annotations

from ..engine import Node
from ..engine.custom import CustomNode
from ..engine.node import ConstantNode
from ..ops.checks import KindError
from ..ops.types import Array


def raw_partials(node: Node) -> list[None] | list[Array | float | None]:
    """Return the partial of each edge: a number, an array, or None."""
    if isinstance(node, CustomNode):
        return [None] * len(node.edges)
    partials = node.op.partials
    if partials is None:
        return [None] * len(node.edges)
    raw, y = ((), None) if isinstance(node, ConstantNode) else node.restored()
    found = []
    for edge, slot in zip(node.edges, node.slots, strict=True):
        partial = None if edge is None else partials[slot]
        try:
            found.append(
                partial(node.xp, y, *raw, **node.params)
                if callable(partial)
                else partial
            )
        except KindError:
            found.append(None)
    return found
