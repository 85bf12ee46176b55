"""Writers of lines: a pipe gets plain text, a terminal colours and its own width.

Invariants: a pipe gets no escape code, nothing is left out there, and lines are wrapped
only to a width that somebody asked for. `NO_COLOR` comes first; then `FORCE_COLOR` and
`CLICOLOR_FORCE`; then the choice made by `prefer`; then `TERM=dumb`; else a terminal
gets colour. rich is imported only if the stream is a terminal, colour is forced, or a
width is asked for.

Where a stream's encoding lacks a character, it is escaped if it is the user's; drawing
characters are replaced by similar ones, one for one where a picture's columns depend on
it. In JSON all are escaped as JSON does, so that reading it back gives the same text.

    "└─ é".encode("ascii", errors=DRAWN)       # b"`- \\xe9"
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TextIO, TypeAlias

from .line import Layout, Line, LongLine

if TYPE_CHECKING:
    from .terminal import TerminalWriter
    from .theme import Theme

Writer: TypeAlias = "PlainWriter | TerminalWriter"

DEFAULT_TERMINAL_COLUMNS = 80
"""Width of a terminal that does not say how wide it is, in columns."""

MIN_TERMINAL_COLUMNS = 20
"""Smallest width that a terminal is taken to have, in columns."""

DRAWN = "gradcli.drawn"
JSON = "gradcli.json"
"""Names of these two error handlers, for `open` and `reconfigure`, after `register`."""

_LIKE = {
    **dict(zip("─│├┤└×━⇒⇗⇑⇖⇐⇙⇓⇘○", "-|||`x->/^\\</v\\o", strict=True)),
    "→": "->",
    "…": "...",
}
_SIZE = re.compile("[0-9]{1,9}")
_DOTS = range(0x2800, 0x2900)
"""Code points of the dot patterns that curves are made of."""


class PlainWriter:
    """A writer for pipes and files: it writes the text unchanged."""

    def __init__(self, stream: TextIO) -> None:
        self.layout = Layout()
        self._stream = stream

    def lines(self, lines: Iterable[Line]) -> None:
        write = self._stream.write
        for line in lines:
            if isinstance(line, LongLine):
                for piece in line.pieces():
                    write(piece)
                write("\n")
            else:
                # In one call, so that Ctrl-C leaves no part of a line.
                write(line.text + "\n")

    def page(self, markdown: str) -> None:
        self._stream.write(markdown.rstrip("\n") + "\n")

    def flush(self) -> None:
        self._stream.flush()


_preferred: dict[str, str | int] = {"colour": "auto", "width": 0}


def prefer(colour: str = "auto", width: int = 0, theme: Theme = "auto") -> None:
    """Set the looks that hold where the environment does not decide: colour "auto",
    which depends on the stream, "always" or "never"; the width of a terminal in
    columns, 0 for as many as it has; the theme."""
    from .theme import chosen

    chosen.name = theme
    _preferred.update(colour=colour, width=width)


def open_writer(
    stream: TextIO, into: TextIO | None = None, bare: bool = False
) -> Writer:
    """Return the writer for a stream, as the environment asks; what it writes goes
    ``into`` another one, if that is given. In a pipe ``bare`` lines are not wrapped."""
    terminal = stream.isatty()
    colour = wants_colour(terminal, os.environ)
    width = terminal_width(stream, os.environ) if terminal or not bare else 0
    if not colour and not width:
        return PlainWriter(stream)
    from .terminal import TerminalWriter

    writer = TerminalWriter(into or stream, width or None, colour)
    if not terminal:
        writer.layout.rows = None
    return writer


def wants_colour(terminal: bool, wishes: Mapping[str, str]) -> bool:
    """Tell whether to write in colour; an empty variable counts as unset."""
    if wishes.get("NO_COLOR"):
        return False
    forced = wishes.get("FORCE_COLOR", "")
    if forced:
        return forced != "0"
    if wishes.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    if _preferred["colour"] != "auto":
        return bool(_preferred["colour"] == "always")
    return terminal and wishes.get("TERM") != "dumb"


def terminal_width(stream: TextIO, wishes: Mapping[str, str]) -> int:
    """Return the columns that the variable `COLUMNS`, or else a setting, asks for, or
    else those of the terminal; 0 for a pipe that nobody asks any for."""
    wanted = wishes.get("COLUMNS", "")
    columns = int(wanted) if _SIZE.fullmatch(wanted) else 0
    columns = columns or int(_preferred["width"])
    if not columns and stream.isatty():
        with suppress(OSError, ValueError):
            columns = os.get_terminal_size(stream.fileno()).columns
        columns = columns or DEFAULT_TERMINAL_COLUMNS
    return columns and max(MIN_TERMINAL_COLUMNS, columns)


def drop_odd_sizes(wishes: MutableMapping[str, str]) -> None:
    """Remove the variables of a terminal's size that are no sizes: libraries would try
    to read them."""
    for name in ("COLUMNS", "LINES"):
        if not _SIZE.fullmatch(wishes.get(name, "0")):
            del wishes[name]


def register() -> None:
    """Register both error handlers with Python's codecs."""
    codecs.register_error(DRAWN, partial(_replaced, _like))
    codecs.register_error(JSON, partial(_replaced, _escaped))


def _replaced(written: Callable[[str], str], error: UnicodeError) -> tuple[str, int]:
    """Return what is written for characters that cannot be encoded, and where the text
    goes on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(map(written, text)), error.end


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", errors="surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def _like(character: str) -> str:
    if ord(character) in _DOTS:
        return "*"
    return _LIKE.get(character) or ascii(character)[1:-1]
