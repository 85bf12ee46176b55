"""The pattern of a matrix as a picture of dots, as large as there is room.

Invariant: a dot stands for at least one stored entry, and every stored entry has a dot;
in a small matrix each has its own.

    4 colours of columns
    │⠳⣄  │
    │ ⠈⠳⣄│
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..views.pattern import Pattern, dots_of
from .curve import BITS, DOTS_ACROSS, DOTS_UP, EMPTY
from .limits import DEFAULT_TERMINAL_COLUMNS, MAX_SPY_COLUMNS, MAX_SPY_ROWS
from .line import Layout, Line, dim


def spy(
    pattern: Pattern, colours: int, layout: Layout, indent: str = ""
) -> Iterator[Line]:
    """Yield how many colours the columns need, and the picture."""
    what = "1 colour" if colours == 1 else f"{colours:,} colours"
    yield dim(f"{indent}{what} of columns")
    room = (layout.width or DEFAULT_TERMINAL_COLUMNS) - len(indent) - len("││")
    for row in picture(pattern, min(MAX_SPY_COLUMNS, max(1, room)), MAX_SPY_ROWS):
        yield Line((f"{indent}│", "dim"), (row, "number"), ("│", "dim"), hang="")


def picture(pattern: Pattern, columns: int, rows: int) -> list[str]:
    """Return the lines of a picture of at most that many columns and rows, with the
    proportions of the matrix as far as there is room."""
    height, width = pattern.shape
    if not height or not width:
        return []
    scale = min(1.0, columns * DOTS_ACROSS / width, rows * DOTS_UP / height)
    up, across = (max(1, int(side * scale)) for side in (height, width))
    down, along = -(-up // DOTS_UP), -(-across // DOTS_ACROSS)
    dots = np.zeros((down * DOTS_UP, along * DOTS_ACROSS), dtype=np.int64)
    dots[:up, :across] = dots_of(pattern, up, across)
    bits = np.array(BITS)[:, ::-1].T
    parts = dots.reshape(down, DOTS_UP, along, DOTS_ACROSS) * bits[:, None, :]
    cells = EMPTY + parts.sum((1, 3))
    return ["".join(map(chr, row)).replace(chr(EMPTY), " ") for row in cells.tolist()]
