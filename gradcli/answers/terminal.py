"""Lines in colour, wrapped to a terminal's width, written by rich.

Invariants: text is never read as markup, highlighted or given emoji; without colour no
escape code is written at all, not even bold. A line is broken at blanks where possible,
and its rest is indented by the line's ``hang``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.text import Text

from .line import Layout, Line, LongLine, Part, for_rich, styles

MAX_TERMINAL_ROWS = 12
"""Number of rows of an array that a terminal shows; more are left out in the middle."""

MAX_PAGE_COLUMNS = 88
"""Largest width of a page of the documentation, in columns."""

MIN_REST_COLUMNS = 16
"""Smallest width of the rest of a line that is indented far, in columns."""

_UNBOUNDED = 1 << 30

_BEHIND_BLANKS = re.compile("(?<= )(?=[^ ])")


class TerminalWriter:
    """A writer through a rich console; if ``width`` is None, nothing is wrapped."""

    def __init__(self, stream: TextIO, width: int | None, colour: bool) -> None:
        self.layout = Layout(width, None if width is None else MAX_TERMINAL_ROWS)
        self._width = width
        self._stream = stream
        self._console = Console(
            file=stream,
            force_terminal=colour,
            color_system="256" if colour else None,
            no_color=not colour,
            markup=False,
            highlight=False,
            emoji=False,
            width=_UNBOUNDED,
            legacy_windows=False,
        )

    def lines(self, lines: Iterable[Line]) -> None:
        looks = styles()
        for line in lines:
            if isinstance(line, LongLine):
                self._stream.writelines(line.pieces())
                self._stream.write("\n")
                continue
            for piece in _wrapped(line, self._width):
                text = Text.assemble(*[(t, looks[role]) for t, role in piece])
                self._console.print(text, soft_wrap=True)

    def page(self, markdown: str) -> None:
        from .markdown import drawn

        width = min(self._width or MAX_PAGE_COLUMNS, MAX_PAGE_COLUMNS)
        with self._console.use_theme(for_rich()):
            self._console.print(drawn(markdown), width=width)

    def flush(self) -> None:
        self._stream.flush()


def _wrapped(line: Line, width: int | None) -> Iterator[list[Part]]:
    """Yield the line as pieces that fit; the first as it is, the others indented."""
    if width is None or not line.hang or cell_len(line.text) <= width:
        yield list(line.parts)
        return
    most = max(width // 2 - 1, width - MIN_REST_COLUMNS)
    hang = line.hang if cell_len(line.hang) <= most else "    "[: width // 4]
    room, used = max(1, width - cell_len(hang)), 0
    piece: list[Part] = []
    for word, role in _words(line.parts):
        if used + cell_len(word.rstrip()) > width and used > cell_len(hang):
            yield _trimmed(piece)
            piece, used = [(hang, "dim")], cell_len(hang)
            if not word.strip():
                continue
        fits = used + cell_len(word.rstrip()) <= width
        for part in (word,) if fits else chop_cells(word, room):
            if used + cell_len(part.rstrip()) > width:
                yield _trimmed(piece)
                piece, used = [(hang, "dim")], cell_len(hang)
            piece.append((part, role))
            used += cell_len(part)
    if piece:
        yield _trimmed(piece)


def _trimmed(piece: list[Part]) -> list[Part]:
    """Return the piece without blanks at its end, which would exceed the width."""
    while piece and not piece[-1][0].strip():
        piece = piece[:-1]
    return [*piece[:-1], (piece[-1][0].rstrip(), piece[-1][1])] if piece else []


def _words(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield the parts cut behind each run of blanks."""
    for text, role in parts:
        for word in filter(None, _BEHIND_BLANKS.split(text)):
            yield word, role
