"""Large arrays as text, made piece by piece while it is written.

Invariant: all pieces together are the text that a list of the same numbers has.

    "".join(listed(Entries(np.array([1.0, 2.0]))))       # "[1.0, 2.0]"
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

from ..views.numbers import Entries, plain

PIECE = 1 << 13
"""Numbers whose text is made at once."""

Text = Callable[[list[Any]], str]
"""Some numbers, or rows of them, as the text of a list."""


def listed(value: Entries, text: Text = repr) -> Iterator[str]:
    """Nested lists on one line, nothing left out."""
    return _listed(value.raw, text)


def _listed(raw: Any, text: Text) -> Iterator[str]:
    row = prod(raw.shape[1:])
    yield "["
    if row > PIECE:
        for nr, inner in enumerate(raw):
            yield ", " if nr else ""
            yield from _listed(inner, text)
    else:
        for start, block in _blocks(raw, PIECE // max(1, row)):
            yield (", " if start else "") + text(block)[1:-1]
    yield "]"


def _blocks(raw: Any, rows: int) -> Iterator[tuple[int, list[Any]]]:
    """Some rows after the other: where they start, and their numbers."""
    for start in range(0, len(raw), rows):
        block = plain(raw[start : start + rows])
        assert isinstance(block, list)
        yield start, block


def aligned(value: Entries) -> Iterator[str]:
    """A vector on one line, all its numbers as wide as the widest."""
    blocks = (block for _, block in _blocks(value.raw, PIECE))
    width = max(max(map(len, map(repr, block))) for block in blocks)
    yield "["
    for start, block in _blocks(value.raw, PIECE):
        cells = (repr(entry).rjust(width) for entry in block)
        yield (", " if start else "") + ", ".join(cells)
    yield "]"
