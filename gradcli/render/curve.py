"""A series of numbers as a curve of dots, as wide as there is room.

Invariant: a column shows the mean of the numbers that fall into it, or lies on the line
between two numbers; columns are joined, so that no jump leaves a gap. Numbers that are
all above 0 and span two decades or more are shown by their logarithms, and the heading
says so.

    loss (log scale)
     5.0 ┤⠉⠢⡀
         │  ⠈⠑⠤⣀
    0.02 ┤      ⠉⠒⠒⠤⠤⣀⣀
         └─────────────
         0           40
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import log10

from .limits import MAX_CURVE_COLUMNS, MIN_CURVE_COLUMNS
from .line import Line
from .numbers import six_digits

ROWS = 8
DOTS_UP = 4
DOTS_ACROSS = 2
DECADES = 2
EMPTY = 0x2800
"""The Unicode block of dot patterns begins here; a pattern adds its bits."""

BITS = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))
"""The bit of each dot: by column, then from the lowest dot up."""


def curve(
    numbers: Sequence[float],
    name: str,
    width: int,
    ends: tuple[str, str] | None = None,
) -> Iterator[Line]:
    """The curve with its axes; at least two numbers, all finite.

    Args:
        numbers: in order, evenly spaced.
        name: what they are, for the heading.
        width: columns there are.
        ends: where the first and the last number lie, and no logarithms; None: at step
            0 and at the last step.
    """
    low, high = min(numbers), max(numbers)
    decades = low > 0 and log10(high) - log10(low) >= DECADES
    logarithmic = decades and ends is None
    heights = [log10(n) for n in numbers] if logarithmic else numbers
    marks = [six_digits(high), six_digits(low)]
    columns = room_beside(marks, width)
    scale = " (log scale)" if logarithmic else ""
    yield Line(((f"{name}{scale}", "title"),))
    picture = dotted(heights, columns, ROWS)
    yield from framed(picture, marks, ends or ("0", str(len(numbers) - 1)))


def room_beside(marks: Sequence[str], width: int) -> int:
    """The columns of a picture with these marks at its left."""
    room = width - max(map(len, marks)) - 2
    return max(MIN_CURVE_COLUMNS, min(MAX_CURVE_COLUMNS, room))


def framed(
    picture: Sequence[str], marks: Sequence[str], ends: Sequence[str]
) -> Iterator[Line]:
    """The rows of a picture between its axes.

    Args:
        picture: rows of equal length.
        marks: what stands at the first row and at the last one.
        ends: what stands below the first column and below the last one.
    """
    margin, columns = max(map(len, marks)), len(picture[0])
    for nr, row in enumerate(picture):
        mark = {0: marks[0], len(picture) - 1: marks[1]}.get(nr, "")
        tick = "┤" if mark else "│"
        yield Line(((f"{mark:>{margin}} {tick}", "dim"), (row, "number")), "")
    first, last = ends
    pad = " " * (margin + 1)
    yield Line(((f"{pad}└{'─' * columns}", "dim"),), "")
    yield Line(((f"{pad}{first}{last.rjust(columns + 1 - len(first))}", "dim"),), "")


def dotted(heights: Sequence[float], columns: int, rows: int) -> list[str]:
    """The rows of a curve from the top, each so many characters of dots."""
    levels = _levels(_means(heights, columns * DOTS_ACROSS), rows * DOTS_UP - 1)
    cells = [[EMPTY] * columns for _ in range(rows)]
    before = levels[0]
    for x, level in enumerate(levels):
        start = before + (level > before) - (level < before)
        for y in range(min(start, level), max(start, level) + 1):
            row, dot = divmod(y, DOTS_UP)
            cell, side = divmod(x, DOTS_ACROSS)
            cells[rows - 1 - row][cell] |= BITS[side][dot]
        before = level
    return ["".join(map(chr, row)).replace(chr(EMPTY), " ").rstrip() for row in cells]


def _means(heights: Sequence[float], count: int) -> list[float]:
    """So many heights: means of those that fall together, or points in between."""
    total = len(heights)
    if total < count:
        return [_between(heights, i * (total - 1) / (count - 1)) for i in range(count)]
    bounds = [i * total // count for i in range(count + 1)]
    parts = [heights[start:end] for start, end in pairwise(bounds)]
    return [sum(h / len(part) for h in part) for part in parts]


def _between(heights: Sequence[float], x: float) -> float:
    """The height at a point that may lie between two of them."""
    at = int(x)
    after = heights[min(at + 1, len(heights) - 1)]
    return heights[at] * (at + 1 - x) + after * (x - at)


def _levels(heights: Sequence[float], top: int) -> list[int]:
    """Each height as an integer from 0, the lowest, to ``top``, the highest."""
    low, high = min(heights), max(heights)
    half = (high / 2 - low / 2) or 1.0
    return [round((h / 2 - low / 2) / half * top) for h in heights]
