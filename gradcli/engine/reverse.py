"""The one reverse accumulation: cotangents sent from outputs to what they are made of.

Invariant: a node's cotangent is complete when the node is reached, because every node
stands in ``order`` after all that send to it; each is pulled once.

    accumulate([y, x], {y: 1.0}, lambda node, g: [(x, 2.0 * g)] if node == y else ())
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Hashable, Iterable, Mapping
from typing import Any, TypeVar

from ..ops.types import Array

Node = TypeVar("Node", bound=Hashable)

Sent = TypeVar("Sent")
"""A cotangent: a number, an array, a list of several."""


def accumulate(
    order: Iterable[Node],
    seeds: Mapping[Node, Sent],
    pull: Callable[[Node, Sent], Iterable[tuple[Node, Sent]]],
    add: Callable[[Sent, Sent], Sent] = operator.add,
    keep: Container[Node] | None = None,
) -> dict[Node, Sent]:
    """Return the cotangent of every node that the pass arrives at.

    Args:
        order: the nodes, each after all that send to it.
        seeds: the cotangents to begin with.
        pull: a node and its cotangent, to the nodes that it sends to and what it sends.
        add: the sum of two cotangents.
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


def among_outputs(nr: int, count: int, g: Array) -> list[Array | None]:
    """Return output ``nr``'s cotangent among ``count``; None for the others."""
    return [g if k == nr else None for k in range(count)]


def added(a: Any, b: Any) -> Any:
    """Return the sum of two cotangents; lists hold one of each output or None."""
    if not isinstance(a, list):
        return a + b
    return [
        y if x is None else x if y is None else x + y for x, y in zip(a, b, strict=True)
    ]
