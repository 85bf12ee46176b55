"""Checks that the values which nodes saved are unchanged.

Invariant: only values that the reverse rules read count as saved.
"""

from __future__ import annotations

from collections.abc import Callable

from . import dtypes
from .errors import GradError
from .node import (
    FREED,
    Edge,
    Node,
    Port,
    carried,
    input_edges,
    output_at,
    used_parts,
)
from .raw import Raw
from .rules import Parts
from .versions import in_place_output, moved, version, version_at

CHANGED = (
    "one of the variables needed for gradient computation has been modified by an "
    "inplace operation: [{what}]{made} is at version {now}; expected version {then} "
    "instead. Hint: enable anomaly detection to find the operation that failed to "
    "compute its gradient, with torch.autograd.set_detect_anomaly(True, "
    "check_nan=False)."
)


def demand_unchanged(
    node: Node, parts_of: Callable[[Node], Parts] = used_parts
) -> None:
    """Raise an error if a value that a node saved was changed in place since.

    Args:
        parts_of: a function from the node to the values that are going to be read.
    """
    if node.saved is FREED or (node.y is None and node.saved is None):
        return
    parts = parts_of(node)
    raw, y = node.restored()
    for value in node.params.values():
        for part in value if isinstance(value, tuple) else (value,):
            _demand(part, node.born, None)
    edges = input_edges(node)
    for slot in parts.inputs:
        _demand(raw[slot], node.born, edges.get(slot), True)
    now = tuple([moved(x, edges.get(slot)) for slot, x in enumerate(raw)])
    if any(a is not b for a, b in zip(raw, now, strict=True)):
        node.saved = now
    wrote = getattr(node, "wrote", node.born)
    for nr, part in enumerate(y if isinstance(y, tuple) else (y,)):
        if parts.reads(nr):
            _demand(part, wrote, edge_of_output(node, nr))


def _demand(raw: Raw, born: int, edge: Edge, is_input: bool = False) -> None:
    if hasattr(raw, "dtype"):
        demand_version(raw, version_at(raw, born), edge, is_input)


def demand_version(raw: Raw, then: int, edge: Edge, is_input: bool = False) -> None:
    """Raise an error if the memory of a saved value has another version than ``then``.

    Args:
        edge: the edge of the tensor when it was saved.
        is_input: whether the tensor may have been given another edge since, which is
            then named.
    """
    now = version(raw)
    if now != then:
        what = f"torch.{dtypes.of(raw).legacy}Tensor {list(raw.shape)}"
        words = in_place_output(raw) if is_input else None
        node, nr = output_at(edge)
        if words is None and isinstance(node, Node):
            words = f"output {nr} of {node.operation()}"
        made = "" if words is None else f", which is {words},"
        raise GradError(CHANGED.format(what=what, made=made, now=now, then=then))


def edge_of_output(node: Node, nr: int) -> Edge:
    """Return the edge of a node's output; None if no gradient comes from there."""
    if node.op.returns == 1:
        return node
    _, y = node.restored()
    return Port(node, nr) if y is None or nr < carried(node.op, y) else None
