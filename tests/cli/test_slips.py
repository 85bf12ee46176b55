"""Slips at the shell: each is refused with its place, its reason and the way out."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from gradcli.cli.app import run
from gradcli.cli.commands import COMMANDS
from gradcli.cli.group import HELP
from gradcli.cli.options import command_of

Captured = pytest.CaptureFixture[str]

MAX_EXAMPLE = 76
"""Columns of a line of help on a terminal of eighty, without its margin."""


def test_names_of_files_in_the_place_of_a_star_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("y = x")
    assert run(["value", "a.txt", "x=2"]) == 2
    assert "to read it: -f a.txt" in capsys.readouterr().err
    assert run(["value", "x^2", "a.txt"]) == 2
    assert "to read the file as a value, write x=@a.txt" in capsys.readouterr().err
    (tmp_path / "data.csv").write_text("1\n")
    for words in (["a.txt", "data.csv", "x=2"], ["2", "a.txt", "data.csv", "x", "x=2"]):
        assert run(["value", *words]) == 2
        err = capsys.readouterr().err
        assert "a.txt and data.csv are names of files" in err
        assert "quote the program" in err


def test_a_session_without_input_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradcli.cli.keyboard import typed

    monkeypatch.setattr(sys, "stdin", None)
    assert [*typed(lambda text: ("", []), lambda text: False)] == []
    monkeypatch.setattr(sys, "stdin", io.StringIO("x = 3\n"))
    assert [*typed(lambda text: ("", []), lambda text: False)] == ["x = 3"]


@pytest.mark.parametrize("name", [*COMMANDS, ""])
def test_an_example_stands_on_one_line_of_help(name: str) -> None:
    text = command_of(name).help if name else HELP
    examples = [line for line in text.split("\n\n") if "Example:" in line]
    assert examples
    for each in examples:
        assert len(each.strip()) <= MAX_EXAMPLE, each
