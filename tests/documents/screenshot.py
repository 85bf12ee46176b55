"""The pictures of a terminal in the README: commands and what they print.

Invariants: the text is that of real runs, in their colours; the picture names nothing
outside itself, and is the same for the same text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from .blocks import ROOT, printed

PICTURE = ROOT / "gradcli" / "documents" / "terminal.svg"

TITLE = (
    "gradcli in a terminal: gradients with their verdicts, and a derivative worked out "
    "by hand whose slip is named"
)

TABLE = ROOT / "samples" / "pictures" / "table.svg"

TABLE_TITLE = "A table of points, and the same table with values and gradients"

TABLE_COMMANDS = (
    "cat samples/data/points.csv",
    'gradcli grad "loss = (k*x - y)^2" k=2 --wrt k --table samples/data/points.csv',
)

COMMANDS = (
    'gradcli grad "b = w1*a; c = w2*a; d = w3*b + w4*c; L = 10 - d" \\\n'
    "    a=2 w1=0.5 w2=-1.5 w3=3 w4=0.25",
    'gradcli check "y = sin(x^2)" --claim "dy/dx = cos(x^2)"',
)

COLUMNS = 80
CELL, ROW, MARGIN, BAR = 8.4, 19.0, 20.0, 34.0
"""In pixels: a character's width, a line's height, the border, the window's bar."""

COLOURS = {
    "31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79c0ff",
    "35": "#d2a8ff", "36": "#79d7e8",
}  # fmt: skip
FONTS = "Menlo, Consolas, DejaVu Sans Mono, Liberation Mono, monospace"
PAPER, INK, PROMPT = "#0d1117", "#d7dee6", "#8b949e"

_CODE = re.compile(r"\x1b\[([0-9;]*)m")


def taken(gradcli: Sequence[str], folder: Path) -> str:
    """The picture that the README opens with, of what its commands print now."""
    return pictured(gradcli, folder, COMMANDS, TITLE)


def table(gradcli: Sequence[str]) -> str:
    """The picture of a table, as the commands print it now."""
    return pictured(gradcli, ROOT, TABLE_COMMANDS, TABLE_TITLE)


def pictured(
    gradcli: Sequence[str], folder: Path, commands: Sequence[str], title: str
) -> str:
    """The picture of what commands print in a folder."""
    lines: list[str] = []
    for command in commands:
        text = printed(
            command,
            gradcli,
            folder,
            FORCE_COLOR="1",
            TERM="xterm",
            COLUMNS=str(COLUMNS),
        )
        lines += [f"\x1b[2m$\x1b[0m {command}", text]
    return drawn("\n".join(lines).rstrip().split("\n"), title)


def drawn(lines: Sequence[str], title: str = TITLE) -> str:
    """Lines with a terminal's codes of colour as SVG."""
    width = COLUMNS * CELL + 2 * MARGIN
    height = len(lines) * ROW + BAR + MARGIN
    found = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" '
        f'height="{height:g}" viewBox="0 0 {width:g} {height:g}" role="img">',
        f"<title>{title}</title>",
        f'<rect width="{width:g}" height="{height:g}" rx="9" fill="{PAPER}"/>',
        *(
            f'<circle cx="{MARGIN + 18 * i:g}" cy="17" r="5.5" fill="{colour}"/>'
            for i, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
        ),
        f'<g xml:space="preserve" font-size="14" font-family="{FONTS}">',
    ]
    for number, line in enumerate(lines):
        y = BAR + (number + 0.8) * ROW
        found.extend(_texts(line, y))
    return "\n".join([*found, "</g>", "</svg>"]) + "\n"


def _texts(line: str, y: float) -> Iterator[str]:
    """The stretches of a line, each where its column is."""
    spans = [*_spans(line)]
    column = 0
    for number, (text, codes) in enumerate(spans, start=1):
        if shown := text.strip():
            x = MARGIN + (column + text.index(shown)) * CELL
            # Nothing stands behind the last one that it could run into.
            length = f' textLength="{len(shown) * CELL:g}"' * (number < len(spans))
            style = length + _style(codes)
            yield f'<text x="{x:g}" y="{y:g}"{style}>{escape(shown)}</text>'
        column += len(text)
    assert column <= COLUMNS, line


def _spans(line: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The text between codes, with those that hold there."""
    codes: tuple[str, ...] = ()
    at = 0
    for code in _CODE.finditer(line):
        if code.start() > at:
            yield line[at : code.start()], codes
        asked = tuple(filter(None, code[1].split(";")))
        codes = () if asked in ((), ("0",)) else (*codes, *asked)
        at = code.end()
    if line[at:]:
        yield line[at:], codes


def _style(codes: Sequence[str]) -> str:
    colour = next((COLOURS[c] for c in codes if c in COLOURS), INK)
    style = f' fill="{PROMPT if "2" in codes else colour}"'
    style += ' font-weight="bold"' if "1" in codes else ""
    return style + (' text-decoration="underline"' if "4" in codes else "")
