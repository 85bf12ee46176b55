"""Every example of the README, and of pages in Python, prints what is shown."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from tests.pages.blocks import ROOT, Example, examples, printed, without_seconds

README = ROOT / "README.md"
EXAMPLES = list(examples(README.read_text()))
IN_PYTHON = [README, *sorted((ROOT / "gradcli" / "documents").glob("py*.md"))]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.command)
def test_readme_shows_what_is_printed(
    example: Example, warm_command: list[str]
) -> None:
    text = printed(example.command, warm_command, ROOT)
    assert without_seconds(text) == without_seconds(example.shown)


def test_readme_has_examples() -> None:
    assert len(EXAMPLES) >= 10


@pytest.mark.parametrize("path", IN_PYTHON, ids=lambda path: path.stem)
def test_python_prints_what_a_page_shows(path: Path) -> None:
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    failed, tried = doctest.testfile(
        str(path), module_relative=False, optionflags=flags
    )
    assert (failed, tried >= 5) == (0, True)
