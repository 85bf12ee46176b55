"""Walks over a recorded graph.

Invariant: no recursion; each edge is met once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .node import AccumulateGrad


def inputs_first(
    roots: Iterable[object], ends: frozenset[object] = frozenset()
) -> list[Any]:
    """Return the graph below ``roots`` with every edge after the edges it depends on.

    What lies below ``ends`` is left out.
    """
    order = []
    seen: set[object] = set()
    stack: list[tuple[Any, bool]] = [(root, False) for root in roots]
    while stack:
        edge, expanded = stack.pop()
        if expanded:
            order.append(edge)
            continue
        if edge in seen:
            continue
        seen.add(edge)
        stack.append((edge, True))
        if edge in ends:
            continue
        stack.extend((e, False) for e in edge.edges if e is not None and e not in seen)
    return order


def reaches_leaf(roots: Iterable[Any], ends: frozenset[object]) -> bool:
    """Return whether a leaf lies below ``roots`` by a path around ``ends``.

    A leaf that served a finished computation and was given up does not count.
    """
    stack = [root for root in roots if root is not None and root not in ends]
    seen = set(stack)
    while stack:
        edge = stack.pop()
        if isinstance(edge, AccumulateGrad) and not edge.given_up:
            return True
        for e in edge.edges:
            if e is not None and e not in seen and e not in ends:
                seen.add(e)
                stack.append(e)
    return False


def reaches(roots: Iterable[Any], ends: frozenset[object]) -> bool:
    """Return whether one of ``ends`` lies below ``roots``, or is one of them."""
    return not ends.isdisjoint(inputs_first([r for r in roots if r is not None], ends))
