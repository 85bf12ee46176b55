"""Numbers and arrays as text.

Invariant: a number is written so that reading it back gives the same number, and an
array as nested lists that the language reads back. Only where a layout says how much
room there is are digits dropped, then entries left out (marked `…`), and `Drawn` says
so.

    number(3.0)                                  # "3.0"
    inline([[1.0, float("nan")], [0.0, 2.0]])    # "[[1.0, nan], [0.0, 2.0]]"
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..views.numbers import Entries, Plain, Shown, sizes
from .line import Layout

ELLIPSIS = "…"
ROW_ENTRIES = 4
"""How many times more entries than rows a single row may have before it is cut."""


class Drawn(NamedTuple):
    """An array as lines; ``shortened``: digits or entries are missing."""

    lines: list[str]
    shortened: bool


def number(value: float) -> str:
    """A number by shortest round trip."""
    return repr(float(value))


def six_digits(value: float) -> str:
    """A number by six significant digits."""
    return f"{value:.6g}"


def inline(value: Shown, text: Callable[[float], str] = number) -> str:
    """Nested lists on one line, nothing left out."""
    if isinstance(value, Entries):
        value = value.listed()
    if not isinstance(value, list):
        return text(value)
    return "[" + ", ".join([inline(entry, text) for entry in value]) + "]"


def draw(value: Plain, layout: Layout) -> Drawn:
    """An array over several lines, its columns aligned."""
    if not isinstance(value, list):
        return Drawn([number(value)], False)
    depth = len(sizes(value))
    kept, cut = _keep(value, depth, layout.rows)
    for text, dropped in ((number, False), (six_digits, True)):
        texts = _texts(kept, depth, text)
        width = max((len(leaf) for leaf in _leaves(texts, depth)), default=0)
        lines = _block(texts, depth, width, None)
        if layout.width is None or max(map(len, lines)) <= layout.width:
            return Drawn(lines, cut or dropped)
    return Drawn(_block(texts, depth, width, layout.width), True)


def room_in(depth: int, rows: int) -> list[int]:
    """How many entries of each dimension are kept where rows are bounded."""
    return [rows] * (depth - 1) + [rows * ROW_ENTRIES]


def _keep(value: list[Any], depth: int, rows: int | None) -> tuple[list[Any], bool]:
    """The entries to show: the middle goes where there are too many."""
    if rows is None:
        return value, False
    room = rows * ROW_ENTRIES if depth == 1 else rows
    kept = _without_middle(value, room)
    if depth == 1:
        return kept, kept is not value
    inner = [e if e is ELLIPSIS else _keep(e, depth - 1, rows) for e in kept]
    cut = kept is not value or any(e is not ELLIPSIS and e[1] for e in inner)
    return [e if e is ELLIPSIS else e[0] for e in inner], cut


def _without_middle(entries: list[Any], room: int) -> list[Any]:
    if len(entries) <= room:
        return entries
    first = (room + 1) // 2
    return [*entries[:first], ELLIPSIS, *entries[len(entries) - (room - first) :]]


def _texts(value: list[Any], depth: int, text: Callable[[float], str]) -> list[Any]:
    if depth == 1:
        return [e if e is ELLIPSIS else text(e) for e in value]
    return [e if e is ELLIPSIS else _texts(e, depth - 1, text) for e in value]


def _leaves(texts: list[Any], depth: int) -> list[str]:
    level = texts
    for _ in range(depth - 1):
        level = [e for row in level if row is not ELLIPSIS for e in row]
    return level


def _block(
    texts: list[Any], depth: int, width: int, available: int | None, indent: int = 0
) -> list[str]:
    """A row; rows of a matrix under each other; deeper arrays block by block."""
    if depth == 1:
        cells = [e if e is ELLIPSIS else e.rjust(width) for e in texts]
        if available is not None:
            room = available - 2 * indent - len("[], …, ")
            fitting = max(2, room // (width + len(", ")))
            cells = _without_middle([c for c in cells if c is not ELLIPSIS], fitting)
        return ["[" + ", ".join(cells) + "]"]
    lines: list[str] = []
    for nr, row in enumerate(texts):
        opening = "[" if nr == 0 else " "
        closing = "]" if nr == len(texts) - 1 else ","
        inner = (
            [ELLIPSIS]
            if row is ELLIPSIS
            else _block(row, depth - 1, width, available, indent + 1)
        )
        inner[-1] += closing
        lines.extend((opening if i == 0 else " ") + t for i, t in enumerate(inner))
    return lines
