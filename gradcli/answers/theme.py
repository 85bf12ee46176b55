"""Themes: the colours of terminals and of pictures, for light and dark grounds.

Invariants: the look of a role is defined only here; whether there is colour at all is
decided in `writer.py`. "auto" takes the terminal's own colours, and in pictures those
that the reader's screen prefers.

    chosen.name = "dark"
    sgr(styles()["bad"])        # "1;38;5;210"
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from .line import Role

if TYPE_CHECKING:
    from rich.theme import Theme as RichTheme

Theme: TypeAlias = Literal["auto", "light", "dark", "none"]

THEMES: Final[tuple[Theme, ...]] = get_args(Theme)

Part: TypeAlias = Role | Literal["note", "code"]
"""Part of a text that has a look: a role, a note's head, a word to be typed."""

_WEIGHT: Final[dict[Part, str]] = {
    "plain": "", "name": "", "number": "bold", "node": "", "dim": "dim",
    "title": "bold underline", "good": "", "fair": "", "bad": "bold", "note": "bold",
    "code": "",
}  # fmt: skip
"""Styles that make a part stand out without a hue."""

STYLES: Final[Mapping[Theme, Mapping[Part, str]]] = {
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


def styles() -> Mapping[Part, str]:
    """Return the styles of the parts in the theme that is in use."""
    return STYLES[chosen.name]


def sgr(style: str) -> str:
    """Return the numbers of a style in a terminal's escape code."""
    numbered = re.compile(r"color\((\d+)\)")
    return ";".join(
        f"38;5;{found[1]}" if (found := numbered.fullmatch(word)) else _CODES[word]
        for word in style.split()
    )


def coloured(part: Part, text: str) -> str:
    """Return the text between the escape codes of a part's style."""
    return f"\x1b[{sgr(styles()[part])}m{text}\x1b[0m"


def for_rich() -> RichTheme:
    """Return the look of what rich draws itself: pages, in which code has no background
    of its own, and bars."""
    from rich.theme import Theme as RichTheme

    looks = styles()
    parts: dict[Part, str] = {
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
