r"""Excerpts: a line of a program's text, with carets under a span of it.

Carets are placed by display width: a wide character takes two columns, a combining mark
none. Control and format characters, which could control a terminal or reorder text, are
shown escaped (`\x1b`), and the carets still fit. A line longer than the window is cut
around the span, and its cut ends are marked `…`.

      1 | y = tahn(x)
        |     ^^^^ did you mean 'tanh'?
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from .maxima import (
    MAX_MESSAGE_CHARACTERS,
    MAX_QUOTE_CHARACTERS,
    MAX_SHOWN_NAME_CHARACTERS,
    MAX_SHOWN_NAMES,
    WINDOW_COLUMNS,
)

CUT = "…"
LINE_BREAK = re.compile(r"\r\n|\r|\n")
_NOT_PLAIN = re.compile("[^ -~]")


class Span(NamedTuple):
    """A part of a program's text: its offsets in characters, end excluded."""

    start: int
    end: int


class TextPlace(NamedTuple):
    """The place of a span: line and columns, counted from 1, and the line's text."""

    line: int
    column: int
    end_column: int
    text: str


class Cell(NamedTuple):
    """One character of the program as it is shown, and the columns it takes."""

    text: str
    width: int


def locate(source: str, span: Span) -> TextPlace:
    """Return the line and columns of a span; of several lines, only the first one."""
    start = min(span.start, len(source))
    line, line_start = 1, 0
    for found in LINE_BREAK.finditer(source, 0, len(source)):
        if found.end() > start:
            break
        line, line_start = line + 1, found.end()
    ending = LINE_BREAK.search(source, line_start)
    line_end = ending.start() if ending else len(source)
    start = min(start, line_end)
    end = max(start, min(span.end, line_end))
    text = source[line_start:line_end]
    return TextPlace(line, start - line_start + 1, end - line_start + 1, text)


def place_of(span: Span, source: str) -> str:
    """Return the beginning of a span in words, as "line 1, column 5"."""
    place = locate(source, span)
    return f"line {place.line}, column {place.column}"


def block(
    code: str, message: str, span: Span | None, source: str, hint: str | None
) -> str:
    """Return an error as text: a headline, the line, the carets and the way out."""
    headline = f"error[{code}]: {printable(_middle_cut(message))}"
    help_text = printable(_middle_cut(hint)) if hint else ""
    if span is None:
        return f"{headline}\n  = help: {help_text}" if hint else headline
    place = locate(source, span)
    line, carets = _window(place)
    gutter = f"  {place.line}"
    pointer = f"{carets} {help_text}".rstrip()
    return f"{headline}\n{gutter} | {line}\n{' ' * len(gutter)} | {pointer}"


def _middle_cut(text: str) -> str:
    """Return a message, without its middle if it is above `MAX_MESSAGE_CHARACTERS`."""
    half = MAX_MESSAGE_CHARACTERS // 2
    cut = len(text) > MAX_MESSAGE_CHARACTERS
    return f"{text[:half]}{CUT}{text[-half:]}" if cut else text


def printable(text: str, kept: str = "") -> str:
    """Return a text with every character escaped that could control a terminal or
    reorder what it shows, but for the characters ``kept``: line breaks, of a text of
    several lines."""
    if text.isprintable():
        return text
    shown = lambda found: found[0] if found[0] in kept else _cell(found[0]).text
    return _NOT_PLAIN.sub(shown, text)


def enumerated(names: Sequence[str]) -> str:
    """Return a list of names in words: `MAX_SHOWN_NAMES` at most, each shortened."""
    shown = names[:MAX_SHOWN_NAMES]
    listed = ", ".join(shortened(name, MAX_SHOWN_NAME_CHARACTERS) for name in shown)
    more = len(names) - MAX_SHOWN_NAMES
    return listed if more <= 0 else f"{listed} and {more:,} more"


def shortened(text: str, limit: int = MAX_QUOTE_CHARACTERS) -> str:
    """Return a text, cut after ``limit`` characters if it is longer."""
    return text if len(text) <= limit else text[:limit] + CUT


def _window(place: TextPlace) -> tuple[str, str]:
    """Return the part of the line that is shown, and the blanks and carets under it."""
    first, after = place.column - 1, place.end_column - 1
    # Only characters near the span can be in the window; no others are measured.
    low, high = max(0, first - WINDOW_COLUMNS), first + 2 * WINDOW_COLUMNS
    cells = [_cell(character) for character in place.text[low:high]]
    edges = [0]
    for cell in cells:
        edges.append(edges[-1] + cell.width)
    target, target_end = first - low, min(after - low, len(cells))
    more_before, more_after = low > 0, high < len(place.text)

    begin, end = 0, len(cells)
    if more_before or more_after or edges[-1] > WINDOW_COLUMNS:
        span_width = edges[target_end] - edges[target]
        lead = max(WINDOW_COLUMNS // 4, (WINDOW_COLUMNS - span_width) // 2)
        left = max(0, min(edges[target] - lead, edges[-1] - WINDOW_COLUMNS))
        begin = bisect_left(edges, left)
        end = max(begin, bisect_left(edges, edges[begin] + WINDOW_COLUMNS + 1) - 1)
        end = min(end, len(cells))
    cut_before = CUT if more_before or begin > 0 else ""
    cut_after = CUT if more_after or end < len(cells) else ""

    line = cut_before + "".join(cell.text for cell in cells[begin:end]) + cut_after
    blanks = len(cut_before) + edges[target] - edges[begin]
    carets = edges[min(target_end, end)] - edges[target]
    return line, " " * blanks + "^" * max(1, carets)


def _cell(character: str) -> Cell:
    if character == "\t":
        return Cell(" ", 1)
    if " " <= character <= "~":
        return Cell(character, 1)
    import unicodedata

    category = unicodedata.category(character)
    if category in ("Mn", "Me"):
        return Cell(character, 0)
    if category[0] in "CZ" and not character.isprintable():
        escaped = ascii(character)[1:-1]
        return Cell(escaped, len(escaped))
    wide = unicodedata.east_asian_width(character) in "WF"
    return Cell(character, 2 if wide else 1)
