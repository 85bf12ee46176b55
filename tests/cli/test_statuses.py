"""Exit statuses, and what stands on stderr with each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradcli.lang.errors import ProgramError

from .conftest import Run

BAD_COMMAND_LINES = {
    "no command of that name": (["grdd", "x"], "did you mean 'grad'?"),
    "an expression for a command": (["-x**2", "x=3"], "gradcli grad EXPR"),
    "a mistyped option": (["grad", "x**2", "x=3", "--jsn"], "did you mean '--json'?"),
    "an unknown short option": (["grad", "x**2", "x=3", "-z"], "-z"),
    "an option without its value": (["grad", "x", "x=1", "--of"], "needs a value"),
    "a value out of range": (["grad", "x", "x=1", "--seed", "-1"], "--seed"),
    "an unknown device": (["grad", "x", "x=1", "--device", "tpu"], "--device"),
    "no program": (["grad"], "gradcli grad"),
    "a file that does not exist": (["grad", "-f", "missing.grad"], "there is no file"),
    "a folder": (["grad", "-f", "."], "directory"),
    "an argument that binds nothing": (["grad", "x**2", "x=3", "y"], "y=3"),
    "a comparison for a binding": (["grad", "x**2", "x==3"], "x=3"),
    "no operation of that name": (["ops", "tahn"], "did you mean 'tanh'?"),
    "blanks around '='": (["grad", "x**2", "x", "=", "3"], "x=3, without blanks"),
    "a word too many": (["ops", "sin", "cos"], "too many words: cos"),
    "a claim without --claim": (["check", "x", "d/dx=1"], '--claim "d/dx=1"'),
}


@pytest.mark.parametrize("case", BAD_COMMAND_LINES)
def test_a_wrong_command_line_is_2_and_says_the_way_out(
    gradcli: Run, case: str
) -> None:
    args, expected = BAD_COMMAND_LINES[case]
    ended = gradcli(*args)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("error[E5")
    assert expected in ended.err


def test_a_wrong_program_is_3_with_a_caret(gradcli: Run) -> None:
    ended = gradcli("grad", "y = tahn(x)", "x=1", "--no-verify")
    assert ended.status == 3
    assert ended.err == (
        "error[E101]: unknown name 'tahn'\n"
        "  1 | y = tahn(x)\n"
        "    |     ^^^^ did you mean 'tanh'?\n"
    )


@pytest.mark.parametrize("command", ["hessian", "descend"])
def test_ways_out_of_a_vector_are_those_of_the_command(
    gradcli: Run, command: str
) -> None:
    ended = gradcli(command, "x**2", "x=[1, 2]")
    assert ended.status == 3
    assert "shape [2]: add .sum(), or choose one entry, as [0]\n" in ended.err


def test_a_size_is_told_as_it_was_given(gradcli: Run) -> None:
    big = "ones(10000, 10000).sum()*x"
    ended = gradcli("grad", big, "x=2", "--max-memory", "300MB", "--no-verify")
    assert ended.status == 4
    assert "needs 800 MB, more than the 300 MB allowed" in ended.err


def test_with_json_the_error_is_an_object_on_stderr(gradcli: Run) -> None:
    ended = gradcli("grad", "y = tahn(x)", "x=1", "--no-verify", "--json")
    assert (ended.status, ended.out) == (3, "")
    told = json.loads(ended.err)
    assert told["schema"] == "gradcli/1"
    assert told["error"]["code"] == "E101"
    assert (told["error"]["line"], told["error"]["column"]) == (1, 5)
    usage = json.loads(gradcli("grad", "x", "x=1", "--json", "--nope").err)
    assert usage["error"]["code"] == "E591"


def test_an_output_without_inputs_has_no_gradient(gradcli: Run) -> None:
    ended = gradcli("grad", "2 + 3", "--no-verify")
    assert ended.status == 3
    assert "does not depend on any input" in ended.err


def test_a_limit_is_4(gradcli: Run) -> None:
    ended = gradcli("grad", "eye(10**6) * x", "x=1", "--no-verify")
    assert ended.status == 4
    assert ended.err.startswith("error[E4")


def test_a_jacobian_too_large_for_memory_is_4(gradcli: Run) -> None:
    ended = gradcli("jacobian", "cumsum(x, 0)", "x=ones(20000)", "--no-verify")
    assert ended.status == 4
    assert ended.err.startswith("error[E403]")


@pytest.mark.parametrize("args", [["--version"], ["-h"], ["grad", "--help"], []])
def test_help_and_version_are_0_and_on_stdout(gradcli: Run, args: list[str]) -> None:
    ended = gradcli(*args)
    assert ended.status == 0
    assert ended.out
    assert ended.err == ""


def test_the_help_page_names_every_command(gradcli: Run) -> None:
    out = gradcli().out
    for command in ("grad", "graph", "jacobian", "hessian", "ops"):
        assert f"\n  {command} " in out


def test_a_program_that_is_not_utf8_is_2(gradcli: Run) -> None:
    ended = gradcli("grad", "-", "x=1", stdin=b"y = x\n# \xff\n")
    assert ended.status == 2
    assert "not UTF-8: byte 0xff in line 2" in ended.err


def test_control_characters_are_shown_escaped(gradcli: Run, tmp_path: Path) -> None:
    ended = gradcli("grad", "y = x # \x1b[31m\n + \x1b]0;t\x07", "x=1", "--no-verify")
    assert ended.status == 3
    assert "\x1b" not in ended.out + ended.err
    assert "\\x1b" in ended.err
    named = gradcli("grad", "-f", "no\x1b[31mfile")
    assert "\x1b" not in named.err
    option = gradcli("grad", "x", "x=1", "--\x1b[31m")
    assert "\x1b" not in option.err


def test_debug_shows_the_traceback_of_a_program_error(gradcli: Run) -> None:
    ended = gradcli("grad", "tahn(x)", "x=1", "--debug", "--no-verify")
    assert ended.status == 3
    assert "Traceback" in ended.err
    assert "error[E101]" in ended.err


WAYS_OUT = {
    "a word for the help page": (["-help"], "gradcli --help"),
    "a word for the version": (["-v"], "gradcli --version"),
    "a seed that is no number": (
        ["grad", "x", "x=1", "--seed", "q"], "'q' is not an integer of at least 0",
    ),
    "too many digits": (["grad", "x", "--digits", "5000"], "integer from 1 to"),
    "endless checking": (["grad", "x", "--verify-seconds", "inf"], "from 0 to 86400"),
    "no number of seconds": (["grad", "x", "--verify-seconds", "nan"], "nan is not"),
    "no number for a radius": (["kinks", "x", "--radius", "nan"], "nan is not"),
    "a program's file": (["grad", "a.grad"], "to read it: -f a.grad"),
    "a mistyped file": (["grad", "-f", "b.grad"], "did you mean 'a.grad'?"),
    "a file and a program": (["grad", "-f", "a.grad", "x**2"], "two programs"),
    "another alphabet": (["grad", "\u0445", "x=3"], "U+0445"),
}  # fmt: skip


@pytest.mark.parametrize("case", WAYS_OUT)
def test_a_slip_on_the_command_line_is_told_its_way_out(
    gradcli: Run, tmp_path: Path, case: str
) -> None:
    (tmp_path / "a.grad").write_text("x**2")
    args, expected = WAYS_OUT[case]
    ended = gradcli(*args)
    assert (ended.status, ended.out) == (2, "")
    assert expected in ended.err


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("\u0445*x", "two inputs look alike"),
    ],
)
def test_an_input_that_may_be_none_is_noted(
    gradcli: Run, program: str, told: str
) -> None:
    ended = gradcli("grad", program, "x=1", "-q", "--no-verify")
    assert ended.status == 0
    assert told in ended.err


def test_what_is_cut_off_from_its_inputs_is_said_so(gradcli: Run) -> None:
    ended = gradcli("grad", "x > 0", "x=1", "--no-verify")
    assert ended.status == 3
    assert "no gradient leads from the output to an input" in ended.err


@pytest.mark.parametrize("name", ["E405", "E590", "E596", "E598", "E599"])
def test_a_status_follows_from_the_code(name: str) -> None:
    statuses = {"E405": 4, "E590": 2, "E596": 3, "E598": 74, "E599": 70}
    assert ProgramError(name, "").exit_status == statuses[name]


def test_a_message_names_no_more_inputs_than_can_be_read(gradcli: Run) -> None:
    program = " + ".join(f"x{i}" for i in range(500))
    ended = gradcli("grad", "-", "--no-verify", "-q", stdin=program)
    assert "x11 and 488 more: sampled" in ended.err
    assert "x12" not in ended.err
