"""The pictures of the README, each drawn by the command that stands above it, and its
page, as Chromium shows it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.pictures.browser import chromium

from .blocks import README, ROOT, printed
from .screenshot import TABLE, table

FOLDER = ROOT / "samples" / "pictures"

PAGE = FOLDER / "page.png"
"""Picture of a page. It is taken where playwright is installed, and is not compared,
because fonts differ."""

SIZE = {"width": 1000, "height": 600}
"""Width and height of the window, in pixels."""

CHOSEN = "MulBackward0, b = w1*a"
"""Beginning of the description of the node that is chosen in it."""

SHOWN = re.compile(r"`(gradcli graph [^`]* -o )page\.html`")
"""Pattern of the command that writes the page, in the README."""

DRAWN = re.compile(r"`(gradcli [^`]* -o )(\w+\.svg)`")
"""Pattern of a command that draws a picture, in the README."""


def pictures(gradcli: Sequence[str]) -> dict[Path, str]:
    """The pictures as the README's commands draw them now, by their files."""
    drawn = {}
    with tempfile.TemporaryDirectory() as folder:
        for command, name in DRAWN.findall(README.read_text()):
            path = Path(folder) / name
            printed(f"{command}{path}", gradcli, ROOT)
            drawn[FOLDER / name] = path.read_text()
    return drawn | {TABLE: table(gradcli)}


def page_picture(gradcli: Sequence[str]) -> bytes | None:
    """The page that the README's command writes, as a browser shows it; None where
    playwright is not installed."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    (command,) = SHOWN.findall(README.read_text())
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        path = Path(folder) / "page.html"
        printed(f"{command}{path}", gradcli, ROOT)
        opened = started.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox"]
        )
        shown = opened.new_page(viewport=SIZE)
        shown.goto(path.as_uri())
        shown.click(f'[aria-label^="{CHOSEN}"]')
        taken: bytes = shown.screenshot()
        opened.close()
    return taken
