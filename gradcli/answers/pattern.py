"""Patterns of matrices: where the entries lie that are not known to be zero, and a
picture of that in dot characters.

Invariants: every question about a pattern takes time in proportion to the stored
entries, not to those that are zero. In the picture a dot stands for at least one stored
entry, and every stored entry has one.

    pattern = pattern_of(matrix)                 # an array or a csr_array
    pattern.below, pattern.above                 # how far from the diagonal they lie
    pattern.structure()                          # "banded"
    colours_of(pattern)                          # groups of columns that share no row
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from ..engine.raw import Host
from .curves import DOTS_ACROSS, DOTS_UP, MAX_COLUMNS, characters
from .line import Layout, Line, dim
from .writer import DEFAULT_TERMINAL_COLUMNS

FEW = 4
"""Number of entries per stored one, from which on a matrix counts as sparse."""


@dataclass(frozen=True)
class Pattern:
    """The stored entries of a matrix row by row, from left to right.

    shape    rows and columns of the matrix
    rows     the row of each entry
    columns  its column
    values   its number
    """

    shape: tuple[int, int]
    rows: Host
    columns: Host
    values: Host

    @property
    def stored(self) -> int:
        return len(self.values)

    @property
    def entries(self) -> int:
        """Number of entries, zeros included."""
        return self.shape[0] * self.shape[1]

    @property
    def is_sparse(self) -> bool:
        """Whether most entries are zero."""
        return self.stored * FEW <= self.entries

    @cached_property
    def below(self) -> int:
        """Largest distance of an entry below the diagonal; below 0 if all lie above."""
        return int((self.rows - self.columns).max()) if self.stored else 0

    @cached_property
    def above(self) -> int:
        """Largest distance of an entry above the diagonal; below 0 if all lie below."""
        return int((self.columns - self.rows).max()) if self.stored else 0

    @cached_property
    def some(self) -> Pattern:
        """The pattern without the stored entries that are zero."""
        kept = self.values != 0
        if kept.all():
            return self
        return Pattern(
            self.shape, self.rows[kept], self.columns[kept], self.values[kept]
        )

    def structure(self) -> str:
        """Return the word for the structure of a matrix, such as ``diagonal``."""
        some, (rows, columns) = self.some, self.shape
        if not some.stored:
            return "zero"
        if rows == columns == 1:
            return "scalar"
        if rows != columns:
            return "dense"
        if some.below <= 0 and some.above <= 0:
            ones = some.stored == rows and bool((some.values == 1).all())
            return "identity" if ones else "diagonal"
        if some.below <= 0:
            return "upper triangular"
        if some.above <= 0:
            return "lower triangular"
        return "symmetric" if some.is_symmetric else "dense"

    def sparse_structure(self) -> str:
        """Return the word for the structure of a large matrix, such as ``banded``."""
        known = self.structure()
        if known in ("zero", "identity", "diagonal"):
            return known
        if self.blocks > 1:
            return "block diagonal"
        width = self.below + self.above + 1
        filled = self.stored * 2 >= width * min(self.shape)
        if filled and width * FEW <= max(self.shape):
            return "banded"
        return "sparse" if self.is_sparse else known

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether the matrix is its own transpose."""
        n = self.shape[0]
        if self.stored == n * n:
            square = self.values.reshape(n, n)
            return bool((square == square.T).all())
        order = np.lexsort((self.rows, self.columns))
        return bool(
            (self.rows == self.columns[order]).all()
            and (self.columns == self.rows[order]).all()
            and (self.values == self.values[order]).all()
        )

    @cached_property
    def blocks(self) -> int:
        """Number of equal blocks along the diagonal that hold all entries; 1 if there
        are no such blocks, or if they are less than half full."""
        rows, columns = self.shape
        if not self.stored:
            return 1
        first, last = np.full(rows, columns), np.full(rows, -1)
        np.minimum.at(first, self.rows, self.columns)
        np.maximum.at(last, self.rows, self.columns)
        reached = np.maximum.accumulate(last)
        ahead = np.minimum.accumulate(first[::-1])[::-1]
        cuts = np.flatnonzero(reached[:-1] < ahead[1:]) + 1
        for count in _divisors(len(cuts) + 1, rows, columns):
            height, width = rows // count, columns // count
            inside = (self.rows // height == self.columns // width).all()
            if inside and self.stored * 2 >= height * columns:
                return count
        return 1


def _divisors(most: int, rows: int, columns: int) -> list[int]:
    """Return the numbers of blocks, at most ``most``, that rows and columns divide
    into, largest first."""
    common = int(np.gcd(rows, columns))
    return [n for n in range(min(most, common), 1, -1) if common % n == 0]


def pattern_of(matrix: Any) -> Pattern:
    """Return the pattern of an array, or of a ``csr_array``."""
    shape = int(matrix.shape[0]), int(matrix.shape[1])
    if hasattr(matrix, "indptr"):
        rows = np.repeat(np.arange(shape[0]), np.diff(matrix.indptr))
        return Pattern(shape, rows, matrix.indices.astype(np.int64), matrix.data)
    array = np.asarray(matrix)
    rows, columns = np.nonzero(array)
    return Pattern(shape, rows, columns, array[rows, columns])


def nothing_in(rows: int, columns: int) -> Pattern:
    """Return the pattern of a matrix that stores nothing."""
    nowhere = np.zeros(0, dtype=np.int64)
    return Pattern((rows, columns), nowhere, nowhere, np.zeros(0))


def colours_of(pattern: Pattern) -> int:
    """Return the number of colours of a greedy colouring in which no two columns of a
    colour have an entry in the same row: that many products with the matrix give all
    its entries."""
    used = [0] * pattern.shape[0]
    order = np.argsort(pattern.columns, kind="stable")
    rows = pattern.rows[order].tolist()
    counts = np.bincount(pattern.columns, minlength=pattern.shape[1])
    start = most = 0
    for end in np.cumsum(counts).tolist():
        own, start = rows[start:end], end
        if not own:
            continue
        taken = 0
        for row in own:
            taken |= used[row]
        free = ~taken & (taken + 1)
        for row in own:
            used[row] |= free
        most = max(most, free)
    return most.bit_length()


def dots_of(pattern: Pattern, height: int, width: int) -> Host:
    """Return ``height`` by ``width`` flags: whether that part of the matrix has any."""
    rows, columns = pattern.shape
    found = np.zeros((height, width), dtype=bool)
    found[pattern.rows * height // rows, pattern.columns * width // columns] = True
    return found


MAX_SPY_ROWS: Final = 24
"""Largest number of lines of a picture of a matrix."""


def spy(
    pattern: Pattern, colours: int, layout: Layout, indent: str = ""
) -> Iterator[Line]:
    """Yield how many colours the columns of a matrix need, and its picture.

    4 colours of columns
    │⠳⣄  │
    │ ⠈⠳⣄│
    """
    what = "1 colour" if colours == 1 else f"{colours:,} colours"
    yield dim(f"{indent}{what} of columns")
    room = (layout.width or DEFAULT_TERMINAL_COLUMNS) - len(indent) - len("││")
    for row in matrix(pattern, min(MAX_COLUMNS, max(1, room)), MAX_SPY_ROWS):
        yield Line((f"{indent}│", "dim"), (row, "number"), ("│", "dim"), hang="")


def matrix(pattern: Pattern, columns: int, rows: int) -> list[str]:
    """Return the lines of a picture of at most that many columns and rows, with the
    proportions of the matrix as far as there is room."""
    height, width = pattern.shape
    if not height or not width:
        return []
    scale = min(1.0, columns * DOTS_ACROSS / width, rows * DOTS_UP / height)
    up, across = (max(1, int(side * scale)) for side in (height, width))
    down, along = -(-up // DOTS_UP), -(-across // DOTS_ACROSS)
    dots: Any = np.zeros((down * DOTS_UP, along * DOTS_ACROSS), dtype=np.int64)
    dots[:up, :across] = dots_of(pattern, up, across)
    return ["".join(row) for row in characters(dots[::-1])]
