"""Results of Python that show their numbers: as lines in a terminal, as a table in a
notebook.

    class Pair(ShownRows):
        def rows(self):
            yield "d/dx", "6.0"

    repr(Pair())        # "d/dx  6.0"
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from ..engine import Tensor
from ..engine.devices import host
from .excerpt import printable

MAX_ENTRIES: Final = 100
"""Largest number of entries of an array that is written out."""

CELL: Final = "text-align:left;white-space:pre;font-family:monospace"
"""Style of a cell of a table."""


class ShownRows:
    """A result that shows its rows; a row has a label and texts beside it."""

    __slots__ = ()

    def rows(self) -> Iterable[Sequence[str]]:
        """Return the rows to be shown."""
        raise NotImplementedError

    def __repr__(self) -> str:
        rows = [*self.rows()]
        width = max((len(row[0]) for row in rows), default=0)
        lines = []
        for label, *texts in rows:
            text = "  ".join(filter(None, texts))
            below = "\n" + " " * (width + 2)
            lines.append(f"{label.ljust(width)}  {below.join(text.splitlines())}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the rows as a table for a notebook's cell."""
        return table(self.rows())


def table(rows: Iterable[Sequence[str]]) -> str:
    """Return rows as a table of HTML; texts of the user are escaped."""
    lines = []
    for label, *texts in rows:
        cells = "".join(f'<td style="{CELL}">{_escaped(text)}</td>' for text in texts)
        lines.append(f'<tr><th style="{CELL}">{_escaped(label)}</th>{cells}</tr>')
    return f"<table>{''.join(lines)}</table>"


def _escaped(text: str) -> str:
    from html import escape

    return escape(printable(text, "\n"))


def text_of_numbers(value: Any) -> str:
    """Return a number with all its digits, or an array, a large one shortened."""
    if isinstance(value, Tensor):
        value = host(value.raw)
    elif hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    if hasattr(value, "toarray") or not hasattr(value, "shape"):
        return repr(value)
    array = np.asarray(host(value))
    if not array.ndim:
        return repr(array.item())
    return np.array2string(array, separator=", ", threshold=MAX_ENTRIES)
