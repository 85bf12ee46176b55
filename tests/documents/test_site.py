"""The site is built from the same pages, without a warning or a dead link."""

from __future__ import annotations

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from gradcli.answers.pages import ORDER, sections
from gradcli.cli.commands import COMMANDS

from .blocks import ROOT

for needed in ("sphinx", "myst_parser", "furo", "sphinx_copybutton"):
    pytest.importorskip(needed, reason="the site is built by the extra 'site'")


class Links(HTMLParser):
    """What a page leads to, and the names of its places."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.targets.append(value)
            if name == "id" and value:
                self.places.add(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    words = ["-m", "tests.documents.site", str(folder)]
    run = subprocess.run(
        [sys.executable, *words],
        capture_output=True, text=True, cwd=ROOT, check=False,
        env={**os.environ, "COLUMNS": "80"},
    )  # fmt: skip
    assert (run.returncode, run.stdout + run.stderr) == (0, "")
    return folder


def test_every_page_is_there(site: Path) -> None:
    assert all((site / f"{name}.html").is_file() for name in (*ORDER, "index"))
    commands = (site / "commands.html").read_text()
    assert all(f"gradcli {name} [OPTIONS]" in commands for name in COMMANDS)
    places = Links((site / "errors.html").read_text()).places
    codes = [name for name in sections() if name[1:].isdecimal()]
    assert all(any(p.startswith(code.lower()) for p in places) for code in codes)


def test_pictures_are_drawn_and_blocks_copy_what_is_typed(site: Path) -> None:
    text = (site / "pictures.html").read_text()
    drawn = {path.name for path in (site / "drawn").iterdir()}
    assert {
        "light-g.svg",
        "dark-g.svg",
        "light-field.svg",
        "light-worked.html",
    } <= drawn
    assert all(f"drawn/{name}" in text for name in drawn if name[:5] == "light")
    # The button beside a block copies what stands behind its prompts.
    button = (site / "_static" / "copybutton.js").read_text()
    assert all(sign in button for sign in (r"\\$ |>>> |\\.\\.\\. ", "'END'"))
    assert '<span class="gp">$ </span>' in text
    assert (site / "verdicts.html").read_text().count('role="img"') == 6


def test_every_link_leads_somewhere(site: Path) -> None:
    pages = {p: Links(p.read_text()) for p in site.glob("*.html") if p.stem != "404"}
    assert any("verdicts.html" in each.targets for each in pages.values())
    for path, found in pages.items():
        for target in found.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            there = (path.parent / unquote(parts.path)) if parts.path else path
            assert there.exists(), f"{path.name}: {target}"
            if parts.fragment and there in pages:
                assert unquote(parts.fragment) in pages[there].places, target
