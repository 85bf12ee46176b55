"""Walks over a recorded graph.

Invariant: no recursion; each edge is met once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def inputs_first(roots: Iterable[Any], ends: frozenset[Any] = frozenset()) -> list[Any]:
    """The graph below ``roots`` with every edge after the edges it depends on.

    What lies below ``ends`` is left out.
    """
    order: list[Any] = []
    seen: set[Any] = set()
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
