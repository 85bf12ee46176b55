"""A stretch of a program's text."""

from typing import NamedTuple


class Span(NamedTuple):
    """A stretch of the program's text: offsets in characters, end excluded."""

    start: int
    end: int
