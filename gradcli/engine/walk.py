"""Walks over a recorded graph of nodes.

Invariant: nothing recurses; each edge is visited once.
"""

from __future__ import annotations

import operator
from collections.abc import (
    Callable,
    Container,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any, TypeVar

from .node import AccumulateGrad, Edge, Node, Port


def inputs_first(
    roots: Iterable[object], ends: frozenset[object] = frozenset()
) -> list[Any]:
    """Return the graph below ``roots`` with every edge after the edges it depends on.

    Edges below ``ends`` are left out.
    """
    order: dict[object, None] = {}
    seen: set[object] = set()
    stack: list[Any] = [*roots]
    while stack:
        edge = stack[-1]
        if edge in seen:
            order[stack.pop()] = None
            continue
        seen.add(edge)
        if edge not in ends:
            stack += [e for e in edge.edges if e is not None and e not in seen]
    return list(order)


def between(roots: Iterable[object], ends: Container[object]) -> list[Any]:
    """Return the edges on paths from ``roots`` to ``ends``, each after its inputs."""
    needed: dict[object, None] = {}
    for edge in inputs_first(roots):
        if edge in ends or not needed.keys().isdisjoint(edge.edges):
            needed[edge] = None
    return list(needed)


def reaches_leaf(roots: Iterable[Any], ends: frozenset[object]) -> bool:
    """Return whether a leaf lies below ``roots`` by a path around ``ends``.

    A leaf that served a finished computation and was given up does not count.
    """
    below = inputs_first([r for r in roots if r is not None], ends)
    leaves = [e for e in below if isinstance(e, AccumulateGrad) and e not in ends]
    return not all(leaf.given_up for leaf in leaves)


def reaches(roots: Iterable[Any], ends: frozenset[object]) -> bool:
    """Return whether one of ``ends`` lies below ``roots``, or is one of them."""
    return not ends.isdisjoint(inputs_first([r for r in roots if r is not None], ends))


Vertex = TypeVar("Vertex", bound=Hashable)

Sent = TypeVar("Sent")
"""A cotangent: a number, an array, or a list of several."""


Pull = Callable[[Node, Any, list[Edge]], Sequence[Any]]


def accumulate(
    order: Iterable[Vertex],
    seeds: Mapping[Vertex, Sent],
    pull: Callable[[Vertex, Sent], Iterable[tuple[Vertex, Sent]]],
    add: Callable[[Sent, Sent], Sent] = operator.add,
    keep: Container[Vertex] | None = None,
) -> dict[Vertex, Sent]:
    """Return the cotangent of every node that a reverse pass reaches.

    Args:
        order: the nodes, each after all that send to it.
        seeds: the cotangents to begin with.
        pull: a function from a node and its cotangent to pairs of a node that it sends
            to and the cotangent that it sends.
        add: a function that adds two cotangents.
        keep: the nodes whose cotangents are wanted; the others' are dropped once they
            are pulled. None: all.
    """
    arrived = dict(seeds)
    for node in order:
        g = arrived.get(node)
        if g is None:
            continue
        if keep is not None and node not in keep:
            del arrived[node]
        for target, part in pull(node, g):
            known = arrived.get(target)
            arrived[target] = part if known is None else add(known, part)
    return arrived


def sent_below(
    edge: Edge, g: Any, needed: Container[Edge], pull: Pull
) -> Iterator[tuple[Edge, Any]]:
    """Yield each needed edge below with its cotangent when ``g`` arrives at ``edge``.

    Args:
        edge: a node, the port of one of its outputs, or a leaf.
        g: a cotangent; at a node of several outputs, a list with one or None for each.
        needed: the edges that a cotangent is wanted for.
        pull: a function from a node, ``g`` and the node's edges, None for one that is
            not needed, to their cotangents; None for one that nothing is sent to.
    """
    if isinstance(edge, Port):
        yield edge.node, among_outputs(edge, g)
    elif isinstance(edge, Node):
        wanted = [e if e in needed else None for e in edge.edges]
        pairs = zip(wanted, pull(edge, g, wanted), strict=True)
        yield from ((e, gi) for e, gi in pairs if e is not None and gi is not None)


def among_outputs(port: Port, g: Any) -> list[Any]:
    """Return a list with ``g`` for the port's output, None for its node's others."""
    return [g if k == port.nr else None for k in range(len(port.node.y_shapes()))]


def added(a: Any, b: Any) -> Any:
    """Return the sum of two cotangents, or of two lists with one or None per output."""
    if not isinstance(a, list):
        return a + b
    return [
        y if x is None else x if y is None else x + y for x, y in zip(a, b, strict=True)
    ]
