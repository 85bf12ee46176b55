"""The README's picture shows what is printed."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from .blocks import ROOT, without_seconds
from .screenshot import PICTURE, drawn, taken

SVG = "{http://www.w3.org/2000/svg}"


def test_the_picture_shows_what_is_printed(
    warm_command: list[str], tmp_path: Path
) -> None:
    now = without_seconds(taken(warm_command, tmp_path))
    assert now == without_seconds(PICTURE.read_text()), (
        "python -m tests.documents.record"
    )


def test_the_readme_shows_the_picture() -> None:
    name = PICTURE.relative_to(ROOT).as_posix()
    assert f"]({name})" in (ROOT / "README.md").read_text()


def test_stretches_stand_in_their_columns_and_colours() -> None:
    root = ElementTree.fromstring(drawn(["a\x1b[1;31m<b>\x1b[0m c"]))
    a, b, c = root.iter(f"{SVG}text")
    assert (a.text, b.text, c.text) == ("a", "<b>", "c")
    step = float(b.attrib["x"]) - float(a.attrib["x"])
    assert float(c.attrib["x"]) - float(b.attrib["x"]) == pytest.approx(4 * step)
    assert (b.attrib["font-weight"], "font-weight" in a.attrib) == ("bold", False)
    assert len({each.attrib["fill"] for each in (a, b, c)}) == 2
