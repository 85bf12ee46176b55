"""A picture as PNG or PDF, converted from its SVG by cairosvg.

converted(document, ".png")
undrawn("y = x*2")          # "": every letter is drawn rightly
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from math import sqrt
from typing import Final

from ...lang.errors import ProgramError
from ...ops.checks import LIMIT

SCALE: Final = 2.0
"""Pixels of a PNG per unit of the picture, so that it is sharp on fine screens."""

MISSING: Final = (
    "a PNG or PDF needs cairosvg: pip install '.[pictures]' in a clone of gradcli; "
    "a .svg needs it not"
)

MAX_PIXELS: Final = 30_000
"""Largest width or height of an image that Cairo can make, in pixels."""


PIXELS_PER_BYTE: Final = 1 / 24
"""Pixels of a PNG for each byte of the limit on memory. A pixel takes four bytes; the
rest of the limit is left to the program."""


def converted(
    document: str, suffix: str, tell: Callable[[str], object] = lambda text: None
) -> bytes:
    """Return a picture as the bytes of a file with this suffix.

    Args:
        tell: called with a sentence if the resolution is lower than usual.

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
    scale = 1.0
    if suffix == ".png":
        sides = re.findall('(?:width|height)="([0-9.]+)"', document)
        width, height = map(float, sides[:2])
        pixels = LIMIT.bytes * PIXELS_PER_BYTE
        fitting = min(MAX_PIXELS / max(width, height), sqrt(pixels / (width * height)))
        scale = min(SCALE, fitting)
        if scale < SCALE:
            tell(
                f"the picture has {scale / SCALE:.0%} of the usual resolution, for its "
                "size: a .svg or a .pdf is sharp, and --max-memory allows more"
            )
    made: bytes = draw(bytestring=document.encode(), scale=scale)
    return made


def undrawn(text: str) -> str:
    """Return the first letter of a text that may be drawn wrongly, or nothing: cairosvg
    uses one font at a time, joins no letters and writes only from left to right."""
    for letter in text:
        leftwards = unicodedata.bidirectional(letter) in ("R", "AL")
        wide = unicodedata.east_asian_width(letter) in ("W", "F")
        joined = unicodedata.category(letter) in ("Mn", "Mc")
        if leftwards or wide or joined:
            return letter
    return ""
