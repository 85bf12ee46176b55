"""Themes: the colours of terminals and of pictures, for light and dark grounds.

Invariants: what a role looks like stands here and nowhere else; whether there is colour
at all is decided elsewhere (`writer.py`). "auto" takes the terminal's own colours, and
in pictures what the reader prefers.

    chosen.name = "dark"
    sgr(styles()["bad"])        # "1;38;5;210"
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias, get_args

from .line import Role

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
"""Styles of each theme, in the words of rich; numbered colours are those of the 256 of
terminals, which look alike everywhere."""

_CODES: Final = {
    "bold": "1", "dim": "2", "underline": "4", "red": "31", "green": "32",
    "yellow": "33", "magenta": "35", "cyan": "36",
}  # fmt: skip

SCREEN: Final = "screen and (prefers-color-scheme:dark)"


class _Chosen:
    """A record of the theme that somebody set."""

    name: Theme = "auto"


chosen: Final = _Chosen()


def styles() -> Mapping[Part, str]:
    """Return the styles of the parts in the theme that was chosen."""
    return STYLES[chosen.name]


def sgr(style: str) -> str:
    """Return a style as numbers of a terminal's code."""
    numbered = re.compile(r"color\((\d+)\)")
    return ";".join(
        f"38;5;{found[1]}" if (found := numbered.fullmatch(word)) else _CODES[word]
        for word in style.split()
    )


def coloured(part: Part, text: str) -> str:
    """Return the text between the terminal's codes of a part."""
    return f"\x1b[{sgr(styles()[part])}m{text}\x1b[0m"


def sheet_for(
    theme: Theme, light: str, dark: str, grey: str, *, printed: bool = False
) -> str:
    """Return a style sheet in a theme.

    Args:
        theme: "auto" is light, and dark where the reader's screen is.
        light: all that is needed on white.
        dark: what is different on a dark ground.
        grey: what is different without hues.
        printed: whether it stays light on paper where the theme is dark.
    """
    if theme == "auto":
        return f"{light}@media {SCREEN}{{{dark}}}"
    if theme == "dark":
        return light + (f"@media screen{{{dark}}}" if printed else dark)
    return light + (grey if theme == "none" else "")
