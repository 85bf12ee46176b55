"""A real terminal: colours, the environment's wishes about them, and width."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pexpect
import pytest

from tests.processes import HANGS

from .conftest import AT, FIVE, Run, environment

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def in_terminal(
    tmp_path: Path, *args: str, columns: int = 80, status: int = 0, **wishes: str
) -> str:
    """What a terminal of so many columns receives."""
    wishes.setdefault("TERM", "xterm-256color")
    child = pexpect.spawn(
        sys.executable,
        ["-m", "gradcli", *args],
        dimensions=(50, columns),
        env=environment(**wishes),
        cwd=str(tmp_path),
        encoding="utf-8",
        timeout=HANGS,
    )
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == status
    return str(child.before).replace("\r\n", "\n")


def test_a_terminal_gets_colour_and_the_same_text(gradcli: Run, tmp_path: Path) -> None:
    args = ("grad", FIVE, *AT, "--no-verify")
    seen = in_terminal(tmp_path, *args)
    assert ESCAPE.search(seen)
    assert ESCAPE.sub("", seen) == gradcli(*args).out


@pytest.mark.parametrize(
    "wishes",
    [
        {"NO_COLOR": "1"},
        {"TERM": "dumb"},
        {"NO_COLOR": "1", "FORCE_COLOR": "1"},
        {"FORCE_COLOR": "0"},
    ],
)
def test_no_escape_code_at_all_where_colour_is_not_wanted(
    tmp_path: Path, wishes: dict[str, str]
) -> None:
    seen = in_terminal(tmp_path, "graph", FIVE, *AT, **wishes)
    assert "\x1b" not in seen


def test_a_long_list_goes_through_the_pager_of_a_terminal_alone(
    gradcli: Run, tmp_path: Path
) -> None:
    assert in_terminal(tmp_path, "ops", PAGER="head -n 2").count("\n") == 2
    whole = gradcli("ops", env={"PAGER": "head -n 2"}).out
    assert whole.count("\n") > 400
    for none in ("", "cat", "no-such-program", "'"):
        seen = ESCAPE.sub("", in_terminal(tmp_path, "ops", columns=200, PAGER=none))
        assert seen.split() == whole.split()


def test_a_pipe_gets_no_escape_code(gradcli: Run) -> None:
    for wishes in ({}, {"GITHUB_ACTIONS": "1"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}):
        assert "\x1b" not in gradcli("graph", FIVE, *AT, env=wishes).out


def test_force_color_colours_a_pipe_and_wraps_nothing(gradcli: Run) -> None:
    program = "y = " + "+".join(f"x*{i}" for i in range(60))
    plain = gradcli("graph", program, "x=1").out
    forced = gradcli("graph", program, "x=1", env={"FORCE_COLOR": "1"}).out
    assert ESCAPE.search(forced)
    assert ESCAPE.sub("", forced) == plain


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_no_line_is_wider_than_the_terminal(tmp_path: Path, columns: int) -> None:
    program = "h = tanh(W @ x + b); loss = ((h - t)**2).sum()"
    given = ["W=randn(12,12)", "x=randn(12)", "b=randn(12)", "t=randn(12)"]
    commands = ("grad --no-verify", "graph", "explain")
    lines = [[*command.split(), program, *given] for command in commands]
    for words in (*lines, ["paths", FIVE, *AT]):
        seen = in_terminal(tmp_path, *words, columns=columns)
        assert ESCAPE.search(seen)
        assert max(map(len, ESCAPE.sub("", seen).splitlines())) <= columns


def test_a_narrow_terminal_loses_no_word(gradcli: Run, tmp_path: Path) -> None:
    narrow = ESCAPE.sub("", in_terminal(tmp_path, "graph", FIVE, *AT, columns=40))
    words = re.findall(r"\w+", gradcli("graph", FIVE, *AT).out)
    assert re.findall(r"\w+", narrow) == words


ERROR, DRAWN = "E506", "sampled with seed 0"
FORMULA, OBJECT = "d/dx = lenght", '"symbolic": "lenght"'
GRAPH = "├─ g * lenght ─ AccumulateGrad x"


@pytest.mark.parametrize(
    ("line", "piped", "shown"),
    [
        ("value x*lenght x=2", ERROR, ERROR),
        ("value x*lenght x=2 -q", ERROR, ERROR),
        ("value x*lenght x=2 --draw -q", DRAWN, DRAWN),
        ("value sum(x*w) x=2 --shape w=3", ERROR, ERROR),
        ("grad w3*b+w4*c -q", ERROR, ERROR),
        ("grad x*lenght x=2 --json", ERROR, ERROR),
        ("grad x*lenght", ERROR, FORMULA),
        ("grad x*lenght x=2", ERROR, FORMULA),
        ("grad x*lenght --strict", ERROR, ERROR),
        ("grad x*lenght --digits 9", ERROR, ERROR),
        ("grad x*lenght --condition", ERROR, ERROR),
        ("grad x*lenght --order 2", ERROR, ERROR),
        ("grad x*lenght --draw --no-verify", DRAWN, DRAWN),
        ("grad x*lenght --symbolic", FORMULA, FORMULA),
        ("grad x*lenght --symbolic -q", FORMULA, FORMULA),
        ("grad x*lenght --symbolic --json", OBJECT, OBJECT),
        ("grad x*lenght --latex", "partial x} = ", "partial x} = "),
        ("grad x*lenght --code numpy", "x_grad = lenght", "x_grad = lenght"),
        ("jacobian x*lenght", ERROR, FORMULA),
        ("jacobian x*lenght --times x=1", ERROR, ERROR),
        ("hessian x*lenght --spy", ERROR, ERROR),
        ("hessian x*lenght*x", ERROR, "d2/dx dx = 2*lenght"),
        ("paths x*lenght", ERROR, "1 output → lenght"),
        ("paths x*lenght --latex", ERROR, ERROR),
        ("explain x*lenght", ERROR, "to x g * lenght"),
        ("explain x*lenght --latex", ERROR, ERROR),
        ("descend x*lenght", ERROR, ERROR),
        ("jacobian A@x", ERROR, "d/dx = A proved"),
        ("jacobian A@x --latex", "partial x} = A", "partial x} = A"),
        ("jacobian A@x --entries", "x[0] x[1] x[2]", "x[0] x[1] x[2]"),
        ("hessian x.T@A@x", ERROR, "d2/dx dx = A + A.T proved"),
        ("kinks abs(x-lenght)", "-lenght + x == 0", "-lenght + x == 0"),
        ("kinks abs(x-lenght) --json", ERROR, ERROR),
        ("graph x*lenght", GRAPH, GRAPH),
        ("graph x*lenght --dot", "MulBackward0", "MulBackward0"),
        ("graph x*lenght --json", "[null, null]", "[null, null]"),
    ],
)
def test_without_values_the_answer_is_a_formula_and_a_number_an_error(
    gradcli: Run, tmp_path: Path, line: str, piped: str, shown: str
) -> None:
    in_pipe = gradcli(*line.split())
    status = {True: 3, False: 0}
    assert in_pipe.status == status[piped == ERROR]
    assert_said(in_pipe.out + in_pipe.err, piped)
    if piped == shown:
        return
    checked = line.startswith(("grad ", "jacobian", "hessian"))
    words = [*line.split(), *(("--verify-seconds", "600") if checked else ())]
    seen = in_terminal(tmp_path, *words, columns=200, status=status[shown == ERROR])
    assert_said(seen, shown)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["x^2 if x < 1 else 2x"], "one part of the domain; x=2.3 is in another"),
        (["x*y", "x=3"], "the formula is that for any x; add y=VALUE for numbers"),
    ],
)
def test_a_formula_says_where_it_holds_and_what_it_leaves_out(
    tmp_path: Path, words: list[str], said: str
) -> None:
    seen = in_terminal(tmp_path, "grad", *words, "--verify-seconds", "600", columns=200)
    assert said in ESCAPE.sub("", seen)


def assert_said(text: str, said: str) -> None:
    text = re.sub(" +", " ", ESCAPE.sub("", text))
    assert said in text
    assert (DRAWN in text) == (said == DRAWN)
    assert said == DRAWN or "0.08914" not in text


def test_a_session_answers_as_a_terminal_does(gradcli: Run) -> None:
    told = gradcli("repl", stdin="y = x^2*k\ngrad --verify-seconds 600\nvalue\n")
    assert "dy/dx = 2*k*x  proved" in told.out
    assert told.err.startswith("note: no value for x, k yet")
    assert "E506" in told.err


def test_markup_in_names_and_text_is_not_read(tmp_path: Path) -> None:
    program = "y = w[0]*x[1] # [bold]no[/bold]"
    seen = in_terminal(tmp_path, "graph", program, "w=[1,2]", "x=[3,4]")
    assert "w[0]*x[1]" in ESCAPE.sub("", seen)


def test_a_large_array_is_summarised_in_a_terminal_and_says_so(tmp_path: Path) -> None:
    words = ["(x**2).sum()", "x=randn(300,300)", "--no-verify"]
    seen = in_terminal(tmp_path, "grad", *words)
    text = ESCAPE.sub("", seen)
    assert "…" in text
    assert "shortened to fit" in text
    assert len(text.splitlines()) < 40


@pytest.mark.parametrize(
    "command",
    [
        ("paths", "a*b + a", "a=2", "b=3", "--json"),
        ("explain", "a*b + a", "a=2", "b=3", "--json"),
        ("kinks", "relu(x)", "x=0", "--json"),
        ("check", "x**2", "--claim", "d/dx = 2*x", "--json"),
    ],
    ids=lambda command: command[0],
)
def test_json_can_be_copied_out_of_a_terminal(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    seen = ESCAPE.sub("", in_terminal(tmp_path, *command, columns=40))
    assert json.loads(seen)["command"] == command[0]
    assert not any(line.startswith(" ") for line in seen.splitlines())


def test_a_large_array_in_a_step_says_what_is_in_it(tmp_path: Path) -> None:
    many = "x=[3, nan, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12]"
    args = ("explain", "(x*y).sum()", many, "y=ones(13)")
    seen = in_terminal(tmp_path, *args, columns=200, NO_COLOR="1")
    assert "[13] from 1 to 12, nan among them" in seen
    empty = ("explain", "x.sum()", "x=ones((20, 0))")
    assert "[20×0]" in in_terminal(tmp_path, *empty, NO_COLOR="1")


def test_ctrl_c_during_the_check_is_130(tmp_path: Path) -> None:
    program = "y = x\nfor i in range(60): y = sin(y)*cos(y) + exp(-y*y)"
    child = pexpect.spawn(
        sys.executable,
        ["-m", "gradcli", "grad", program, "x=0.3", "--verify-seconds", "30"],
        env=environment(TERM="dumb"),
        cwd=str(tmp_path),
        encoding="utf-8",
        timeout=HANGS,
    )
    child.expect("grad_fn")
    child.sendintr()
    child.expect(pexpect.EOF)
    child.close()
    assert (child.exitstatus, child.signalstatus) == (130, None)
    assert "Traceback" not in str(child.before)


LONG = re.compile(r"\d\.\d{9,}")


@pytest.mark.parametrize(
    "line",
    [
        "value x/7 x=2",
        "grad x**3/7 x=[2.1,31.23] --grad-output [1,2] --no-verify",
        "jacobian x*x/7 x=[2.1,31.23] --no-verify",
        "hessian sum(x**4/7) x=[2.1,31.23] --no-verify",
        "paths x*x/7 x=2.1",
        "explain sin(x)/7 x=2.1",
        "graph sin(x)/7 x=2.1",
        "value x/7 --sweep x=0..1:4",
    ],
)
def test_a_terminal_shows_six_digits_and_a_pipe_all(
    gradcli: Run, tmp_path: Path, line: str
) -> None:
    words = line.split()
    seen = ESCAPE.sub("", in_terminal(tmp_path, *words))
    assert not LONG.search(seen)
    assert LONG.search(gradcli(*words).out)
    if "--sweep" not in words:
        assert LONG.search(in_terminal(tmp_path, *words, "--precision", "17"))
    assert LONG.search(in_terminal(tmp_path, *words, "--json"))


def test_a_terminal_keeps_a_wide_array_aligned(tmp_path: Path) -> None:
    seen = in_terminal(tmp_path, "value", "[[1/7,200/7],[3000/7,4]]", NO_COLOR="1")
    assert seen.splitlines() == [
        "output = [[0.142857, 28.5714],",
        "          [428.571,  4.0]]",
    ]


def test_a_large_whole_number_is_not_filled_up_with_zeros(tmp_path: Path) -> None:
    seen = in_terminal(tmp_path, "value", "[2469134,3000000]", NO_COLOR="1")
    assert seen == "output = [2.46913e+06, 3000000.0]\n"


@pytest.mark.parametrize(
    "line",
    [
        "check x/7 --claim d/dx=0.142857 x=1",
        "descend x*x/7 x=1 --steps 2",
        "grad x/7 --box x=0..1 --no-verify",
    ],
)
def test_a_terminal_shows_all_digits_where_the_last_ones_matter(
    tmp_path: Path, line: str
) -> None:
    status = int(line.startswith("check"))
    assert LONG.search(in_terminal(tmp_path, *line.split(), status=status, columns=200))
