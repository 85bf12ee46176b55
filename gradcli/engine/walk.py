"""Walks over a graph, and the sum over its paths.

Invariant: no recursion; each edge is met once.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from operator import add as plus
from typing import Any, TypeVar

from .node import AccumulateGrad

Key = TypeVar("Key")
Cotangent = TypeVar("Cotangent")


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


def reaches_leaf(roots: Iterable[Any], ends: frozenset[Any]) -> bool:
    """Whether a leaf lies below ``roots`` by a path around ``ends``.

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


def accumulate(
    order: Iterable[Key],
    seeds: Mapping[Key, Cotangent],
    pull: Callable[[Key, Cotangent], Iterable[tuple[Key, Cotangent]]],
    add: Callable[[Cotangent, Cotangent], Cotangent] = plus,
    keep: Container[Key] | None = None,
) -> dict[Key, Cotangent]:
    """Reverse accumulation: the sum of the cotangents that arrive at each key.

    Args:
        order: the keys, each before those that it depends on.
        seeds: the cotangents to start from.
        pull: of a key and its cotangent, what each key below receives.
        add: sums two cotangents of a key.
        keep: the keys whose sums are wanted; others are dropped once they are pulled.
            None: all.
    """
    arrived = dict(seeds)
    for key in order:
        if key not in arrived:
            continue
        g = arrived[key]
        if keep is not None and key not in keep:
            del arrived[key]
        for below, part in pull(key, g):
            arrived[below] = add(arrived[below], part) if below in arrived else part
    return arrived
