"""Every example of the README, and of pages in Python, prints what is shown."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from tests.documents.blocks import (
    PAGES,
    README,
    ROOT,
    Example,
    examples,
    printed,
    without_seconds,
)

EXAMPLES = list(examples(README.read_text()))
IN_PYTHON = [path for path in PAGES if "```pycon" in path.read_text()]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.command)
def test_readme_shows_what_is_printed(
    example: Example, warm_command: list[str]
) -> None:
    text = printed(example.command, warm_command, ROOT)
    assert without_seconds(text) == without_seconds(example.shown)


def test_readme_has_five_examples_on_a_page() -> None:
    assert len(EXAMPLES) == 5
    assert len(README.read_text().splitlines()) < 200
    assert len(IN_PYTHON) >= 2


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
