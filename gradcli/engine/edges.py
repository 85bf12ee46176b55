"""Edges of the graph as stand-ins for the tensors that were made there.

Invariant: every function that takes a tensor as the root or the target of a pass also
takes a `GradientEdge` in its place; the tensor's shape and type are then found in the
graph.

    edge = get_gradient_edge(y)          # y itself may be let go of
    grad(edge, x)
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from ..ops.checks import broadcast_shape
from .custom import CustomNode
from .errors import FREED as FREED_MESSAGE
from .errors import GradError
from .namespace import Namespace
from .node import (
    FREED,
    AccumulateGrad,
    ConstantNode,
    Edge,
    Node,
    Packed,
    Port,
    Shaped,
    output_at,
)
from .tensor import Tensor


class GradientEdge(NamedTuple):
    """A place that a gradient goes to: output ``output_nr`` of ``node``.

    ``ownership_token`` is a tensor of the output's shape and type; it may be left out.
    """

    node: Any
    output_nr: int
    ownership_token: Any = None


Target: TypeAlias = "Tensor | GradientEdge"


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Return the edge of a tensor, which `grad` and `backward` take in its place.

    Raises:
        GradError: the tensor requires no gradient.
    """
    edge = tensor.edge
    if edge is None:
        raise GradError(
            "It is not possible to get the gradient edge for a Tensor that does not "
            "require gradients"
        )
    return GradientEdge(*output_at(edge), like_of(tensor))


def edge_of(target: Target) -> Edge:
    """Return the edge of a tensor, or the edge that a `GradientEdge` names."""
    if isinstance(target, Tensor):
        return target.edge
    node = target.node
    return Port(node, target.output_nr) if node.several else node


def like_of(target: Target) -> Tensor:
    """Return a tensor of the target's shape and type, without memory of its own."""
    if isinstance(target, Tensor):
        return _spread(target.xp, target.raw, tuple(target.shape))
    if target.ownership_token is not None:
        found: Tensor = target.ownership_token
        return found
    return _made_at(edge_of(target))


def _spread(xp: Namespace, kind: object, shape: tuple[int, ...]) -> Tensor:
    return Tensor(xp.expand(xp.new_full(kind, (), 0), shape), xp)


def _made_at(edge: Edge) -> Tensor:
    """Return a tensor of the shape and type of the output at an edge.

    Nodes that do not keep their output are collected downward until one does; the
    outputs' shapes and types are then derived upward through them.
    """
    passed = []
    found = _kept(edge)
    while found is None:
        node, nr = output_at(edge)
        passed.append((node, nr))
        edge = next(e for e in node.edges if e is not None)
        found = _kept(edge)
    for node, nr in reversed(passed):
        found = _output(node, nr, found)
    return found


def _kept(edge: Edge) -> Tensor | None:
    """Return a tensor like the output at an edge if its node keeps it, else None."""
    node, nr = output_at(edge)
    if isinstance(node, AccumulateGrad):
        return _spread(node.xp, node.raw, node.raw.shape)
    if isinstance(node, CustomNode):
        return node.output_like(nr)
    if isinstance(node, ConstantNode):
        return None
    y = node.y
    if isinstance(y, Packed):
        y = y.unpack()[1]
    elif node.saved is FREED:
        raise GradError(FREED_MESSAGE)
    y = y[nr] if isinstance(y, tuple) else y
    return _spread(node.xp, y, y.shape) if hasattr(y, "dtype") else None


def _output(node: Node, nr: int, x: Tensor) -> Tensor:
    """Return a tensor like an output of a node, from one like an input of the node."""
    xp = node.xp
    if isinstance(node, ConstantNode):
        shapes = [s for s in node.shapes or () if s is not None]
        return _spread(xp, x.raw, broadcast_shape(*shapes) if shapes else x.raw.shape)
    raw, y = node.restored()
    if isinstance(y, tuple):
        return _spread(xp, x.raw, y[nr].shape)
    full = [
        _spread(xp, x.raw, r.shape).raw if isinstance(r, Shaped) else r for r in raw
    ]
    out = node.op.fwd(xp, *full, **node.params)
    return _spread(xp, out, out.shape)
