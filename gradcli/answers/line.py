"""Lines of output: stretches of text, each in a role that a terminal may colour.

Invariants: the text alone says everything; colour only repeats it. No text in a line
controls a terminal: what it could obey is escaped where the line is made. A line too
wide for a terminal goes on below, indented by ``hang``; if that is empty, the terminal
breaks the line, so that it can be copied whole.

    Line(("dL/da", "name"), (" = ", "plain"), ("-1.125", "number"))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import ClassVar, Final, Literal, TypeAlias

from ..lang.excerpt import printable

Role: TypeAlias = Literal[
    "plain", "name", "number", "node", "dim", "title", "good", "fair", "bad"
]
Part: TypeAlias = tuple[str, Role]

BREAKS: Final = "\n\t"
"""Characters in a text of several lines that only move on."""


class Line:
    """A line without its line break, or a text of several lines."""

    __slots__ = ("hang", "parts")

    def __init__(self, *parts: Part, hang: str = "    ") -> None:
        self.parts = tuple((printable(text, BREAKS), role) for text, role in parts)
        self.hang = hang

    def pieces(self) -> Iterator[str]:
        return (text for text, _ in self.parts)

    @property
    def text(self) -> str:
        return "".join(self.pieces())


class LongLine(Line):
    """A line too long to be held: ``pieces`` makes its text while it is written, and it
    is never broken."""

    __slots__ = ("pieces",)

    def __init__(self, pieces: Callable[[], Iterator[str]]) -> None:
        super().__init__(hang="")
        shown = lambda: (printable(piece, BREAKS) for piece in pieces())
        self.pieces = shown  # type: ignore[method-assign]


def plain(text: str) -> Line:
    """Return a line in one role, which a terminal breaks where it is too wide."""
    return Line((text, "plain"))


def unbroken(text: str) -> Line:
    """Return a line that is not broken, so that it can be copied from a terminal."""
    return Line((text, "plain"), hang="")


BLANK = Line()


class Layout:
    """The room for a text in columns and rows; None, as in a pipe: no limit.

    cut     whether anything was left out to fit
    digits  the significant digits of shown numbers; None: all
    """

    digits: ClassVar[int | None] = None

    def __init__(
        self, width: int | None = None, rows: int | None = None, cut: bool = False
    ) -> None:
        self.width = width
        self.rows = rows
        self.cut = cut


def title(text: str) -> Line:
    """Return a heading."""
    return Line((text, "title"))


def dim(text: str) -> Line:
    """Return a remark, which is shown dimmer than the text it belongs to."""
    return Line((text, "dim"))


def aligned(
    rows: Iterable[Sequence[Part]], count: int, hang: str = "    ", most: int = 1 << 30
) -> Iterator[Line]:
    """Yield a line per row; its first ``count`` parts are as wide as in the other rows,
    up to ``most`` columns, and the others follow as they are. ``hang`` is the
    indentation of the rest of a line that is too wide."""
    texts = [tuple(row) for row in rows]
    columns = zip(*(row[:count] for row in texts), strict=True)
    widths = [min(most, max(len(text) for text, _ in column)) for column in columns]
    for row in texts:
        padded = [
            (text.ljust(width), role)
            for (text, role), width in zip(row[:count], widths, strict=True)
        ]
        yield Line(*padded, *row[count:], hang=hang)
