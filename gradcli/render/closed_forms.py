"""Derivatives as formulas: a matrix as a table, anything else an entry a line.

Invariant: a table is drawn only where it fits, so no line of it is broken; formulas
are never shortened.

dy/dx
        x[0]       x[1]
  y[0]  2*x[0]     0
  y[1]  x[1]       x[0]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..lang.excerpt import printable
from ..views.closed_forms import FormulaView, ProgramView
from .line import BLANK, Layout, Line, Part, Role

NONE_FOUND = "?"

WIDEST = 120
"""Columns of a table where the layout sets no limit: beyond, a line per entry reads
better."""


def formulas(views: Iterable[FormulaView], layout: Layout) -> Iterator[Line]:
    """The blocks one after the other, each behind a blank line."""
    for view in views:
        yield BLANK
        if view.texts and not any(view.texts):
            yield Line(
                (
                    (printable(view.title), "name"),
                    (f"  no formula: {printable(view.missing or '')}", "dim"),
                )
            )
            continue
        yield from _table(view, layout) or _list(view)
        if view.missing:
            text = f"{NONE_FOUND}: no formula: {printable(view.missing)}"
            yield Line(((text, "dim"),))


def program(view: ProgramView) -> Iterator[Line]:
    """The adjoint program, to be copied as it stands."""
    told = (
        "run at this point it gives the gradients above"
        if view.repeats
        else "run at this point it gives other numbers than the gradients above"
    )
    yield BLANK
    yield Line((("adjoint program", "title"), (f"  {told}", "dim")))
    for text in view.lines:
        yield Line(((printable(text), "plain"),), hang="")


def _shown(text: str | None) -> str:
    return NONE_FOUND if text is None else printable(text)


def _table(view: FormulaView, layout: Layout) -> list[Line]:
    """No lines if it is no matrix, or too wide."""
    if len(view.rows) < 2 or len(view.columns) < 2:
        return []
    columns = range(len(view.columns))
    head = [printable(view.by) + index for index in view.columns]
    cells = [[_shown(view.text(r, c)) for c in columns] for r in range(len(view.rows))]
    sides = [printable(view.of) + index for index in view.rows]
    side = max(map(len, sides))
    widths = [max(len(head[c]), *[len(row[c]) for row in cells]) for c in columns]
    if 2 + side + sum(2 + width for width in widths) > (layout.width or WIDEST):
        return []
    rows = zip(sides, cells, strict=True)
    return [
        Line(((printable(view.title), "name"),)),
        _row("", side, _padded(head, widths), "dim"),
        *[_row(text, side, _padded(row, widths), "plain") for text, row in rows],
    ]


def _padded(texts: list[str], widths: list[int]) -> list[str]:
    padded = [text.ljust(width) for text, width in zip(texts, widths, strict=True)]
    return [*padded[:-1], texts[-1]]


def _row(name: str, side: int, cells: list[str], role: Role) -> Line:
    parts: list[Part] = [("  " + text, role) for text in cells]
    return Line((("  " + name.ljust(side), "dim"), *parts))


def _list(view: FormulaView) -> Iterator[Line]:
    places = [(r, c) for r in range(len(view.rows)) for c in range(len(view.columns))]
    labels = [printable(view.label(*place)) for place in places]
    width = max(map(len, labels), default=0)
    for label, place in zip(labels, places, strict=True):
        text = _shown(view.text(*place))
        yield Line(((label.ljust(width), "name"), (" = ", "plain"), (text, "plain")))
