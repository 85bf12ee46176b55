"""Slips at the shell are refused with their place, reason and way out, as is an option
that would do nothing; a value that can be read in two ways is told how it was read."""

from __future__ import annotations

import io
import sys
from dataclasses import fields
from pathlib import Path
from typing import Final

import pytest

from gradcli.answers.pages import schema as schema_of
from gradcli.cli.app import run
from gradcli.cli.commands import COMMANDS
from gradcli.cli.defaults import SETTINGS, Setting
from gradcli.cli.group import HELP, command_of
from gradcli.cli.options import SO_ANYWAY, Request
from gradcli.cli.sources import readings

from .examples import ON_PROGRAMS, example, users_of

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
        assert "did the shell expand x*y? put the program in quotes" in err


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


SAID: Final = {
    "verify_seconds": "9", "wrt": "x", "dtype": "float32", "device": "cpu",
}  # fmt: skip


OPPOSITE: Final = {"no_verify": "--verify", "strict": "--no-strict"}
"""What asks for the opposite of what is so anyway."""


def _shared(command: str) -> dict[str, bool]:
    """The options that a command shares with others, and whether its help has them."""
    named = {field.name for field in fields(Request)}
    params = command_of(command).params
    return {p.name: not p.hidden for p in params if p.name in named - {"words"}}


@pytest.mark.parametrize("command", ON_PROGRAMS)
def test_a_shared_option_is_shown_or_refused(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = _shared(command)
    assert set(shown) == {field.name for field in fields(Request)} - {"words"}
    for name in (name for name, seen in shown.items() if not seen):
        option = OPPOSITE.get(name, "--" + name.replace("_", "-"))
        words = [option, SAID[name]] if name in SAID else [option]
        assert run([*example(command), *words]) == 2
        told = f"error[E590]: {option} does nothing: gradcli {command} "
        assert capsys.readouterr().err.startswith(told)


@pytest.mark.parametrize(
    "line", ["value x^2 x=3 -q --no-verify", "plot x^2 x=0..1 --json --strict"]
)
def test_what_is_so_anyway_may_be_asked_for(line: str) -> None:
    assert run(line.split()) == 0


@pytest.mark.parametrize("setting", [s for s in SETTINGS if s.commands != ()])
def test_a_default_stands_in_for_options_that_do_something(setting: Setting) -> None:
    for name in {*ON_PROGRAMS}.intersection(users_of(setting)):
        assert _shared(name).get(setting.name, True) or setting.name in SO_ANYWAY


@pytest.mark.parametrize("command", [c for c in ON_PROGRAMS if c != "graph"])
def test_what_a_command_says_of_verdicts_goes_with_its_options(command: str) -> None:
    """Only what shows verdicts or kinks takes time to look for them."""
    schema = schema_of(f"{command}.json")
    judges = '"verdict"' in schema or '"kinks"' in schema
    assert _shared(command)["verify_seconds"] == judges


READ = {
    "x=1,5": ("two numbers, 1 and 5", "x=1.5"),
    "x=-1,25": ("two numbers", "x=-1.25"),
    "x=1,000": ("2 numbers", "x=1000"),
    "x=1,000,000.5": ("3 numbers", "x=1000000.5"),
    "x=1.000,5": ("two numbers", "x=1000.5"),
    "x=-3^2": ("the negative of 3^2", "x=(-3)^2"),
    "x=-2**0.5": ("the negative of 2**0.5", "x=(-2)**0.5"),
    "x=1e": ("1 times the number e", "2.718"),
}


@pytest.mark.parametrize("word", READ)
def test_a_value_is_told_how_it_was_read(word: str) -> None:
    (told,) = readings([word])
    assert all(text in told for text in READ[word])


@pytest.mark.parametrize(
    "word",
    ["x=1.5", "x=[1,5]", "x=(1,5)", "x=1, 5", "x=1,2,3", "x=(-3)^2", "x=-3", "x=1e5",
     "x=1_000", "x=-x", "x=@a,5.csv", "sin(x)"],
)  # fmt: skip
def test_a_value_that_everybody_reads_alike_has_no_note(word: str) -> None:
    assert [*readings([word])] == []
