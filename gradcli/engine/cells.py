"""A tensor in a notebook: its numbers as a table, above what it is.

Invariant: what the table shows are the digits of the tensor's text; of a large tensor
the middle is left out.

    tensor([[1.0, 2.0]])._repr_html_()      # "<table>…"
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from .dtypes import of
from .raw import Raw
from .show import show
from .tensor import Tensor

MAX_ROWS: Final = 16
MAX_COLUMNS: Final = 12
GAP: Final = "…"


def as_cells(self: Tensor) -> str:
    """The tensor as HTML; one with no dimension or with more than two as its text."""
    raw = self.raw
    if raw.ndim not in (1, 2) or not raw.size or self.xp.symbolic:
        return f"<pre>{escape(show(self))}</pre>"
    rows = raw.shape[0] if raw.ndim == 2 else 1
    matrix = raw.reshape(rows, -1)
    down, across = _kept(rows, MAX_ROWS), _kept(matrix.shape[1], MAX_COLUMNS)
    lines = ["".join(f"<td>{_cell(matrix, i, j)}</td>" for j in across) for i in down]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table>{body}</table><pre>{escape(_about(self))}</pre>"


def _kept(count: int, room: int) -> Sequence[int | None]:
    """Return the numbers of the lines to show; None stands for those left out."""
    if count <= room:
        return range(count)
    half = room // 2
    return [*range(half), None, *range(count - half, count)]


def _cell(matrix: Raw, row: int | None, column: int | None) -> str:
    if row is None or column is None:
        return GAP
    return escape(str(matrix[row, column].item()))


def _about(tensor: Tensor) -> str:
    made = tensor.grad_fn
    parts = [f"shape {list(tensor.shape)}", str(of(tensor.raw))]
    if made is not None:
        parts.append(f"grad_fn={made!r}")
    elif tensor.requires_grad:
        parts.append("requires_grad=True")
    return ", ".join(parts)
