"""`gradcli grad` as people and scripts meet it."""

from __future__ import annotations

import json
import math
import re

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


def test_the_verdicts_follow_the_answer(gradcli: Run) -> None:
    ended = gradcli("grad", FIVE, *AT)
    assert ended.status == 0
    assert ended.out.startswith(ANSWER)
    rest = ended.out.removeprefix(ANSWER)
    assert re.search(r"^dL/dw1  proved  -a\*w3\b", rest, re.M)
    assert re.search(r"^proved: 5 of 5 gradients, \d+\.\d\d s$", rest, re.M)


def test_quiet_numbers_read_back_as_the_same_numbers(gradcli: Run) -> None:
    ended = gradcli("grad", "sin(x)*y", "x=0.1", "y=1/3", "-q", "--no-verify")
    by_x, by_y = map(float, ended.out.split())
    assert by_x == math.cos(0.1) * (1 / 3)
    assert by_y == math.sin(0.1)


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


def test_a_sampled_input_is_marked_and_noted(gradcli: Run) -> None:
    ended = gradcli("grad", "x*y", "x=3", "--no-verify")
    assert re.search(r"^y = \S+  sampled, seed 0$", ended.out, re.M)
    assert ended.err.startswith("note: y: sampled with seed 0")
    again = gradcli("grad", "x*y", "x=3", "--no-verify", "--seed", "1")
    assert again.out != ended.out


def test_a_large_result_is_never_cut_in_a_pipe(gradcli: Run) -> None:
    ended = gradcli("grad", "(x**2).sum()", "x=linspace(0,1,5000)", "--no-verify")
    line = next(text for text in ended.out.splitlines() if text.startswith("d/dx"))
    assert len(json.loads(line.partition(" = ")[2])) == 5000
    assert "…" not in ended.out


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


def test_digits_of_a_power_of_zero_bring_no_warning_of_a_library(gradcli: Run) -> None:
    ended = gradcli("grad", "((x - x)**x**86.255)**e", "x=0.136", "--digits", "40")
    assert "output = " in ended.out
    assert "Warning" not in ended.err
