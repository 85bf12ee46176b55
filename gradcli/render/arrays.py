"""A named value as lines: on one line if it is a number, else a block beside its name.

values("dL/da", [[1.0, 2.0], [3.0, 4.0]], layout)

    dL/da = [[1.0, 2.0],
             [3.0, 4.0]]
"""

from __future__ import annotations

from collections.abc import Generator

from ..views.numbers import Plain
from .line import Layout, Line, Part
from .numbers import ELLIPSIS, draw, number

SHORTENED = Line(((f"({ELLIPSIS} shortened to fit: -q or a pipe shows all)", "dim"),))


def value_lines(
    label: str, value: Plain | None, layout: Layout, note: str = "", pad: int = 0
) -> Generator[Line, None, bool]:
    """``label = value``, the label padded to ``pad`` columns, then a note.

    Returns whether digits or entries had to be left out.
    """
    head: list[Part] = [(label.ljust(pad), "name"), (" = ", "plain")]
    tail: list[Part] = [(f"  {note}", "dim")] if note else []
    if not isinstance(value, list):
        text = "None" if value is None else number(value)
        yield Line((*head, (text, "number"), *tail))
        return False
    left = sum(len(text) for text, _ in head)
    beside = layout.width is None or left <= layout.width // 4
    indent = " " * (left if beside else 2)
    room = None if layout.width is None else max(8, layout.width - len(indent))
    lines, shortened = draw(value, Layout(room, layout.rows))
    if beside:
        head.append((lines.pop(0), "number"))
    yield Line((*head, *([] if lines else tail)))
    for place, text in enumerate(lines, 1):
        last = place == len(lines)
        yield Line(((indent + text, "number"), *(tail if last else [])))
    return shortened
