"""Paths through a recorded graph: how many there are, which weigh most, and what a
cotangent becomes along one of them.

Invariants: counts are exact, however large. Paths come heaviest first; the weight of a
path is the product of its edges' sensitivities. Nothing is recursive, and work grows
with the graph and with the paths asked for, not with all paths. The graph keeps its
saved values.

A sensitivity is the factor by which an edge magnifies a cotangent. Among single numbers
it is the size of the local gradient, and the order of the paths is exact; of arrays it
is measured on the cotangent that arrives, and the order is an estimate.

    survey = Survey(y.edge, g.raw, [x.edge])
    survey.counts[x.edge]                    # 2
    next(survey.heaviest(x.edge))            # (0, 1): the edges to leave by
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from itertools import count
from operator import add, sub
from typing import Any, NamedTuple, TypeAlias

from ..engine import Node, Port
from ..engine.backward import materialise
from ..engine.raw import Host, Raw
from ..engine.walk import accumulate, added, among_outputs, inputs_first, sent_below
from .graph_view import raw_partials

Edge: TypeAlias = Any
Path: TypeAlias = tuple[int, ...]
"""Path through the graph: at each node on it, the number of the edge that it takes."""

Link: TypeAlias = "tuple[Link, int] | None"
"""Path to an edge as a linked list: the path to the node above, and the edge's
number."""


class Weight(NamedTuple):
    """A product's size as a sum over its factors, so that nothing overflows.

    Factors that are not finite come first, since they decide the product; zeros come
    last.
    """

    boundless: int = 0
    nonzero: int = 0
    log: float = 0.0

    @classmethod
    def of(cls, size: float) -> Weight:
        if not math.isfinite(size):
            return cls(boundless=1)
        return cls(log=math.log(size)) if size else cls(nonzero=-1)

    def times(self, other: Weight) -> Weight:
        return Weight(*map(add, self, other))

    def over(self, other: Weight) -> Weight:
        return Weight(*map(sub, self, other))


Paths: TypeAlias = tuple[int, int, Any]
"""Number of paths, the sum of their lengths, and the cotangent that came along them."""

UNCHANGED = Weight()


class Survey:
    """One pass over the graph below ``root``, from its cotangent ``g``.

    For each end, ``counts``, ``lengths`` and ``totals`` hold the number of paths to it,
    the sum of their lengths and the sum of what arrives along them; an end that no path
    leads to is in none of them. ``widest`` is the size of the largest array met.
    """

    def __init__(self, root: Edge, g: Host, ends: Iterable[Edge]) -> None:
        self.root = root
        self.counts: dict[Edge, int] = {}
        self.lengths: dict[Edge, int] = {}
        self.totals: dict[Edge, Any] = {}
        self.widest = 1
        self._order: list[Edge] = inputs_first([root])
        self._sensitivities: dict[Edge, list[Weight | None]] = {}
        self._arrays: set[Edge] = set()
        self._bests: dict[Edge, dict[Edge, Weight]] = {}

        def joined(a: Paths, b: Paths) -> Paths:
            return a[0] + b[0], a[1] + b[1], added(a[2], b[2])

        start, kept = {root: (1, 0, g)}, frozenset(ends)
        order = reversed(self._order)
        sums = accumulate(order, start, self._pull, joined, keep=kept)
        for edge in kept & sums.keys():
            self.counts[edge], self.lengths[edge], self.totals[edge] = sums[edge]

    def _pull(self, edge: Edge, arrived: Paths) -> Iterator[tuple[Edge, Paths]]:
        """Yield each edge below with the number of paths, their lengths and the
        cotangent that arrive there; keep the sensitivities of the edges."""
        paths, length, g = arrived
        if isinstance(edge, Port):
            self._sensitivities[edge] = [UNCHANGED]
            yield edge.node, (paths, length, among_outputs(edge, g))
        elif isinstance(edge, Node):
            pulled = pull(edge, g)
            self._measure(edge, g, pulled)
            for below, gi in zip(edge.edges, pulled, strict=True):
                if below is not None and gi is not None:
                    self.widest = max(self.widest, gi.size)
                    yield below, (paths, length + paths, gi)

    def _measure(self, node: Node, total: Raw, pulled: tuple[Raw | None, ...]) -> None:
        single = not isinstance(total, list) and total.size == 1
        known = raw_partials(node) if single else [None] * len(pulled)
        if single and any(p is None for p in known):
            probe = node.xp.ones_like(total)
            probed = pull(node, probe)
        else:
            probe, probed = total, pulled
        self._sensitivities[node] = [
            None
            if gi is None
            else Weight.of(largest(partial))
            if partial is not None
            else _sensitivity(probe, gi)
            for partial, gi in zip(known, probed, strict=True)
        ]
        if not single or any(gi is not None and gi.size != 1 for gi in pulled):
            self._arrays.add(node)

    def exact(self, end: Edge) -> bool:
        """Return whether every path to the end is a product of single numbers."""
        return self._arrays.isdisjoint(self._best(end).keys() - {end})

    def heaviest(self, end: Edge) -> Iterator[Path]:
        """Yield the paths to an end, heaviest first, equal ones in the graph's order.

        The best path on from each node is known, so a path is stored as the place where
        it leaves the best one and the weight that this loses; the best path loses
        exactly nothing.
        """
        best = self._best(end)
        turn = count()
        heap: list[tuple[Weight, int, int, Edge, Link]] = [
            (UNCHANGED, 0, 0, self.root, None)
        ]
        while heap and self.root in best:
            lost, depth, _, edge, link = heappop(heap)
            if edge == end:
                yield _unlinked(link)
                continue
            ways = zip(edge.edges, self._sensitivities[edge], strict=True)
            for nr, (below, sensitivity) in enumerate(ways):
                if sensitivity is not None and below in best:
                    less = best[edge].over(sensitivity.times(best[below]))
                    way = lost.times(less), depth - 1, next(turn), below, (link, nr)
                    heappush(heap, way)

    def _best(self, end: Edge) -> dict[Edge, Weight]:
        """Return, for each edge, the weight of the heaviest path from it to the end."""
        if end in self._bests:
            return self._bests[end]
        best = {end: UNCHANGED}
        for edge in self._order:
            sensitivities = self._sensitivities.get(edge)
            if sensitivities is None or edge == end:
                continue
            ways = [
                sensitivity.times(best[below])
                for below, sensitivity in zip(edge.edges, sensitivities, strict=True)
                if sensitivity is not None and below in best
            ]
            if ways:
                best[edge] = max(ways)
        self._bests = {end: best}
        return best


def pull(node: Node, g: Any) -> tuple[Any, ...]:
    """Return the cotangents of a node's edges; a list ``g`` has one per output."""
    return node.pull(materialise(node, g) if isinstance(g, list) else g)


def below(edge: Edge, g: object) -> Iterator[tuple[Edge, Any]]:
    """Yield each edge below with its cotangent when ``g`` arrives at ``edge``."""
    return sent_below(edge, g, edge.edges, lambda node, g, _: pull(node, g))


def along(root: Edge, g: object, path: Path) -> Any:
    """Return what the cotangent ``g`` of ``root`` becomes along one path alone."""
    edge = root
    for nr in path:
        g = among_outputs(edge, g) if isinstance(edge, Port) else pull(edge, g)[nr]
        edge = edge.edges[nr]
    return g


class PathStep(NamedTuple):
    """A value on a path, the node that made it, and the number of the edge taken
    there."""

    value: Edge
    node: Node
    nr: int


def met(root: Edge, path: Path) -> list[PathStep]:
    """Return the steps of a path, without its end."""
    steps: list[PathStep] = []
    edge, value = root, None
    for nr in path:
        value = edge if value is None else value
        if not isinstance(edge, Port):
            steps.append(PathStep(value, edge, nr))
            value = None
        edge = edge.edges[nr]
    return steps


def largest(raw: Any) -> float:
    """Return the largest absolute entry; 0 without entries, NaN if any is NaN."""
    if isinstance(raw, int | float):
        return abs(float(raw))
    return float(abs(raw).max()) if raw.size else 0.0


def _sensitivity(g: object, gi: object) -> Weight:
    parts = g if isinstance(g, list) else [g]
    before = max((largest(part) for part in parts if part is not None), default=0.0)
    return Weight.of(largest(gi) / (before or 1.0))


def _unlinked(link: Link) -> Path:
    path: list[int] = []
    while link is not None:
        link, nr = link
        path.append(nr)
    return tuple(reversed(path))
