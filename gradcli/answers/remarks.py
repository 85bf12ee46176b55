"""Remarks on stderr: in a terminal heads are coloured and long lines wrapped.

Invariants: a pipe gets the text unchanged; without colour there is no escape code.
Where a JSON object is going to be printed, notes are kept for it.

    remark("note: x has no value", width=80, colour=True)
"""

from __future__ import annotations

import re
from textwrap import wrap
from typing import Final, TextIO

from .theme import coloured

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
    import os

    from .writer import terminal_width, wants_colour

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
    text = f"{said}{write}" if write else hint
    pieces = wrap(text, width - start, break_long_words=False, break_on_hyphens=False)
    # Text to be copied stays in one piece.
    pieces += [right] if write else []
    if len("".join(lead)) != start:
        return "\n".join(["".join(lead).rstrip(), *(margin + p for p in pieces)])
    return "\n".join(["".join(lead) + pieces[0], *(margin + p for p in pieces[1:])])
