"""`gradcli grad` as people and scripts meet it."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

from .conftest import AT, FIVE, Run

ANSWER = """\
L = 7.75

dL/dw1 = -6.0
dL/da  = -1.125
dL/dw2 = -0.5
dL/dw3 = -1.0
dL/dw4 = 3.0

grad_fn
  1  RsubBackward1  L = 10 - d       -> 2
  2  AddBackward0   d = w3*b + w4*c  -> 3, 5
  3  MulBackward0   w3*b             -> w3, 4
  4  MulBackward0   b = w1*a         -> w1, a
  5  MulBackward0   w4*c             -> w4, 6
  6  MulBackward0   c = w2*a         -> w2, a
"""


def test_the_answer_of_the_five_neurons(gradcli: Run) -> None:
    ended = gradcli("grad", FIVE, *AT, "--no-verify")
    assert (ended.status, ended.out, ended.err) == (0, ANSWER, "")


def test_the_verdicts_follow_the_answer(gradcli: Run) -> None:
    ended = gradcli("grad", FIVE, *AT)
    assert ended.status == 0
    assert ended.out.startswith(ANSWER)
    rest = ended.out.removeprefix(ANSWER)
    assert re.search(r"^dL/dw1  proved  -a\*w3\b", rest, re.M)
    assert re.search(r"^proved: 5 of 5 gradients, \d+\.\d\d s$", rest, re.M)


def test_options_stand_anywhere(gradcli: Run) -> None:
    behind = gradcli("grad", FIVE, *AT, "--no-verify", "-q")
    before = gradcli("grad", "-q", "--no-verify", FIVE, *AT)
    between = gradcli("grad", FIVE, AT[0], "-q", *AT[1:], "--no-verify")
    assert behind.out == before.out == between.out == "-6.0\n-1.125\n-0.5\n-1.0\n3.0\n"


@pytest.mark.parametrize(
    ("program", "expected"),
    [("-x**2", "6.0\n"), ("--x**2", "-6.0\n"), ("-(x)", "-1.0\n"), ("-x", "-1.0\n")],
)
def test_a_program_may_begin_with_a_minus(
    gradcli: Run, program: str, expected: str
) -> None:
    assert gradcli("grad", program, "x=-3", "-q", "--no-verify").out == expected


def test_behind_two_dashes_everything_is_program_and_bindings(gradcli: Run) -> None:
    assert gradcli("grad", "--no-verify", "-q", "--", "-q", "q=2").out == "-1.0\n"


def test_quiet_prints_nested_lists_and_negative_zero(gradcli: Run) -> None:
    ended = gradcli(
        "grad", "(w*x).sum()", "w=[[1,2],[3,4]]", "x=[[-0.0,1],[2,0.1]]", "-q",
        "--no-verify",
    )  # fmt: skip
    assert ended.out == "[[-0.0, 1.0], [2.0, 0.1]]\n[[1.0, 2.0], [3.0, 4.0]]\n"


def test_quiet_numbers_read_back_as_the_same_numbers(gradcli: Run) -> None:
    ended = gradcli("grad", "sin(x)*y", "x=0.1", "y=1/3", "-q", "--no-verify")
    by_x, by_y = map(float, ended.out.split())
    assert by_x == math.cos(0.1) * (1 / 3)
    assert by_y == math.sin(0.1)


def test_float32_numbers_are_shown_as_float32_has_them(gradcli: Run) -> None:
    ended = gradcli("grad", "x*0.1", "x=1", "-q", "--no-verify", "--dtype", "float32")
    assert ended.out == "0.1\n"


def test_a_gradient_that_does_not_arrive_is_none(gradcli: Run) -> None:
    ended = gradcli("grad", "y = x*2; z = 3*w; y", "x=1", "w=1", "--no-verify")
    assert "dy/dw = None" in ended.out or "d/dw = None" in ended.out
    assert "does not depend on it" in ended.out


def test_json_has_the_agreed_keys(gradcli: Run) -> None:
    ended = gradcli("grad", FIVE, *AT, "--json")
    told = ended.json
    assert told["schema"] == "gradcli/1"
    assert told["command"] == "grad"
    assert told["program"] == FIVE
    assert told["output"] == {
        "name": "L", "shape": [], "value": 7.75, "grad_fn": "RsubBackward1",
    }  # fmt: skip
    assert [i["name"] for i in told["inputs"]] == ["w1", "a", "w2", "w3", "w4"]
    keys = {
        "name", "shape", "value", "sampled", "requires_grad", "grad", "closed_form",
        "verdict", "max_error", "note",
    }  # fmt: skip
    for given in told["inputs"]:
        assert keys <= given.keys()
        assert given["verdict"] == "proved"
    assert {"verdict", "checked", "of", "seconds"} <= told["verification"].keys()
    assert told["verification"]["verdict"] == "proved"


def test_json_writes_numbers_that_are_not_finite_as_strings(gradcli: Run) -> None:
    ended = gradcli("grad", "sqrt(x).sum()", "x=[0, inf, nan]", "--json", "--no-verify")
    told = ended.json
    assert told["output"]["value"] == "nan"
    assert told["inputs"][0]["value"] == [0.0, "inf", "nan"]
    assert told["inputs"][0]["grad"][0] == "inf"


def test_a_vector_output_asks_for_its_cotangent(gradcli: Run) -> None:
    ended = gradcli("grad", "y = x*2", "x=[1,2]", "--no-verify")
    assert ended.status == 3
    assert ended.out == ""
    assert ended.err == (
        "error[E596]: grad can be implicitly created only for scalar outputs\n"
        "  1 | y = x*2\n"
        "    |     ^^^ shape [2]: add .sum(), give --grad-output, or use gradcli "
        "jacobian\n"
    )


def test_grad_output_is_the_cotangent(gradcli: Run) -> None:
    ended = gradcli(
        "grad", "x**2", "x=[1,2]", "--grad-output", "[-1, 10]", "-q", "--no-verify"
    )
    assert ended.out == "[-2.0, 40.0]\n"


def test_grad_output_of_another_shape_is_refused(gradcli: Run) -> None:
    ended = gradcli("grad", "x**2", "x=[1,2]", "--grad-output", "1", "--no-verify")
    assert ended.status == 3
    assert "--grad-output has shape [], the output [2]" in ended.err


def test_a_sampled_input_is_marked_and_noted(gradcli: Run) -> None:
    ended = gradcli("grad", "x*y", "x=3", "--no-verify")
    assert re.search(r"^y = \S+  sampled, seed 0$", ended.out, re.M)
    assert ended.err.startswith("note: y: sampled with seed 0")
    again = gradcli("grad", "x*y", "x=3", "--no-verify", "--seed", "1")
    assert again.out != ended.out


def test_strict_refuses_to_sample(gradcli: Run) -> None:
    ended = gradcli("grad", "x*y", "x=3", "--strict", "--no-verify")
    assert ended.status == 2
    assert "y=VALUE" in ended.err


def test_wrt_restricts_the_gradients(gradcli: Run) -> None:
    ended = gradcli("grad", "x*y", "x=3", "y=5", "--wrt", "y", "-q", "--no-verify")
    assert ended.out == "3.0\n"


def test_wrt_may_be_given_several_times(gradcli: Run) -> None:
    words = ["grad", "x*y*z", "x=3", "y=5", "z=7", "-q", "--no-verify"]
    ended = gradcli(*words, "--wrt", "y", "--wrt=x")
    assert ended.out == gradcli(*words, "--wrt", "x,y").out == "35.0\n21.0\n"


def test_of_chooses_the_output(gradcli: Run) -> None:
    ended = gradcli(
        "grad", "a = x**2; b = a*5", "x=3", "--of", "a", "-q", "--no-verify"
    )
    assert ended.out == "6.0\n"


def test_the_program_comes_from_a_file_or_standard_input(
    gradcli: Run, tmp_path: Path
) -> None:
    (tmp_path / "p.grad").write_text("# a comment\ny = x**2\n", encoding="utf-8")
    named = gradcli("grad", "-f", "p.grad", "x=4", "-q", "--no-verify")
    piped = gradcli("grad", "-", "x=4", "-q", "--no-verify", stdin="y = x**2\n")
    dash = gradcli("grad", "-f", "-", "x=4", "-q", "--no-verify", stdin="y = x**2\n")
    assert named.out == piped.out == dash.out == "8.0\n"


def test_unverified_numbers_never_claim_a_verdict(gradcli: Run) -> None:
    told = gradcli("grad", "x**2", "x=3", "--json", "--no-verify").json
    assert told["verification"]["verdict"] == "unknown"
    assert told["inputs"][0]["verdict"] == "unknown"
    assert told["inputs"][0]["note"] == "the check was not asked for"


def test_a_large_result_is_never_cut_in_a_pipe(gradcli: Run) -> None:
    ended = gradcli("grad", "(x**2).sum()", "x=linspace(0,1,5000)", "--no-verify")
    line = next(text for text in ended.out.splitlines() if text.startswith("d/dx"))
    assert len(json.loads(line.partition(" = ")[2])) == 5000
    assert "…" not in ended.out


def test_markup_and_brackets_are_printed_as_they_are(gradcli: Run) -> None:
    ended = gradcli("grad", "w[0]*x[1]", "w=[2,3]", "x=[5,7]", "--no-verify")
    assert "w[0]*x[1]" in ended.out
    assert "[/b]" in gradcli("grad", "x # [b]bold[/b]\n", "x=[/b]").err


@pytest.mark.parametrize(
    ("program", "required", "status"),
    [("x**2", "proved", 0), ("x**2", "sampled", 0), ("relu(x - 40)", "certified", 1),
     ("sigmoid(x)", "certified", 1)],
)  # fmt: skip
def test_a_verdict_weaker_than_required_is_status_1(
    gradcli: Run, program: str, required: str, status: int
) -> None:
    words = program, "x=40", "--require", required, "--verify-seconds", "30"
    ended = gradcli("grad", *words)
    assert ended.status == status, ended.err
    assert (f"not {required}: x" in ended.err) == bool(status)


@pytest.mark.parametrize("command", ["jacobian", "hessian"])
def test_derivatives_of_all_commands_can_be_required_to_be_proved(
    gradcli: Run, command: str
) -> None:
    assert gradcli(command, "x**3", "x=2", "--require", "proved").status == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("grad", "x^200", "x=1e3"), "rounded, not proved: x: the engine gave"),
        (("jacobian", "x^200", "x=1e3"), "rounded, not proved: row 0, x: the engine"),
        (("grad", "abs(x).sum()", "x=[0,1]"), "unknown, not proved: x[0]: abs has no"),
    ],
)
def test_what_is_weaker_than_required_is_named_once(
    gradcli: Run, words: tuple[str, ...], said: str
) -> None:
    lines = gradcli(*words, "-q", "--require", "proved").err.splitlines()
    assert lines[-1].startswith(said)


def test_a_verdict_cannot_be_required_of_no_check(gradcli: Run) -> None:
    ended = gradcli("grad", "x**2", "x=3", "--require", "proved", "--no-verify")
    assert ended.status == 2
    assert "--require asks for a verdict" in ended.err
