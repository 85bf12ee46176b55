"""Places in a user's files, as words for messages.

Invariant: a place is a line outside this package; without one there is no place.
"""

from __future__ import annotations

import linecache
import re
from pathlib import Path
from sysconfig import get_path
from traceback import walk_tb
from types import FrameType, TracebackType

from ..answers.callers import is_internal, outside
from ..lang.errors import text_of

_INSTALLED = re.compile(
    rf"{re.escape(get_path('stdlib'))}[\\/]|.*[\\/](?:site|dist)-packages[\\/]"
)
"""Pattern of the paths of Python's own modules and of packages that are installed."""


def place_of(trace: TracebackType | None) -> str:
    """Return the last line of a traceback in a user's file, with its text, such as
    ``file.py:7: y = x.item()``; an empty text if there is none."""
    found = ""
    for frame, line in walk_tb(trace):
        filename = frame.f_code.co_filename
        if not is_internal(filename) and not _INSTALLED.match(filename):
            found = at(filename, line)
    return found


def at(filename: str, line: int) -> str:
    """Return a file's name and a line's number, with the line's text if it is known."""
    text = linecache.getline(filename, line).strip()
    where = f"{Path(filename).name}:{line}"
    return f"{where}: {text}" if text else where


def caller(frame: FrameType | None) -> tuple[str, int]:
    """Return the file and line number of the nearest frame outside this package."""
    frame = outside(frame)
    return (frame.f_code.co_filename, frame.f_lineno) if frame else ("", 0)


def words_of(error: BaseException) -> str:
    """Return an exception's message on one line, with the place in the user's file that
    led to it."""
    said = " ".join(text_of(error).split()) or type(error).__name__
    if type(error).__module__ == "builtins" and not isinstance(error, RuntimeError):
        said = f"{type(error).__name__}: {said}"
    where = place_of(error.__traceback__)
    return f"{said} ({where})" if where else said
