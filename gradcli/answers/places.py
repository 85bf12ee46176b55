"""Places of spans in a program: line, column and text.

Invariant: lines and columns count from 1, as in messages; a text stands on one line.

    Places("y = sin(x)").find((4, 10))        # ("sin(x)", 1, 5)
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple, TypeAlias

from ..lang.excerpt import CUT, LINE_BREAK

Span: TypeAlias = tuple[int, int]

MAX_NOTE_CHARACTERS = 60
"""Largest length of a text in a note or in a table, in characters."""


class Where(NamedTuple):
    """The text of a span and where it begins; all None for an unknown span."""

    text: str | None = None
    line: int | None = None
    column: int | None = None


class SpanFinder:
    """A finder of spans in one program; it cuts texts to ``most`` characters."""

    def __init__(self, source: str, most: int = MAX_NOTE_CHARACTERS) -> None:
        self._source = source
        self._most = most
        self._lines = [0, *(found.end() for found in LINE_BREAK.finditer(source))]
        self._found: dict[Span, Where] = {}

    def find(self, span: Span | None) -> Where:
        """Return the text, line and column of a span."""
        if span is None:
            return Where()
        found = self._found.get(span)
        if found is None:
            start, end = span
            line = bisect_right(self._lines, start)
            text = " ".join(self._source[start : min(end, start + self._most)].split())
            text += CUT if end - start > self._most else ""
            found = Where(text, line, start - self._lines[line - 1] + 1)
            self._found[span] = found
        return found
