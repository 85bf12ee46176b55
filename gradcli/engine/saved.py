"""Which of a node's values its rules read: the ones that count as saved.

Invariant: a value of which only the shape is asked does not count, nor does one that is
read by the rule of an edge that needs no gradient, nor what a linear row keeps. So
``x * 5.0`` saves nothing of ``x``, and ``exp`` saves its result, as in PyTorch.

    used_parts((x * w).grad_fn).inputs   # (0, 1)
"""

from __future__ import annotations

from typing import Any

from .node import ConstantNode, Node, Packed
from .reading import NOTHING, Parts, joined, read_by


def used_parts(node: Node) -> Parts:
    """Return which saved values the rules of a node's live edges read."""
    if isinstance(node, ConstantNode):
        return NOTHING
    if isinstance(node.y, Packed):
        return node.y.parts
    op = node.op
    raw, y = node.restored()
    if op.variadic:
        return _held(Parts(tuple(range(len(raw))), False), raw, y)
    pairs = zip(node.slots, node.edges, strict=True)
    live = [read_by(op, slot) for slot, edge in pairs if edge is not None]
    return _held(joined(live), raw, y)


def _held(parts: Parts, raw: tuple[Any, ...], y: Any) -> Parts:
    """Keep those of the parts that the node has."""
    given = {slot for slot, value in enumerate(raw) if hasattr(value, "dtype")}
    inputs = tuple(slot for slot in parts.inputs if slot in given)
    return parts._replace(inputs=inputs, output=parts.output and y is not None)


def pushed_parts(node: Node) -> Parts:
    """Return which saved values the forward rule of a node reads."""
    op = node.op
    if op.partials is not None:
        return used_parts(node)
    raw, y = node.restored()
    every = tuple(i for i, value in enumerate(raw) if hasattr(value, "dtype"))
    if callable(op.jvp):
        return _held(rules_read(node)._replace(inputs=every), raw, y)
    live = {i for i, e in zip(node.slots, node.edges, strict=False) if e is not None}
    return Parts(tuple(i for i in every if op.variadic or live != {i}), False)


def rules_read(node: Node) -> Parts:
    """Return which saved values the rules of all edges read."""
    if isinstance(node, ConstantNode):
        return NOTHING
    op = node.op
    if op.variadic:
        return Parts(tuple(range(len(node.edges))), False)
    rules: Any = op.partials or op.vjp
    return joined(read_by(op, slot) for slot in range(len(rules)))
