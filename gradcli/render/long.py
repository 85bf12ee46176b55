"""Large arrays as text, made piece by piece while it is written.

Invariant: all pieces together are the text that a list of the same numbers has.

    "".join(listed(Entries(np.array([1.0, 2.0]))))       # "[1.0, 2.0]"
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate, chain
from math import prod
from operator import mul
from typing import Any

from ..engine.raw import Raw
from ..views.numbers import Entries, plain

PIECE = 1 << 13
"""Numbers whose text is made at once."""

Text = Callable[[list[Any]], str]
"""Function that writes some numbers, or rows of them, as the text of a list."""


def listed(value: Entries, text: Text = repr) -> Iterator[str]:
    """Write nested lists on one line, nothing left out."""
    return _listed(value.raw, text)


def _listed(raw: Raw, text: Text) -> Iterator[str]:
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


def _blocks(raw: Raw, rows: int) -> Iterator[tuple[int, list[object]]]:
    """Yield some rows after the other: where they start, and their numbers."""
    for start in range(0, len(raw), rows):
        block = plain(raw[start : start + rows])
        assert isinstance(block, list)
        yield start, block


def rows(value: Entries) -> Iterator[Iterator[str]]:
    """Write the rows of nested lists, each a line's pieces; brackets that stand further
    out are a row's own or blanks."""
    *outer, size = value.shape
    sizes = [*accumulate(reversed(outer), mul)]
    count = prod(outer)
    for nr, row in enumerate(value.raw.reshape(count, size)):
        opened = sum(nr % each == 0 for each in sizes)
        closed = sum((nr + 1) % each == 0 for each in sizes)
        before = " " * (len(outer) - opened) + "[" * opened
        after = "]" * closed + ("," if nr + 1 < count else "")
        yield chain((before,), _listed(row, repr), (after,))
