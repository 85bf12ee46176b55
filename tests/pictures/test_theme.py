"""Themes: legible on their ground, without hues where none are wanted, and the same in
terminals and in pictures."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import get_args

import pytest

from gradcli.answers.line import STYLES, THEMES, Line, Role, Theme, chosen, sgr
from gradcli.answers.terminal import TerminalWriter
from gradcli.answers.writer import remark
from gradcli.pictures.page import page
from gradcli.pictures.picture import Picture
from gradcli.pictures.pixels import to_png
from gradcli.pictures.plot import COLOURS, ON_DARK
from gradcli.pictures.svg import svg, whole

GROUNDS = {"light": ["#ffffff", "#fdf6e3"], "dark": ["#000000", "#1e1e1e"]}
"""What terminals have behind their text; the second is less sharp."""

LEGIBLE = 4.5
"""The least contrast of text that one can read, by the guidelines for the web."""

SEEN = 3.0
"""The least contrast of a line."""


@pytest.fixture(autouse=True)
def unchosen() -> Iterator[None]:
    yield
    chosen.name = "auto"


def rgb(number: int) -> tuple[int, ...]:
    """A colour of a terminal's 256."""
    if number >= 232:
        return (8 + 10 * (number - 232),) * 3
    levels = (0, 95, 135, 175, 215, 255)
    return tuple(levels[(number - 16) // each % 6] for each in (36, 6, 1))


def light_of(colour: tuple[int, ...]) -> float:
    parts = (c / 255 for c in colour)
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts
    ]
    return sum(a * b for a, b in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    low, high = sorted((light_of(one), light_of(other)))
    return (high + 0.05) / (low + 0.05)


def hexed(text: str) -> tuple[int, ...]:
    return tuple(int(text[i : i + 2], 16) for i in (1, 3, 5))


@pytest.mark.parametrize("theme", GROUNDS)
def test_every_colour_is_legible_on_its_ground(theme: Theme) -> None:
    for part, style in STYLES[theme].items():
        for number in re.findall(r"color\((\d+)\)", style):
            for ground in GROUNDS[theme]:
                assert contrast(rgb(int(number)), hexed(ground)) >= LEGIBLE, part
    lines, paper = (COLOURS, "#ffffff") if theme == "light" else (ON_DARK, "#14181e")
    assert all(contrast(hexed(each), hexed(paper)) >= SEEN for each in lines)


def test_every_theme_says_how_every_part_looks() -> None:
    for theme in THEMES:
        assert {*get_args(Role), "note", "code"} == {*STYLES[theme]}
    styles = STYLES["none"].values()
    weights = {code for style in styles for code in sgr(style).split(";")}
    assert weights == {"", "1", "2", "4"}


def drawn(theme: Theme) -> str:
    chosen.name = theme
    stream = io.StringIO()
    writer = TerminalWriter(stream, None, True)
    writer.lines([Line(("wrong", "bad"), (" name", "name"))])
    writer.page("# Head\n\n- a `word`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    return stream.getvalue() + remark("error[E101]: x\nnote: y", None, colour=True)


def test_a_terminal_and_its_remarks_have_the_theme_s_colours() -> None:
    auto, dark, none = drawn("auto"), drawn("dark"), drawn("none")
    assert "\x1b[1;31mwrong\x1b[0m\x1b[36m name\x1b[0m" in auto
    assert "\x1b[1;38;5;210mwrong\x1b[0m\x1b[38;5;117m name\x1b[0m" in dark
    assert "\x1b[1;38;5;210merror[E101]:\x1b[0m" in dark
    assert "\x1b[1mwrong\x1b[0m name" in none
    codes = re.findall(r"\x1b\[([\d;]*)m", none)
    assert {part for code in codes for part in code.split(";")} <= {"0", "1", "2", "4"}
    texts = {re.sub(r"\x1b\[[\d;]*m", "", each) for each in (auto, dark, none)}
    assert len(texts) == 1


def test_a_picture_is_light_or_dark_or_as_its_reader_likes(five: Picture) -> None:
    documents = {t: whole(svg(five, heated=True, theme=t)) for t in THEMES}
    wishes = {t: "prefers-color-scheme" in text for t, text in documents.items()}
    assert wishes == {"auto": True, "light": False, "dark": False, "none": False}
    papers = {t: re.findall(r"\.paper{fill:(#\w+)}", documents[t]) for t in THEMES}
    assert papers["light"] == papers["none"] == ["#ffffff"]
    assert papers["dark"] == ["#ffffff", "#14181e"]
    # A dark page is light on paper.
    text = whole(page(five, "dark"))
    assert "prefers-color-scheme" not in text
    assert text.count("@media screen{") == 2


def last_colours(document: str) -> set[str]:
    """The colours of each rule's last say."""
    style = document.split("<style>")[1].split("</style>")[0]
    found: dict[tuple[str, str], str] = {}
    for names, body in re.findall(r"([^{}]+){([^{}]*)}", style):
        for name in names.split(","):
            for key, colour in re.findall(r"([\w-]+):(#\w{6})\b", body):
                found[name.strip(), key] = colour
    return {*found.values()}


def test_without_hues_all_is_grey(five: Picture) -> None:
    for document in (whole(svg(five, True, "none")), whole(page(five, "none"))):
        for colour in last_colours(document):
            assert len({*hexed(colour)}) == 1, colour


def test_a_png_has_the_theme_s_ground(five: Picture) -> None:
    image = pytest.importorskip("PIL.Image")
    for theme, ground in (("auto", (255,) * 3), ("dark", hexed("#14181e"))):
        content = to_png(whole(svg(five, theme=theme)))
        with image.open(io.BytesIO(content)) as found:
            assert found.convert("RGB").getpixel((2, 2)) == ground
