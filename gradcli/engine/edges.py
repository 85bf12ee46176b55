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
from .errors import GradError
from .namespace import Namespace
from .node import AccumulateGrad, ConstantNode, Edge, Node, Port, Shaped, output_at
from .raw import Raw
from .tensor import Tensor


class GradientEdge(NamedTuple):
    """A place that a gradient goes to, in place of a tensor: an output of a node.

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
        return _zeros(target.xp, target.raw, tuple(target.shape))
    if target.ownership_token is not None:
        found: Tensor = target.ownership_token
        return found
    # Nodes that keep no output are passed on the way down, and run on the way up.
    edge, passed = edge_of(target), []
    while (raw := _kept(*output_at(edge))) is None:
        node, nr = output_at(edge)
        passed.append((node, nr))
        edge = next(e for e in node.edges if e is not None)
    made = _zeros(output_at(edge)[0].xp, raw, raw.shape)
    for node, nr in reversed(passed):
        made = _output_like(node, nr, made)
    return made


def _zeros(xp: Namespace, kind: Raw, shape: tuple[int, ...]) -> Tensor:
    return Tensor(xp.expand(xp.new_full(kind, (), 0), shape), xp)


def _kept(node: Any, nr: int) -> Any:
    """Return an array like a node's output if the node keeps one, else None."""
    if isinstance(node, AccumulateGrad):
        return node.raw
    if isinstance(node, CustomNode):
        return node.output_like(nr).raw
    y = None if isinstance(node, ConstantNode) else node.restored()[1]
    y = y[nr] if isinstance(y, tuple) else y
    return y if hasattr(y, "dtype") else None


def _output_like(node: Node, nr: int, x: Tensor) -> Tensor:
    """Return a tensor like an output of a node, from one like an input of the node."""
    if isinstance(node, ConstantNode):
        shapes = [s for s in node.shapes or () if s is not None] or [x.raw.shape]
        return _zeros(node.xp, x.raw, broadcast_shape(*shapes))
    raw, y = node.restored()
    if isinstance(y, tuple):
        return _zeros(node.xp, x.raw, y[nr].shape)
    given = [
        _zeros(node.xp, x.raw, r.shape).raw if isinstance(r, Shaped) else r for r in raw
    ]
    out = node.op.fwd(node.xp, *given, **node.params)
    return _zeros(node.xp, out, out.shape)
