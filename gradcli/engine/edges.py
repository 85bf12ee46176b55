"""Edges of the graph that stand for the tensors that were made there.

Invariant: whoever takes a tensor as the root or the target of a pass takes a
`GradientEdge` in its place; what has to be known of the tensor, its shape and its type,
is found in the graph.

    edge = get_gradient_edge(y)          # y itself may be let go of
    grad(edge, x)
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from .errors import FREED as FREED_MESSAGE
from .errors import GradError
from .handmade import Handmade
from .node import FREED, AccumulateGrad, ConstantNode, Edge, Node, Packed, Port
from .tensor import Tensor


class GradientEdge(NamedTuple):
    """Where a gradient goes: output ``output_nr`` of ``node``.

    ``ownership_token`` is what an edge holds beside its node; nobody has to give it.
    """

    node: Any
    output_nr: int
    ownership_token: Any = None


Target: TypeAlias = "Tensor | GradientEdge"


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge of a tensor, which `grad` and `backward` take in its place.

    Raises:
        GradError: the tensor requires no gradient.
    """
    edge = tensor.edge
    if edge is None:
        raise GradError(
            "It is not possible to get the gradient edge for a Tensor that does not "
            "require gradients"
        )
    token = like_of(tensor)
    if isinstance(edge, Port):
        return GradientEdge(edge.node, edge.nr, token)
    return GradientEdge(edge, 0, token)


def edge_of(target: Target) -> Edge:
    """The edge of a tensor, or the one that stands in its place."""
    if isinstance(target, Tensor):
        return target.edge
    node: Any = target.node
    return Port(node, target.output_nr) if node.several else node


def like_of(target: Target) -> Tensor:
    """A tensor of the target's shape and type; no memory of its own if it was none."""
    if isinstance(target, Tensor):
        return _spread(target.xp, target.raw, tuple(target.shape))
    if target.ownership_token is not None:
        found: Tensor = target.ownership_token
        return found
    return _made_at(edge_of(target))


def _spread(xp: Any, kind: Any, shape: tuple[int, ...]) -> Tensor:
    return Tensor(xp.expand(xp.new_full(kind, (), 0), shape), xp)


def _made_at(edge: Edge) -> Tensor:
    """What was made at an edge, from what the graph keeps of it.

    A node that keeps nothing of its output says how it follows from its input; these
    are collected on the way down, and asked on the way up.
    """
    passed: list[Any] = []
    found = _kept(edge)
    while found is None:
        node: Any = edge
        passed.append(node)
        edge = next(e for e in node.edges if e is not None)
        found = _kept(edge)
    for node in reversed(passed):
        found = _output(node, found)
    return found


def _kept(edge: Any) -> Tensor | None:
    """The output at an edge, if its node keeps it; None if only its inputs tell."""
    node, nr = (edge.node, edge.nr) if isinstance(edge, Port) else (edge, 0)
    if isinstance(node, AccumulateGrad):
        return _spread(node.xp, node.raw, node.raw.shape)
    if isinstance(node, Handmade):
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


def _output(node: Node, x: Tensor) -> Tensor:
    """The output of a node that keeps shapes alone, given one of its inputs."""
    xp = node.xp
    if isinstance(node, ConstantNode):
        shapes = [s for s in node.shapes or () if s is not None]
        ones = [xp.expand(x.raw.reshape(-1)[:1].sum(), s) for s in shapes]
        total = sum(ones[1:], ones[0]) if ones else x.raw
        return _spread(xp, x.raw, total.shape)
    zero = xp.new_full(x.raw, (), 0)
    raw, _ = node.restored()
    full = [
        xp.expand(zero, r.shape)
        if hasattr(r, "shape") and not hasattr(r, "dtype")
        else r
        for r in raw
    ]
    y = node.op.fwd(xp, *full, **node.params)
    return _spread(xp, y, y.shape)
