"""Errors and notes on a terminal: heads in colour, hints wrapped where they begin."""

from __future__ import annotations

import io

import pytest

from gradcli.answers.writer import remark, suited, wants_colour
from gradcli.lang.errors import ProgramError
from gradcli.lang.parser import parse


def error(source: str) -> str:
    with pytest.raises(ProgramError) as caught:
        parse(source)
    return caught.value.render()


def test_a_pipe_gets_the_text_as_it_is() -> None:
    text = error("xx y")
    assert suited(text, io.StringIO()) == text
    assert remark(text, None, colour=False) == text
    assert remark(text, 200, colour=False) == text


def test_a_hint_goes_on_below_where_it_begins() -> None:
    shown = remark("note: " + "word " * 20, 40, colour=False).splitlines()
    assert shown[0].startswith("note: word")
    assert all(line.startswith("      word") for line in shown[1:])
    assert max(map(len, shown)) <= 40


def test_a_line_to_be_copied_is_not_broken() -> None:
    line = "aaaaaaaaaa + bbbbbbbbbb + cccccccccc y"
    shown = remark(error(line), 60, colour=False).splitlines()
    assert shown[-1].endswith(line.replace(" y", "*y"))
    assert all(part.index("|") == 4 for part in shown[1:])


def test_what_comes_of_a_text_to_be_copied_goes_on_below() -> None:
    text = "note: write abs(x) for sqrt(x^2): that gives the value 1.0, d/dx = 1.0"
    assert remark(text, 50, colour=False).splitlines() == [
        "note: write abs(x) for sqrt(x^2):",
        "      that gives the value 1.0, d/dx = 1.0",
    ]
    assert remark(text, 80, colour=False) == text


def test_a_hint_without_room_begins_a_line_of_its_own() -> None:
    shown = remark(error("a = 1; " * 3 + "bb c"), 40, colour=False).splitlines()
    assert shown[2].strip(" |") == "^^^^"
    assert shown[3].startswith("    |   write")


def test_heads_are_coloured_and_nothing_is_lost() -> None:
    text = error("xx y") + "\nnote: n"
    shown = remark(text, None, colour=True)
    assert "\x1b[1;31merror[E208]:\x1b[0m" in shown
    assert "\x1b[1;36mnote:\x1b[0m n" in shown
    for code in ("\x1b[1;31m", "\x1b[1;36m", "\x1b[0m"):
        shown = shown.replace(code, "")
    assert shown == text


@pytest.mark.parametrize(
    ("terminal", "wishes", "expected"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (False, {"FORCE_COLOR": "1"}, True),
        (True, {"FORCE_COLOR": "0"}, False),
        (True, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (True, {"TERM": "dumb", "FORCE_COLOR": "1"}, True),
        (False, {"CLICOLOR_FORCE": "1"}, True),
        (False, {"CLICOLOR_FORCE": "0"}, False),
        (False, {"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False),
        (False, {"CLICOLOR_FORCE": "1", "FORCE_COLOR": "0"}, False),
    ],
)
def test_who_decides_about_colour(
    terminal: bool, wishes: dict[str, str], expected: bool
) -> None:
    assert wants_colour(terminal, wishes) is expected
