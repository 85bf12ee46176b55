"""A named value as lines: on one line if it is a number, else a block beside its name.

values("dL/da", [[1.0, 2.0], [3.0, 4.0]], layout)

    dL/da = [[1.0, 2.0],
             [3.0, 4.0]]
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from ..views.numbers import Plain
from .limits import MIN_ARRAY_COLUMNS
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
    if layout.width is None or left <= layout.width // 4:
        return (yield from array_lines(value, " " * left, layout, tail, head=head))
    yield Line(tuple(head))
    return (yield from array_lines(value, "  ", layout, tail))


def array_lines(
    value: Plain,
    indent: str,
    layout: Layout,
    tail: Sequence[Part] = (),
    hang: str = "    ",
    head: Sequence[Part] = (),
) -> Generator[Line, None, bool]:
    """An array, each line behind ``indent``, the first behind ``head`` if there is one;
    ``tail`` follows the last line.

    Returns whether digits or entries had to be left out.
    """
    room = layout.width
    if room is not None:
        room = max(MIN_ARRAY_COLUMNS, room - len(indent))
    lines, shortened = draw(value, Layout(room, layout.rows))
    for position, text in enumerate(lines, 1):
        before = head if head and position == 1 else ()
        shown: Part = (text if before else indent + text, "number")
        yield Line((*before, shown, *(tail if position == len(lines) else ())), hang)
    return shortened
