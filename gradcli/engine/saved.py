"""Which of a node's values its reverse rules read: the ones that count as saved.

Invariant: found by reading each rule's code once, never by running it. A value of
which only the shape is asked does not count, nor does one that is read by the rule of
an edge that needs no gradient, nor what a linear row keeps. So ``x * 5.0`` saves
nothing of ``x``, and ``exp`` saves its result, as in PyTorch.

    used_parts((x * w).grad_fn).inputs   # (0, 1)
"""

from __future__ import annotations

from typing import Any

from .node import ConstantNode, Node, Packed
from .reading import NOTHING, Parts, parts_of, rule_of


def used_parts(node: Node) -> Parts:
    """What the rules of the node's live edges read."""
    if isinstance(node, ConstantNode):
        return NOTHING
    if isinstance(node.y, Packed):
        return node.y.parts
    op = node.op
    raw, y = node.restored()
    live = [
        rule_of(op, slot)
        for slot, edge in zip(node.slots, node.edges, strict=not op.variadic)
        if edge is not None
    ]
    found = parts_of([(op.vjp, 2)] if op.variadic else live, len(raw))
    held = tuple(slot for slot in found.inputs if hasattr(raw[slot], "dtype"))
    return found._replace(inputs=held, output=found.output and y is not None)


def pushed_parts(node: Node) -> Parts:
    """What the forward rule of a row without partials reads."""
    op = node.op
    raw, y = node.restored()
    if op.partials is not None:
        return used_parts(node)
    every = [i for i, value in enumerate(raw) if hasattr(value, "dtype")]
    if not callable(op.jvp):
        live = {
            i for i, e in zip(node.slots, node.edges, strict=False) if e is not None
        }
        return Parts(tuple([i for i in every if op.variadic or live != {i}]), False)
    found = parts_of([(op.jvp, 2)], len(raw))
    held = tuple(slot for slot in found.inputs if slot in every)
    return found._replace(inputs=held, output=found.output and y is not None)


def rules_read(node: Node) -> Parts:
    """What the rules of all edges read, whether they need a gradient or not."""
    if isinstance(node, ConstantNode):
        return NOTHING
    op = node.op
    if op.variadic:
        return parts_of([(op.vjp, 2)], len(node.edges))
    rules: Any = op.partials or op.vjp
    count = len(rules)
    return parts_of([rule_of(op, slot) for slot in range(count)], count)
