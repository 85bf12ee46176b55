"""Lines of output: stretches of text, each in a role that a terminal may colour; and
the themes, which are the colours of terminals and of pictures.

Invariants: the text alone says everything; colour only repeats it. No text in a line
controls a terminal: what it could obey is escaped where the line is made. A line too
wide for a terminal goes on below, indented by ``hang``; if that is empty, the terminal
breaks the line, so that it can be copied whole. The look of a role is defined only in
the themes; "auto" takes the terminal's own colours, and in pictures those that the
reader's screen prefers.

    Line(("dL/da", "name"), (" = ", "plain"), ("-1.125", "number"))
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias, get_args

from ..lang.excerpt import printable

if TYPE_CHECKING:
    from rich.theme import Theme as RichTheme

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


Theme: TypeAlias = Literal["auto", "light", "dark", "none"]

THEMES: Final[tuple[Theme, ...]] = get_args(Theme)

StyleName: TypeAlias = Role | Literal["note", "code"]
"""Part of a text that has a look: a role, a note's head, a word to be typed."""

_WEIGHT: Final[dict[StyleName, str]] = {
    "plain": "", "name": "", "number": "bold", "node": "", "dim": "dim",
    "title": "bold underline", "good": "", "fair": "", "bad": "bold", "note": "bold",
    "code": "",
}  # fmt: skip
"""Styles that make a part stand out without a hue."""

STYLES: Final[Mapping[Theme, Mapping[StyleName, str]]] = {
    "auto": {
        **_WEIGHT, "name": "cyan", "node": "magenta", "good": "green",
        "fair": "yellow", "bad": "bold red", "note": "bold cyan", "code": "cyan",
    },
    "light": {
        **_WEIGHT, "name": "color(25)", "node": "color(90)", "dim": "color(240)",
        "good": "color(22)", "fair": "color(94)", "bad": "bold color(124)",
        "note": "bold color(25)", "code": "color(25)",
    },
    "dark": {
        **_WEIGHT, "name": "color(117)", "node": "color(176)", "dim": "color(248)",
        "good": "color(114)", "fair": "color(221)", "bad": "bold color(210)",
        "note": "bold color(117)", "code": "color(117)",
    },
    "none": _WEIGHT,
}  # fmt: skip
"""Styles of each theme, in rich's notation; numbered colours are from the palette of
256, which looks alike in all terminals."""

_CODES: Final = {
    "bold": "1", "dim": "2", "underline": "4", "red": "31", "green": "32",
    "yellow": "33", "magenta": "35", "cyan": "36",
}  # fmt: skip


class _Chosen:
    """The theme that is in use."""

    name: Theme = "auto"


chosen: Final = _Chosen()


def styles() -> Mapping[StyleName, str]:
    """Return the styles of the parts in the theme that is in use."""
    return STYLES[chosen.name]


def sgr(style: str) -> str:
    """Return the numbers of a style in a terminal's escape code."""
    numbered = re.compile(r"color\((\d+)\)")
    return ";".join(
        f"38;5;{found[1]}" if (found := numbered.fullmatch(word)) else _CODES[word]
        for word in style.split()
    )


def coloured(part: StyleName, text: str) -> str:
    """Return the text between the escape codes of a part's style."""
    return f"\x1b[{sgr(styles()[part])}m{text}\x1b[0m"


def for_rich() -> RichTheme:
    """Return the look of what rich draws itself: pages, in which code has no background
    of its own, and bars."""
    from rich.theme import Theme as RichTheme

    looks = styles()
    parts: dict[StyleName, str] = {
        "code": "markdown.code",
        "node": "markdown.block_quote",
        "name": "markdown.item.number markdown.list markdown.table.border "
        "markdown.table.header bar.complete bar.pulse",
        "dim": "bar.back progress.remaining",
        "good": "bar.finished",
        "number": "progress.download",
    }
    pairs = ((word, part) for part, words in parts.items() for word in words.split())
    return RichTheme({word: looks[part] for word, part in pairs})
