"""Writers of lines and remarks: a pipe gets plain text, a terminal colours and its own
width.

Invariants: a pipe gets no escape code, nothing is left out there, and lines are wrapped
only to a width that somebody asked for. `NO_COLOR` comes first; then `FORCE_COLOR` and
`CLICOLOR_FORCE`; then the choice made by `prefer`; then `TERM=dumb`; else a terminal
gets colour. The look of a role is defined only in the themes; "auto" takes the
terminal's own colours, and in pictures those that the reader's screen prefers. rich is
imported only if the stream is a terminal, colour is forced, or a width is asked for.

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
from textwrap import wrap
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeAlias

from .line import Layout, Line, LongLine, Theme, chosen, coloured, for_rich

if TYPE_CHECKING:
    from .terminal import TerminalWriter


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


_HEAD: Final = r"(?m)^(?:(error\[E\d+\]:|refuted:)|(note:))"
_HINT: Final = r"(\s*\| \s*)(\^+)( )(.+)|(\s+= help: )(.+)|(note: )(.+)"
_CARETS: Final = r"(?m)^([^\S\n]*\| [^\S\n]*)(\^+)"

MIN_HINT_COLUMNS: Final = 24
"""Smallest width of a hint behind carets, in columns; a narrower one begins a new
line."""

NOTE: Final = "note: "

_kept: list[str] | None = None
"""Notes for the JSON object that is going to be printed; None: none are kept."""

_shown = 0
"""Number of the kept notes that a JSON object has."""


def keep(wanted: bool) -> None:
    """Set whether notes are kept for a JSON object from now on; drop those kept
    before."""
    global _kept, _shown
    _kept, _shown = [] if wanted else None, 0


def capture(text: str) -> bool:
    """Keep a text if it is a note and notes are kept; tell whether it was kept."""
    if _kept is None or not text.startswith(NOTE):
        return False
    _kept.append(text.removeprefix(NOTE))
    return True


def taken() -> list[str]:
    """Return the notes that are kept, to be put into a JSON object."""
    global _shown
    found = list(_kept or ())
    _shown = len(found)
    return found


def left() -> list[str]:
    """Return the notes that are kept and that no JSON object has."""
    return (_kept or [])[_shown:]


def suited(text: str, stream: TextIO) -> str:
    """Return the text wrapped and coloured for the stream's terminal; unchanged for a
    pipe."""
    terminal = stream.isatty()
    colour = wants_colour(terminal, os.environ)
    if not terminal and not colour:
        return text
    width = terminal_width(stream, os.environ) if terminal else None
    return remark(text, width, colour)


def remark(text: str, width: int | None, colour: bool) -> str:
    """Return the text with its hints wrapped to a width, and its heads in colour."""
    if width is not None:
        text = "\n".join(_wrapped(line, width) for line in text.split("\n"))
    if not colour:
        return text
    text = re.sub(_HEAD, lambda m: coloured("bad" if m[1] else "note", m[0]), text)
    return re.sub(_CARETS, lambda m: m[1] + coloured("bad", m[2]), text)


_RESULT = ": that gives "
"""Text behind a text to be copied: what comes of it."""


def _wrapped(line: str, width: int) -> str:
    """Return a line with the rest of its hint below it, aligned to its beginning."""
    found = re.fullmatch(_HINT, line)
    if found is None or len(line) <= width:
        return line
    *lead, hint = [part for part in found.groups() if part is not None]
    start = len("".join(lead))
    bar = line.index("|") if "|" in "".join(lead) else -1
    if width - start < MIN_HINT_COLUMNS:
        start = max(bar + 4, 4)
    margin = (" " * bar + "|" if bar >= 0 else "").ljust(start)
    said, write, right = hint.rpartition("write ")
    right, result, gives = right.partition(_RESULT)
    text = f"{said}{write}" if write else hint
    broken = partial(
        wrap, width=width - start, break_long_words=False, break_on_hyphens=False
    )
    pieces = broken(text)
    if write:
        # Text to be copied stays in one piece.
        right += result[:1]
        whole = f"{pieces[-1]} {right}"
        fits = len(whole) <= width - start
        pieces[-1:] = [whole] if fits else [pieces[-1], right]
        pieces += broken(f"{result}{gives}"[2:])
    if len("".join(lead)) != start:
        return "\n".join(["".join(lead).rstrip(), *(margin + p for p in pieces)])
    return "\n".join(["".join(lead) + pieces[0], *(margin + p for p in pieces[1:])])


PATIENCE = 0.4
"""Time before a bar appears, in seconds."""

PACE = 0.1
"""Time between two updates, in seconds."""


class Bar:
    """A bar on a terminal for the finished part of ``total`` steps; None: the number is
    unknown.

    Nothing is shown before the work has taken a while. No thread is started: the work
    calls the bar at its steps.
    """

    def __init__(self, stream: TextIO, total: int | None) -> None:
        self._stream = stream
        self._total = total
        self._due = monotonic() + PATIENCE
        self._shown: Any = None
        self._task: Any = None

    def at(self, step: int, beside: Callable[[], str]) -> None:
        """Show that ``step`` steps are done; ``beside`` returns the text beside the
        bar."""
        now = monotonic()
        if now < self._due:
            return
        self._due = now + PACE
        if self._shown is None:
            self._start()
        self._shown.update(self._task, completed=step, beside=beside(), refresh=True)

    def _start(self) -> None:
        from rich import progress
        from rich.console import Console

        self._shown = progress.Progress(
            progress.BarColumn(bar_width=24),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.fields[beside]}", markup=False),
            progress.TimeRemainingColumn(),
            console=Console(file=self._stream, legacy_windows=False, theme=for_rich()),
            auto_refresh=False,
            transient=True,
        )
        self._task = self._shown.add_task("", total=self._total, beside="")
        self._shown.start()

    def stop(self) -> None:
        """Remove the bar, if there is one."""
        shown, self._shown = self._shown, None
        if shown is not None:
            shown.stop()


def wants_bar(stream: TextIO | None) -> bool:
    """Tell whether the stream is a terminal that a bar may be shown on."""
    return stream is not None and stream.isatty() and wants_colour(True, os.environ)
