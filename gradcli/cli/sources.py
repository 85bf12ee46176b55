"""Where the program comes from: the command line, a file, or standard input.

Invariant: the text is UTF-8 or an error says where it is not; standard input is read
for one thing only.
"""

from __future__ import annotations

import sys

from ..lang.errors import ProgramError
from .exits import Exit
from .options import Request
from .problems import wrong

STDIN = "-"


def program_and_bindings(request: Request) -> tuple[str, list[str]]:
    """The program's text and the ``NAME=VALUE`` words.

    Raises:
        ProgramError: there is no program, or it cannot be read.
    """
    words = list(request.words or ())
    place = request.file
    if place is None:
        if not words:
            raise wrong("E593", "no program", 'give one: gradcli grad "x**2" x=3')
        place = words.pop(0)
        if place != STDIN:
            return place, words
    if place == STDIN:
        if any(word.endswith("=@-") for word in words):
            hint = "save one of them to a file"
            raise wrong("E594", "standard input cannot be program and value", hint)
        return _decoded(_standard_input(), "standard input"), words
    return _decoded(_contents(place), place), words


def _contents(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise wrong("E594", f"cannot read {path!r}: {reason}") from None


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise wrong("E594", "cannot read the program: standard input is closed")
    if sys.stdin.isatty():
        from .output import note

        note("reading the program from the terminal; end it with Ctrl-D")
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        reason = error.strerror or str(error)
        raise wrong("E594", f"cannot read standard input: {reason}") from None


def _decoded(data: bytes, place: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ProgramError(
            "E594",
            f"{place} is not UTF-8: byte {data[error.start]:#04x} in line {line}",
            exit_status=Exit.USAGE,
        ) from None
