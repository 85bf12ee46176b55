"""Every command of every page prints what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradcli.answers.pages import ORDER, page

from .blocks import PAGES, examples, printed, sections, without_seconds

SECTIONS = sections(PAGES)


@pytest.mark.parametrize("name", SECTIONS)
def test_a_page_shows_what_is_printed(
    name: str, warm_command: list[str], tmp_path: Path
) -> None:
    for each in examples(SECTIONS[name]):
        text = printed(each.command, warm_command, tmp_path)
        assert without_seconds(text) == without_seconds(each.shown), each.command


def test_every_page_is_listed_and_says_what_it_is_about() -> None:
    assert {path.stem for path in PAGES} == {*ORDER}
    for name in ORDER:
        assert page(name).text.startswith(f"# {page(name).title}\n\n")
        assert page(name).about.endswith(".")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_commands_fit_on_a_terminal_s_line(path: Path) -> None:
    for each in examples(path.read_text()):
        assert all(len(line) <= 78 for line in each.command.splitlines()), each.command
