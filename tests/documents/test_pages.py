"""What the pages, the README and its picture show is what is printed, and their tables
are true."""

from __future__ import annotations

import doctest
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from gradcli.answers.pages import ORDER, page, section
from gradcli.functions.torch_names import PLACES, Placeholder, counterpart, missing

from .blocks import (
    PAGES,
    README,
    ROOT,
    Example,
    comparable,
    examples,
    printed,
    sections,
    without_seconds,
)
from .pictures import FOLDER, PAGE, pictures
from .screenshot import PICTURE, drawn, taken

SVG = "{http://www.w3.org/2000/svg}"
SECTIONS = sections(PAGES)
EXAMPLES = list(examples(README.read_text()))
IN_PYTHON = [path for path in PAGES if "```pycon" in path.read_text()]
WITHOUT_EXAMPLE = {
    "E398": "no operation is left that cannot be written",
    "E401": "it takes seconds",
    "E599": "it would be a mistake in gradcli",
}


@pytest.mark.parametrize("name", SECTIONS)
def test_a_page_shows_what_is_printed(
    name: str, warm_command: list[str], tmp_path: Path
) -> None:
    for each in examples(SECTIONS[name]):
        text = printed(each.command, warm_command, tmp_path)
        found, meant = (comparable(each.command, t) for t in (text, each.shown))
        assert found == meant, each.command


def test_every_page_is_listed_and_says_what_it_is_about() -> None:
    assert {path.stem for path in PAGES} == {*ORDER}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.command)
def test_readme_shows_what_is_printed(
    example: Example, warm_command: list[str]
) -> None:
    text = printed(example.command, warm_command, ROOT)
    assert without_seconds(text) == without_seconds(example.shown)


def test_readme_has_pictures_and_seven_examples_on_a_page() -> None:
    shown = [PICTURE, *sorted(FOLDER.iterdir())]
    assert len(shown) == 5
    for path in shown:
        assert f"]({path.relative_to(ROOT).as_posix()})" in README.read_text()
    assert len(EXAMPLES) == 7
    assert len(README.read_text().splitlines()) < 200
    assert len(IN_PYTHON) >= 2


def test_the_pictures_are_what_the_commands_above_them_draw(
    warm_command: list[str],
) -> None:
    drawn = pictures(warm_command)
    assert {*drawn, PAGE} == {*FOLDER.iterdir()}
    for path, text in drawn.items():
        assert path.read_text() == text, "python -m tests.documents.record pictures"


def test_the_picture_shows_what_is_printed(
    warm_command: list[str], tmp_path: Path
) -> None:
    now = without_seconds(taken(warm_command, tmp_path))
    kept = without_seconds(PICTURE.read_text())
    assert now == kept, "python -m tests.documents.record"


def test_stretches_of_the_picture_stand_in_their_columns_and_colours() -> None:
    root = ElementTree.fromstring(drawn(["a\x1b[1;31m<b>\x1b[0m c"]))
    a, b, c = root.iter(f"{SVG}text")
    assert (a.text, b.text, c.text) == ("a", "<b>", "c")
    step = float(b.attrib["x"]) - float(a.attrib["x"])
    assert float(c.attrib["x"]) - float(b.attrib["x"]) == pytest.approx(4 * step)
    assert (b.attrib["font-weight"], "font-weight" in a.attrib) == ("bold", False)
    assert len({each.attrib["fill"] for each in (a, b, c)}) == 2


@pytest.mark.parametrize("path", IN_PYTHON, ids=lambda path: path.stem)
def test_python_prints_what_a_page_shows(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    failed, tried = doctest.testfile(
        str(path), module_relative=False, optionflags=flags
    )
    assert (failed, tried >= 5) == (0, True)


CODES = [*re.findall(r"(?m)^## (E\d{3}): ", page("errors").text)]


def test_every_error_s_code_in_the_source_is_listed() -> None:
    sources = (path.read_text() for path in (ROOT / "gradcli").rglob("*.py"))
    assert {c for text in sources for c in re.findall(r'"(E\d{3})"', text)} == {*CODES}


@pytest.mark.parametrize("code", CODES)
def test_a_code_has_an_example_that_gives_it_and_one_that_mends_it(code: str) -> None:
    text = section(code)
    assert text is not None
    assert text.splitlines()[0].startswith(f"## {code}: ")
    shown = [each.shown for each in examples(text) if each.shown]
    if code in WITHOUT_EXAMPLE:
        assert shown == []
        assert "no example" in text.replace("\n", " ")
        return
    wrong, mended = shown
    assert f"error[{code}]" in wrong
    assert mended
    assert "error[" not in mended


def covered(column: int) -> Iterator[str]:
    """Names of PyTorch's that a column of the table of what is covered shows."""
    table = page("pytorch").text.partition("## What is covered")[2]
    for row in table.partition("\n## ")[0].splitlines():
        cells = row.split("|")[1:-1]
        if len(cells) == 3 and "---" not in row:
            yield from re.findall(r"`([A-Za-z]\w*(?:\.\w+)*)`", cells[column])


def lack_of(name: str) -> str | None:
    """The sentence about a name of PyTorch's that gradcli lacks; None if it has it."""
    value: Any = counterpart(name.partition(".")[0])
    for whole in itertools.accumulate(name.split("."), "{}.{}".format):
        if "." in whole:
            below = getattr(value, whole.rpartition(".")[2], None)
            value = counterpart(whole) if below is None else below
        if value is None or (isinstance(value, Placeholder) and whole not in PLACES):
            return missing(whole)
    return None


@pytest.mark.parametrize("name", sorted({*covered(0), *covered(1)}))
def test_what_is_said_to_be_here_is(name: str) -> None:
    assert lack_of(f"torch.{name}") is None


@pytest.mark.parametrize("name", sorted({*covered(2)}))
def test_what_is_said_not_to_be_here_is_refused_in_one_sentence(name: str) -> None:
    said = lack_of(name if name == "functorch" else f"torch.{name}")
    assert said is not None
    assert name in said
    assert "\n" not in said
