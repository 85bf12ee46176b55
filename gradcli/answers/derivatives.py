"""Jacobians and Hessians as labelled blocks.

Invariant: a block's shape is that of what is differentiated followed by that of what
it is differentiated by; ``structure`` speaks of the numbers at this point only. A block
has either all its numbers or, if most of them are zero, those that are stored.

    block_view(("x",), block, "auto").structure     # "diagonal"
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from ..engine.devices import host
from ..engine.jacobian import Block
from ..views.numbers import Shown, plain, shown
from .gradients import OutputView
from .pattern import Pattern, nothing_in, pattern_of

Form: TypeAlias = Literal["auto", "dense", "sparse"]
"""Whether a block is shown with its zeros; ``auto``: if it is small or has few."""

MIN_SPARSE_ENTRIES = 1 << 12
"""Blocks of fewer entries are shown with their zeros."""


class Coordinates(NamedTuple):
    """Where the stored entries of a matrix are, row by row, and their numbers."""

    rows: list[int]
    columns: list[int]
    values: list[float]


@dataclass(frozen=True, slots=True)
class BlockView:
    """One block. ``by`` has the input's name; of a Hessian, both inputs' names.

    value    all its numbers; None: it is shown without its zeros
    pattern  its stored entries, seen as a matrix with a row for each entry of what is
             differentiated, and a column for each of what it is differentiated by
    """

    by: tuple[str, ...]
    shape: tuple[int, ...]
    value: Shown | None
    structure: str
    pattern: Pattern

    @property
    def is_sparse(self) -> bool:
        """Whether it is shown without its zeros."""
        return self.value is None

    @property
    def coordinates(self) -> Coordinates:
        """The stored entries in plain numbers."""
        stored = self.pattern
        values: Any = plain(stored.values)
        return Coordinates(stored.rows.tolist(), stored.columns.tolist(), values)


@dataclass(frozen=True, slots=True)
class DerivativeView:
    """A Jacobian (one block per input) or a Hessian (one per pair of inputs)."""

    command: str
    program: str
    device: str
    dtype: str
    mode: str
    passes: int
    output: OutputView
    blocks: tuple[BlockView, ...]


def block_view(by: tuple[str, ...], block: Block, form: Form = "auto") -> BlockView:
    """A block in plain numbers."""
    pattern = _pattern(block)
    large = pattern.entries >= MIN_SPARSE_ENTRIES and pattern.is_sparse
    structure = pattern.sparse_structure() if large else pattern.structure()
    sparse = form == "sparse" or (form == "auto" and large)
    value = None if sparse else shown(block.dense().raw)
    return BlockView(by, block.shape, value, structure, pattern)


def _pattern(block: Block) -> Pattern:
    matrix = block.matrix
    if matrix is None:
        return nothing_in(block.output.numel(), block.x.numel())
    return pattern_of(host(matrix))
