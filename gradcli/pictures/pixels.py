"""Pictures as PNG, converted from SVG by resvg.

to_png(document)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from math import sqrt
from typing import Final

from ..lang.errors import ProgramError
from ..ops.checks import LIMIT

SCALE: Final = 2.0
"""Pixels of a PNG per unit of the picture, so that it is sharp on fine screens."""

PIXELS_PER_BYTE: Final = 1 / 24
"""Pixels of a PNG for each byte of the limit on memory. A pixel takes four bytes; the
rest of the limit is left to the program."""

LETTER: Final = """<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">
<text y="9" style="{}">M</text></svg>"""
"""A picture of a letter in a font, which is empty where the system lacks the font."""


def to_png(document: str, warn: Callable[[str], object] = lambda text: None) -> bytes:
    """Return a picture as the bytes of a PNG file.

    Args:
        document: the picture as SVG.
        warn: called with a sentence if the resolution is lower than usual.

    Raises:
        ProgramError: the system has none of the picture's fonts.
    """
    from resvg_py import svg_to_bytes

    font = re.search("font-family:[^;}]*", document)
    letter = LETTER.format("" if font is None else escape(font[0], quote=True))
    if font and svg_to_bytes(letter) == svg_to_bytes(letter, skip_system_fonts=True):
        hint = "install fonts-dejavu, or write a .svg, which needs no font"
        raise ProgramError("E595", "a PNG needs a font, and there is none", hint=hint)
    sides = re.findall('(?:width|height)="([0-9.]+)"', document)
    width, height = map(float, sides[:2])
    scale = min(SCALE, sqrt(LIMIT.bytes * PIXELS_PER_BYTE / (width * height)))
    if scale < SCALE:
        warn(
            f"the picture has {scale / SCALE:.0%} of the usual resolution, for its "
            "size: a .svg is sharp, and --max-memory allows more"
        )
    return svg_to_bytes(document, zoom=scale)
