"""Places of boxes: layers from top to bottom, with room for every label and line.

Inside a layer things stand in the order in which lines lead to them; rows are reordered
as long as fewer lines cross afterwards. The positions are those at which lines are as
straight as they can be without overlaps.

Invariant: boxes of a layer do not overlap. Every line goes from one layer to the next:
one that spans several has a bend in each, and a place for its label.

    placed = place(sizes, lines)
    placed.boxes[0], placed.bends[0]    # (x, y) of a middle; points of a line
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Final, NamedTuple

from .folds import depths

BOX_GAP: Final = 26.0
"""Distance between two boxes, in units of the picture."""

BEND_GAP: Final = 14.0
"""Distance between a line's bend and its neighbours, in units of the picture."""

LAYER_GAP: Final = 20.0
"""Distance between two layers, in which lines bend, in units of the picture."""

LABEL_HEIGHT: Final = 18.0

MAX_BENDS: Final = 6000
"""Largest number of bends of all lines; if there are more, the longest lines are cut
off after their labels, which then say where they lead."""

SWEEPS: Final = 10
"""Number of times that the order of the rows is improved."""

ROUNDS: Final = 12
"""Number of times that positions are improved."""

UPRIGHT: Final = 0.08
"""Pull of the middle on each position, so that long pictures do not lean to a side."""

STRAIGHT: Final = 8.0
"""Pull between two bends of a line, relative to that between a bend and a box."""

ASIDE: Final = 0.1
"""Pull of a box on a line through several layers, relative to a line to the next
layer."""

FIRM: Final = 200.0
"""Weight of a box's position, relative to that of a line that passes the box."""

UNBENT: Final = 3
"""Number of times that lines are straightened; one may make room for another."""

PORT_GAP: Final = 12.0
"""Largest distance between two lines' ends at a box, in units of the picture."""


class Connector(NamedTuple):
    """A line from one box to another, with the width of its label, and of the label
    that it has if it is cut off."""

    start: int
    end: int
    label: float
    hint: float = 0.0


class PicturePoint(NamedTuple):
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Placed:
    """Places of the boxes, and the lines between them.

    boxes   the middle of each box
    bends   the points of each line, from the start's edge to the end's, two for each
            layer that it goes through; a cut line ends at its label
    labels  the middle of each line's label
    """

    boxes: list[PicturePoint]
    bends: list[list[PicturePoint]]
    labels: list[PicturePoint]
    width: float
    height: float


def place(sizes: Sequence[tuple[float, float]], lines: Sequence[Connector]) -> Placed:
    """Return places for boxes of these widths and heights, joined by lines without
    cycles."""
    if not sizes:
        return Placed([], [], [], 0.0, 0.0)
    layers = depths(len(sizes), ((line.start, line.end) for line in lines))
    grid = _Grid(sizes, lines, layers)
    grid.order()
    grid.settle()
    grid.straighten()
    return grid.placed()


def _uncut_lines(layers: Sequence[int], lines: Sequence[Connector]) -> set[int]:
    """Return the numbers of the lines that are not cut off: all, or the shortest if all
    together have too many bends."""
    spans = [layers[line.end] - layers[line.start] for line in lines]
    room, kept = MAX_BENDS + 2 * len(lines), set[int]()
    for nr in sorted(range(len(lines)), key=spans.__getitem__):
        room -= 2 * spans[nr]
        if room < 0:
            break
        kept.add(nr)
    return kept


class _Grid:
    """Boxes, labels and bends in layers; boxes stand in the even layers, and come
    before all other things in each list."""

    def __init__(
        self,
        sizes: Sequence[tuple[float, float]],
        lines: Sequence[Connector],
        layers: Sequence[int],
    ) -> None:
        self._sizes, self._lines = sizes, lines
        self._layer = [2 * layer for layer in layers]
        self._width = [width + BOX_GAP for width, _ in sizes]
        self._real = len(sizes)
        self._count = max(self._layer) + 1
        self._links: list[tuple[int, int]] = []
        kept = _uncut_lines(layers, lines)
        self._chains = [self._chain(line, n in kept) for n, line in enumerate(lines)]
        self._long = [chain for chain in self._chains if len(chain) > 1]
        self._far = {thing for chain in self._long for thing in chain}
        self._rows: list[list[int]] = []
        self._x = [0.0] * len(self._layer)
        self._rank = [0] * len(self._layer)
        self._above: list[list[int]] = [[] for _ in self._layer]
        self._below: list[list[int]] = [[] for _ in self._layer]
        for a, b in self._links:
            self._below[a].append(b)
            self._above[b].append(a)

    def _chain(self, line: Connector, whole: bool) -> list[int]:
        """Add a line's label and bends to their layers, and return them in order."""
        first, last = self._layer[line.start] + 1, self._layer[line.end]
        chain = []
        for layer in range(first, last if whole else first + 1):
            label = line.label if whole else line.hint
            chain.append(len(self._layer))
            self._layer.append(layer)
            self._width.append(BEND_GAP + (label if layer == first else 0))
        path = [line.start, *chain, *([line.end] if whole else [])]
        self._links.extend(pairwise(path))
        return chain

    def order(self) -> None:
        """Fill the rows in the order in which lines leave their boxes; reorder them
        where lines cross."""
        across = self._as_written()
        self._rows = [[] for _ in range(self._count)]
        for thing in sorted(range(len(self._layer)), key=across.__getitem__):
            self._rows[self._layer[thing]].append(thing)
        if self._crossings():
            self._untangle()

    def _as_written(self) -> list[float]:
        """Return the numbers from left to right in which things are first met on the
        way down each line in turn."""
        places = [-1.0] * len(self._layer)
        stack = [n for n in range(self._real) if not self._above[n]][::-1]
        met = 0
        while stack:
            thing = stack.pop()
            if places[thing] < 0:
                places[thing] = met
                met += 1
                stack.extend(reversed(self._below[thing]))
        return places

    def _untangle(self) -> None:
        """Reorder the rows as long as fewer lines cross afterwards."""
        best, fewest = [list(row) for row in self._rows], self._crossings()
        for turn in range(SWEEPS):
            if not fewest:
                break
            near = self._above if turn % 2 else self._below
            for row in self._rows if turn % 2 else self._rows[::-1]:
                self._sort(row, near)
            self._swap()
            count = self._crossings()
            if count < fewest:
                best, fewest = [list(row) for row in self._rows], count
        self._rows = best

    def _count_places(self) -> None:
        """Set the place of each thing in its row."""
        for row in self._rows:
            for at, thing in enumerate(row):
                self._rank[thing] = at

    def _sort(self, row: list[int], near: Sequence[Sequence[int]]) -> None:
        """Order a row by the mean places of the things that each thing is joined to."""
        means: dict[int, float] = {}
        for at, thing in enumerate(row):
            places = [self._rank[other] for other in near[thing]]
            means[thing] = sum(places) / len(places) if places else at
        row.sort(key=means.__getitem__)
        for at, thing in enumerate(row):
            self._rank[thing] = at

    def _swap(self) -> None:
        """Exchange neighbours in a row where fewer lines cross afterwards."""
        rank = self._rank
        for row in self._rows:
            for at in range(len(row) - 1):
                a, b = row[at], row[at + 1]
                gain = sum(
                    (rank[p] > rank[q]) - (rank[p] < rank[q])
                    for near in (self._above, self._below)
                    for p in near[a]
                    for q in near[b]
                )
                if gain > 0:
                    row[at], row[at + 1] = b, a
                    rank[a], rank[b] = at + 1, at

    def _crossings(self) -> int:
        """Return the number of pairs of lines that cross; update all places."""
        self._count_places()
        count = 0
        for row in self._rows:
            met: list[int] = []
            for thing in row:
                ends = sorted(self._rank[n] for n in self._below[thing])
                for end in ends:
                    count += len(met) - bisect_right(met, end)
                for end in ends:
                    insort(met, end)
        return count

    def settle(self) -> None:
        """Set the position of each thing: near those that it is joined to, beside its
        neighbours in the row."""
        self._count_places()
        for row in self._rows:
            self._spread(row, [(0.0, 1.0)] * len(row))
        for turn in range(ROUNDS):
            downwards = turn % 2 == 0
            for row in self._rows if downwards else self._rows[::-1]:
                self._spread(row, [self._wish(thing, downwards) for thing in row])

    def _wish(self, thing: int, downwards: bool) -> tuple[float, float]:
        """Return the best position of a thing, and the weight of that wish."""
        above, below = self._above[thing], self._below[thing]
        near = (above or below) if downwards else (below or above)
        firm = 1.0 if thing in self._far else FIRM
        pulls = [self._pull(thing, other) for other in near]
        total = sum(pulls)
        if not total:
            return self._x[thing], firm * 0.1
        leaning = sum(self._x[n] * p for n, p in zip(near, pulls, strict=True)) / total
        return leaning * (1 - UPRIGHT), firm * total

    def _pull(self, thing: int, other: int) -> float:
        """Return the pull of one thing on another. Boxes stand above each other; lines
        through many layers find their own way."""
        if min(thing, other) >= self._real:
            return STRAIGHT
        return ASIDE if thing < self._real and other in self._far else 1.0

    def _spread(self, row: list[int], wishes: list[tuple[float, float]]) -> None:
        """Move a row's things as near to their wishes as their order and widths allow,
        by an isotonic regression of the wishes less the widths."""
        offsets = [0.0]
        for left, right in pairwise(row):
            offsets.append(offsets[-1] + (self._width[left] + self._width[right]) / 2)
        pairs = zip(wishes, offsets, strict=False)
        places = risen([(wish - at, weight) for (wish, weight), at in pairs])
        for thing, place_, offset in zip(row, places, offsets, strict=False):
            self._x[thing] = place_ + offset

    def straighten(self) -> None:
        """Straighten each line as far as there is room for it; the outer lines come
        first, because they make room for the others."""
        for _ in range(UNBENT):
            # The distance from the middle at which a line runs is the key.
            aside = lambda chain: abs(sum(self._x[n] for n in chain)) / len(chain)
            self._long.sort(key=aside, reverse=True)
            for chain in self._long:
                self._unbend(chain)

    def _unbend(self, chain: Sequence[int]) -> None:
        """Align the bends of a line vertically in as few stretches as its neighbours
        allow."""
        stretch: list[int] = []
        low, high = -inf, inf
        for thing in chain:
            left, right = self._room(thing)
            if max(low, left) > min(high, right):
                self._align(stretch, low, high)
                stretch, low, high = [], -inf, inf
            stretch.append(thing)
            low, high = max(low, left), min(high, right)
        self._align(stretch, low, high)

    def _align(self, stretch: Sequence[int], low: float, high: float) -> None:
        mean = sum(self._x[thing] for thing in stretch) / len(stretch)
        for thing in stretch:
            self._x[thing] = min(max(mean, low), high)

    def _room(self, thing: int) -> tuple[float, float]:
        """Return the least and the greatest ``x`` of a thing between its neighbours."""
        row, at = self._rows[self._layer[thing]], self._rank[thing]
        ends = [-inf, inf]
        for nr, (beside, sign) in enumerate(((at - 1, 1), (at + 1, -1))):
            if 0 <= beside < len(row):
                other = row[beside]
                room = (self._width[other] + self._width[thing]) / 2
                ends[nr] = self._x[other] + sign * room
        return min(ends[0], self._x[thing]), max(ends[1], self._x[thing])

    def placed(self) -> Placed:
        """Return the places, with the upper left corner at 0, 0."""
        tops, heights, top = [], [], 0.0
        for nr, row in enumerate(self._rows):
            real = [self._sizes[n][1] for n in row if n < self._real]
            heights.append(max(real, default=LABEL_HEIGHT if nr % 2 else 0.0))
            tops.append(top)
            top += heights[-1] + LAYER_GAP
        left = min(x - w / 2 for x, w in zip(self._x, self._width, strict=True))
        right = max(x + w / 2 for x, w in zip(self._x, self._width, strict=True))
        self._x = [x - left for x in self._x]
        middle = [top + h / 2 for top, h in zip(tops, heights, strict=True)]
        boxes = [
            PicturePoint(self._x[n], middle[self._layer[n]]) for n in range(self._real)
        ]
        leaving, arriving = self._ports(0), self._ports(1)
        bends: list[list[PicturePoint]] = []
        labels = []
        for nr, (line, chain) in enumerate(zip(self._lines, self._chains, strict=True)):
            labels.append(
                PicturePoint(self._x[chain[0]], middle[self._layer[chain[0]]])
            )
            start, end = boxes[line.start], boxes[line.end]
            below = start.y + self._sizes[line.start][1] / 2
            points = [PicturePoint(start.x + leaving[nr], below)]
            for thing in chain:
                x, layer = self._x[thing], self._layer[thing]
                points += (
                    PicturePoint(x, tops[layer]),
                    PicturePoint(x, tops[layer] + heights[layer]),
                )
            if self._layer[chain[-1]] + 1 == self._layer[line.end]:
                above = end.y - self._sizes[line.end][1] / 2
                points.append(PicturePoint(end.x + arriving[nr], above))
            bends.append(points)
        return Placed(boxes, bends, labels, right - left, tops[-1] + heights[-1])

    def _ports(self, side: int) -> list[float]:
        """Return the offset from its box's middle at which each line leaves (side 0) or
        arrives (side 1)."""
        ports = [0.0] * len(self._lines)
        by_box: dict[int, list[int]] = {}
        for nr, (start, end, *_) in enumerate(self._lines):
            by_box.setdefault(end if side else start, []).append(nr)
        for box, own in by_box.items():
            met = {nr: self._x[self._chains[nr][-side]] for nr in own}
            wishes = sorted((x - self._x[box], nr) for nr, x in met.items())
            # The corners are round, so lines end on the straight part between them.
            straight = max(0.0, self._sizes[box][0] - self._sizes[box][1])
            step = min(PORT_GAP, straight / max(1, len(own) - 1))
            places = risen([(x - nr * step, 1.0) for nr, (x, _) in enumerate(wishes)])
            last = straight / 2 - step * (len(own) - 1)
            for at, (place_, (_, nr)) in enumerate(zip(places, wishes, strict=True)):
                ports[nr] = min(max(place_, -straight / 2), last) + at * step
        return ports


def risen(wishes: Sequence[tuple[float, float]]) -> list[float]:
    """Return the numbers nearest to the wishes, by their weights, that never fall."""
    blocks: list[tuple[float, float, int]] = []
    for wish, weight in wishes:
        mean, total, count = wish, weight, 1
        while blocks and blocks[-1][0] > mean:
            other, heavy, many = blocks.pop()
            mean = (mean * total + other * heavy) / (total + heavy)
            total, count = total + heavy, count + many
        blocks.append((mean, total, count))
    return [mean for mean, _, count in blocks for _ in range(count)]
