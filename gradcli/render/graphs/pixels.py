"""A picture as PNG or PDF, made of its SVG by cairosvg.

converted(document, ".png")
undrawn("y = x*2")          # "", and of Hebrew its first letter
"""

from __future__ import annotations

import unicodedata
from typing import Final

from ...lang.errors import ProgramError

SCALE: Final = 2.0
"""Pixels of a PNG per unit of the picture, so that it is sharp on fine screens."""

MISSING: Final = (
    "a PNG or PDF needs cairosvg: pip install cairosvg, or gradcli with its extra "
    "'pictures'; a .svg needs it not"
)

MAX_PIXELS: Final = 30_000
"""Cairo makes no image that is larger in one direction."""


def converted(document: str, suffix: str) -> bytes:
    """The bytes of a file that ends so.

    Raises:
        ImportError: cairosvg is missing.
        ProgramError: the system's library cairo is missing, which cairosvg loads.
    """
    try:
        import cairosvg
    except ImportError as error:
        raise ImportError(MISSING) from error
    except OSError as error:
        message = "a PNG or PDF needs the system's library cairo"
        hint = "install it (libcairo2, or brew install cairo); a .svg needs it not"
        raise ProgramError("E595", message, hint=hint) from error
    draw = cairosvg.svg2pdf if suffix == ".pdf" else cairosvg.svg2png
    largest = max(map(float, _sizes(document)))
    scale = min(SCALE, MAX_PIXELS / largest) if suffix == ".png" else 1.0
    found: bytes = draw(bytestring=document.encode(), scale=scale)
    return found


def undrawn(text: str) -> str:
    """The first letter of a text that may be drawn wrongly, or nothing: cairosvg has
    one font at a time, joins no letters and writes from left to right alone."""
    for letter in text:
        leftwards = unicodedata.bidirectional(letter) in ("R", "AL")
        wide = unicodedata.east_asian_width(letter) in ("W", "F")
        joined = unicodedata.category(letter) in ("Mn", "Mc")
        if leftwards or wide or joined:
            return letter
    return ""


def _sizes(document: str) -> tuple[str, str]:
    head = document[: document.index(">")]
    return head.split('width="')[1].split('"')[0], head.split('height="')[1].split('"')[
        0
    ]
