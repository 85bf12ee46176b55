"""Repetition in a graph: equal parts one behind another, as loops record them.

Invariant: a fold is a stretch of an order in which every node stands after all that it
depends on. No path leaves such a stretch and comes back to it, so each fold may be
drawn as one node, all of them at once, and the drawing has no cycle.

    runs("abcabcabcabc")        # [Run(start=0, period=3, times=4)]
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Final, NamedTuple

import numpy as np

from ..answers.graph_view import GraphView, NodeView

MIN_TIMES: Final = 4
"""Smallest number of repetitions that are folded."""

MAX_PERIOD: Final = 256
"""Largest number of nodes of a part that is looked for."""


class Repetition(NamedTuple):
    """A repetition of ``period`` things, ``times`` times from ``start`` on."""

    start: int
    period: int
    times: int


@dataclass(frozen=True, slots=True)
class Fold:
    """Equal parts of a graph: the ids of their nodes, part by part, inputs first."""

    parts: tuple[tuple[int, ...], ...]

    @property
    def count(self) -> int:
        """Number of parts."""
        return len(self.parts)

    @property
    def nodes(self) -> tuple[int, ...]:
        """All nodes of the fold."""
        return tuple(each for part in self.parts for each in part)


def folds(view: GraphView) -> tuple[Fold, ...]:
    """Return the parts that repeat below a graph's root.

    Parts are equal if their nodes have the same names and shapes and come from the same
    text. A named input belongs to a part if that part alone uses it and every other
    part has an input of its own in the same place, as layers have weights.
    """
    order = [n for n in _inputs_first(view) if not _is_separate(view.nodes[n])]
    users: dict[int, set[int]] = {}
    for node in view.nodes:
        for child, _ in node.next_functions:
            if child is not None and _is_separate(view.nodes[child]):
                users.setdefault(child, set()).add(node.id)
    found = []
    kinds = [(n.name, n.shape, n.span) for n in map(view.nodes.__getitem__, order)]
    for start, period, times in runs(kinds):
        ends = range(start, start + period * times, period)
        parts = [tuple(order[at : at + period]) for at in ends]
        own = _exclusive_inputs(view, parts, users)
        found.append(
            Fold(tuple((*more, *part) for more, part in zip(own, parts, strict=True)))
        )
    return tuple(found)


def _exclusive_inputs(
    view: GraphView,
    parts: Sequence[tuple[int, ...]],
    users: Mapping[int, set[int]],
) -> list[tuple[int, ...]]:
    """Return for each part the named inputs that it alone uses, in matching order."""
    found: list[tuple[int, ...]] = []
    met: set[int] = set()
    known = [set(part) for part in parts]
    for nodes in zip(*parts, strict=True):
        for edges in zip(*(view.nodes[n].next_functions for n in nodes), strict=False):
            inputs = tuple(child for child, _ in edges if child in users)
            alike = {view.nodes[n].shape for n in inputs}
            if len(alike) != 1 or len({*inputs} - met) < len(parts):
                continue
            if all(users[n] <= part for n, part in zip(inputs, known, strict=True)):
                found.append(inputs)
                met.update(inputs)
    return list(zip(*found, strict=True)) or [()] * len(parts)


def _is_separate(node: NodeView) -> bool:
    return node.is_leaf and node.variable is not None


def _inputs_first(view: GraphView) -> list[int]:
    """Return the ids with every node after those that it depends on and near its users,
    so that a step of a loop, or a layer, stands in one piece."""
    edges = (
        (c, n.id) for n in view.nodes for c, _ in n.next_functions if c is not None
    )
    heights = depths(len(view.nodes), edges)
    waiting = view.uses()
    order: list[int] = []
    ready = [] if view.root is None else [(0, view.root)]
    while ready:
        # Of the nodes that are ready, the one nearest to the inputs is taken, so that
        # a side branch stays next to the node that uses it.
        _, node = heappop(ready)
        order.append(node)
        for child, _ in view.nodes[node].next_functions:
            if child is not None:
                waiting[child] -= 1
                if not waiting[child]:
                    heappush(ready, (heights[child], child))
    return order[::-1]


def depths(count: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    """Return the length of the longest path to each of ``count`` nodes of a graph
    without cycles."""
    following: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for start, end in edges:
        following[start].append(end)
        waiting[end] += 1
    found = [0] * count
    ready = [n for n in range(count) if not waiting[n]]
    while ready:
        start = ready.pop()
        for end in following[start]:
            found[end] = max(found[end], found[start] + 1)
            waiting[end] -= 1
            if not waiting[end]:
                ready.append(end)
    return found


def runs(things: Sequence[Hashable]) -> list[Repetition]:
    """Return the repetitions from left to right. If several begin at one place, the
    longest is taken, and of equally long ones that with the shortest period."""
    numbers: dict[Hashable, int] = {}
    row = np.array([numbers.setdefault(t, len(numbers)) for t in things], dtype=int)
    size = len(row)
    lengths, periods = np.zeros(size, dtype=int), np.ones(size, dtype=int)
    for period in range(1, min(MAX_PERIOD, size // MIN_TIMES) + 1):
        whole = _covered(row, period)
        better = whole > lengths
        lengths[better], periods[better] = whole[better], period
    found: list[Repetition] = []
    at = 0
    while at < size:
        period = int(periods[at])
        count = int(lengths[at]) // period
        if count:
            found.append(Repetition(at, period, count))
        at += period * count or 1
    return found


def _covered(row: np.ndarray, period: int) -> np.ndarray:
    """Return for each place how many things the repetitions of the ``period`` things
    from there on cover; 0 where there are too few repetitions."""
    size = len(row)
    same = np.append(row[:-period] == row[period:], np.zeros(period, dtype=bool))
    ends = np.where(same, size, np.arange(size))
    equal = np.minimum.accumulate(ends[::-1])[::-1] - np.arange(size)
    count = (equal + period) // period
    return np.where(count >= MIN_TIMES, count * period, 0)
