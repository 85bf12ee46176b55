"""What is written to a stream whose encoding lacks a character.

Invariant: the user's own characters are escaped, so that they stay what they were;
those that we draw with are replaced by what looks most like them, one for one where a
picture's columns depend on it. In JSON everything is escaped as JSON has it, so that
reading it back gives the same text.

    "└─ é".encode("ascii", errors=DRAWN)       # b"`- \\xe9"
"""

from __future__ import annotations

import codecs

DRAWN = "gradcli.drawn"
JSON = "gradcli.json"
"""Names of the two ways, for `open` and `reconfigure`, once `register` has run."""

_LIKE = {
    "─": "-",
    "│": "|",
    "├": "|",
    "┤": "|",
    "└": "`",
    "→": "->",
    "…": "...",
    "×": "x",
    "━": "-",
    "⇒": ">",
    "⇗": "/",
    "⇑": "^",
    "⇖": "\\",
    "⇐": "<",
    "⇙": "/",
    "⇓": "v",
    "⇘": "\\",
    "○": "o",
}
_DOTS = range(0x2800, 0x2900)
"""Patterns of dots that curves are made of."""


def register() -> None:
    """Make both ways known to Python's codecs."""
    codecs.register_error(DRAWN, _drawn)
    codecs.register_error(JSON, _json)


def _drawn(error: UnicodeError) -> tuple[str, int]:
    text, end = _lacking(error)
    return "".join(map(_like, text)), end


def _json(error: UnicodeError) -> tuple[str, int]:
    text, end = _lacking(error)
    units = text.encode("utf-16-be", errors="surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4)), end


def _lacking(error: UnicodeError) -> tuple[str, int]:
    """Return the characters that cannot be written, and where the text goes on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return error.object[error.start : error.end], error.end


def _like(character: str) -> str:
    if ord(character) in _DOTS:
        return "*"
    return _LIKE.get(character) or ascii(character)[1:-1]
