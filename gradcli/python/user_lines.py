"""Where in a user's files something happened.

Invariant: a place is a line outside of this package; without one the words stand alone.
"""

from __future__ import annotations

import linecache
from pathlib import Path
from traceback import walk_tb
from types import FrameType, TracebackType

PACKAGE = str(Path(__file__).parents[1])


def is_ours(filename: str) -> bool:
    """Tell whether a file is one of this package."""
    return filename.startswith((PACKAGE, "<frozen"))


def place_of(trace: TracebackType | None) -> str:
    """Return the last line of a traceback that is not ours: ``file.py:7: y =
    x.item()``."""
    found = ""
    for frame, line in walk_tb(trace):
        if not is_ours(frame.f_code.co_filename):
            found = at(frame.f_code.co_filename, line)
    return found


def at(filename: str, line: int) -> str:
    """Name a line of a file, with its text where that can be read."""
    text = linecache.getline(filename, line).strip()
    where = f"{Path(filename).name}:{line}"
    return f"{where}: {text}" if text else where


def outside(frame: FrameType | None) -> FrameType | None:
    """Return the nearest frame that is not ours."""
    while frame is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def caller(frame: FrameType | None) -> tuple[str, int]:
    """Return the file and the line of the nearest frame that is not ours."""
    frame = outside(frame)
    return (frame.f_code.co_filename, frame.f_lineno) if frame else ("", 0)


def words_of(error: BaseException) -> str:
    """Return an exception's words on one line, with the place of the user's that led
    there."""
    said = " ".join(str(error).split()) or type(error).__name__
    if type(error).__module__ == "builtins" and not isinstance(error, RuntimeError):
        said = f"{type(error).__name__}: {said}"
    where = place_of(error.__traceback__)
    return f"{said} ({where})" if where else said
