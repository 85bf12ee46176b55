"""Jacobians and Hessians as labelled blocks.

Invariant: a block's shape is that of what is differentiated followed by that of what
it is differentiated by; ``structure`` speaks of the numbers at this point only.

    structure_of([[2.0, 0.0], [0.0, 3.0]], rows=2)     # "diagonal"
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

from .gradients import OutputView
from .numbers import Plain, flat


@dataclass(frozen=True, slots=True)
class BlockView:
    """One block. ``by`` has the input's name; of a Hessian, both inputs' names."""

    by: tuple[str, ...]
    shape: tuple[int, ...]
    value: Plain
    structure: str


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


def block_view(by: tuple[str, ...], value: Plain, shape: Any, lead: int) -> BlockView:
    """A block from its numbers; its first ``lead`` dimensions are its rows."""
    sizes = tuple(shape)
    return BlockView(by, sizes, value, structure_of(value, prod(sizes[:lead])))


def structure_of(value: Plain, rows: int) -> str:
    """The pattern of zeros of a block seen as a matrix of ``rows`` rows."""
    entries = flat(value)
    columns = len(entries) // rows if rows else 0
    if not any(entries):
        return "zero"
    if len(entries) == 1:
        return "scalar"
    if rows != columns:
        return "dense"
    below = any(entries[r * columns + c] for r in range(rows) for c in range(r))
    above = any(
        entries[r * columns + c] for r in range(rows) for c in range(r + 1, columns)
    )
    if not below and not above:
        ones = all(entry == 1 for entry in entries[:: columns + 1])
        return "identity" if ones else "diagonal"
    if not below:
        return "upper triangular"
    if not above:
        return "lower triangular"
    symmetric = all(
        entries[r * columns + c] == entries[c * columns + r]
        for r in range(rows)
        for c in range(r)
    )
    return "symmetric" if symmetric else "dense"
