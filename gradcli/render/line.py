"""A line of output: stretches of text, each in a role that a terminal may colour.

Invariant: the text alone says everything; colour only repeats it. A line too wide for
a terminal goes on below under ``hang``; without one it is the terminal that breaks it,
so that it can be copied as it is.

    Line((("dL/da", "name"), (" = ", "plain"), ("-1.125", "number")))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

Role: TypeAlias = Literal[
    "plain", "name", "number", "node", "dim", "title", "good", "fair", "bad"
]
Part: TypeAlias = tuple[str, Role]


class Line(NamedTuple):
    """One line, without its end."""

    parts: tuple[Part, ...] = ()
    hang: str = "    "

    @property
    def text(self) -> str:
        return "".join([text for text, _ in self.parts])

    def pieces(self) -> Iterator[str]:
        """Write the text, one part of it after the other."""
        yield self.text


class LongLine(Line):
    """A line too long to be held: its text is made while it is written, and never
    broken."""

    make: Callable[[], Iterator[str]]

    @classmethod
    def of(cls, make: Callable[[], Iterator[str]]) -> LongLine:
        """Return a line whose pieces ``make`` gives."""
        line = cls((), "")
        line.make = make
        return line

    @property
    def text(self) -> str:
        return "".join(self.make())

    def pieces(self) -> Iterator[str]:
        return self.make()


BLANK = Line()


class Layout(NamedTuple):
    """Room for a text; None: as much as it takes, which is what a pipe gets."""

    width: int | None = None
    rows: int | None = None


def title(text: str) -> Line:
    """Return a heading."""
    return Line(((text, "title"),))


def aligned(
    rows: Iterable[Sequence[Part]], count: int, hang: str = "    ", most: int = 1 << 30
) -> Iterator[Line]:
    """Write a line per row, its first ``count`` parts as wide as in the other rows.

    Args:
        rows: the parts of each line, with the blanks between them.
        count: parts that are padded; a row may have more, which follow as they are.
        hang: what stands before the rest of a line that is too wide.
        most: columns that a part is padded to at most.
    """
    texts = [tuple(row) for row in rows]
    columns = zip(*(row[:count] for row in texts), strict=True)
    widths = [min(most, max(len(text) for text, _ in column)) for column in columns]
    for row in texts:
        padded = [
            (text.ljust(width), role)
            for (text, role), width in zip(row[:count], widths, strict=True)
        ]
        yield Line((*padded, *row[count:]), hang)
