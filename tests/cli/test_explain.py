"""`gradcli explain`: the pass step by step, and one key at a time."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any

import pexpect
import pytest

from tests.processes import HANGS

from .conftest import AT, FIVE, Run, environment
from .test_terminal import ESCAPE, in_terminal

FIVE_STEPS = """\
L = 7.75
the pass starts with dL/dL = 1.0

1  RsubBackward1  L = 10 - d
   arrives  1.0
   to d     1.0 * -1.0 = -1.0

2  AddBackward0  d = w3*b + w4*c
   arrives  -1.0
   to w3*b  -1.0 * 1.0 = -1.0
   to w4*c  -1.0 * 1.0 = -1.0

3  MulBackward0  w4*c
   arrives  -1.0
   to w4    -1.0 * -3.0 = 3.0
   to c     -1.0 * 0.25 = -0.25

4  MulBackward0  c = w2*a
   arrives  -0.25
   to w2    -0.25 * 2.0 = -0.5
   to a     -0.25 * -1.5 = 0.375

5  AccumulateGrad  w2
   arrives  -0.5
   w2.grad  -0.5  (was None)

6  AccumulateGrad  w4
   arrives  3.0
   w4.grad  3.0  (was None)

7  MulBackward0  w3*b
   arrives  -1.0
   to w3    -1.0 * 1.0 = -1.0
   to b     -1.0 * 3.0 = -3.0

8  MulBackward0  b = w1*a
   arrives  -3.0
   to w1    -3.0 * 2.0 = -6.0
   to a     -3.0 * 0.5 = -1.5  (0.375 had arrived: together -1.125)

9  AccumulateGrad  a
   arrives  -1.125
   a.grad   -1.125  (was None)

10  AccumulateGrad  w1
    arrives  -6.0
    w1.grad  -6.0  (was None)

11  AccumulateGrad  w3
    arrives  -1.0
    w3.grad  -1.0  (was None)
"""

ARRAYS = """\
output = 2.0
the pass starts with 1.0

1  SumBackward0  relu(x*b).sum()
   arrives       1.0
   to relu(x*b)  [1.0, 1.0]  (not elementwise: by the node's own rule)

2  ReluBackward0  relu(x*b)
   arrives  [1.0, 1.0]
   to x*b   [1.0, 1.0] * [1.0, 0.0] = [1.0, 0.0]

3  MulBackward0  x*b
   arrives  [1.0, 0.0]
   to x     [1.0, 0.0] * 2.0 = [2.0, 0.0]
   to b     [1.0, 0.0] * [1.0, -1.0] = 1.0  (summed to the shape [])

4  AccumulateGrad  b
   arrives  1.0
   b.grad   1.0  (was None)

5  AccumulateGrad  x
   arrives  [2.0, 0.0]
   x.grad   [2.0, 0.0]  (was None)
"""


def test_the_five_neurons_step_by_step(gradcli: Run) -> None:
    assert gradcli("explain", FIVE, *AT).out == FIVE_STEPS


def test_arrays_say_what_is_elementwise_and_what_is_summed(gradcli: Run) -> None:
    assert gradcli("explain", "relu(x*b).sum()", "x=[1,-1]", "b=2").out == ARRAYS


def test_the_json_lists_the_steps(gradcli: Run) -> None:
    told = gradcli("explain", FIVE, *AT, "--json").json
    assert (told["schema"], told["command"]) == ("gradcli/1", "explain")
    assert told["grad_output"] == 1.0
    assert [step["step"] for step in told["steps"]] == list(range(1, 12))
    keys = {
        "step", "node", "name", "source", "line", "column", "incoming",
        "local_gradients", "sends", "grad_before", "grad_after",
    }  # fmt: skip
    assert all(keys <= step.keys() for step in told["steps"])
    eighth = told["steps"][7]
    assert eighth["sends"][1] == {
        "edge": 1, "id": 6, "to": "AccumulateGrad", "name": "a", "output_nr": 0,
        "gradient": -1.5, "held": 0.375, "total": -1.125,
    }  # fmt: skip
    leaf = told["steps"][8]
    assert (leaf["grad_before"], leaf["grad_after"]) == (None, -1.125)


def test_quiet_prints_what_arrives(gradcli: Run) -> None:
    assert gradcli("explain", "x*x", "x=3", "-q").out == "1.0\n6.0\n"


def test_a_vector_starts_with_what_is_given(gradcli: Run) -> None:
    ended = gradcli("explain", "x*2", "x=[1,2]")
    assert ended.status == 3
    assert "scalar outputs" in ended.err
    out = gradcli("explain", "x*2", "x=[1,2]", "--grad-output", "[1,0.5]").out
    assert "the pass starts with --grad-output = [1.0, 0.5]\n" in out
    assert "x.grad   [2.0, 1.0]  (was None)\n" in out


def test_only_asked_inputs_accumulate(gradcli: Run) -> None:
    out = gradcli("explain", FIVE, *AT, "--wrt", "a").out
    assert out.count("AccumulateGrad") == 1


def test_large_arrays_are_whole_in_a_pipe_and_short_in_a_terminal(
    gradcli: Run, tmp_path: Path
) -> None:
    args = ("explain", "(x*x).sum()", "x=arange(100.)")
    piped = gradcli(*args).out
    assert "…" not in piped
    assert "198.0]" in piped
    seen = in_terminal(tmp_path, *args, NO_COLOR="1")
    assert "[100] from 0 to 198" in seen
    assert "150.0" not in seen


@pytest.mark.parametrize("columns", [40, 80])
def test_no_line_is_wider_than_the_terminal(tmp_path: Path, columns: int) -> None:
    program = "h = tanh(W @ x + b); loss = ((h - t)**2).sum()"
    given = ["W=randn(12,12)", "x=randn(12)", "b=randn(12)", "t=randn(12)"]
    seen = in_terminal(tmp_path, "explain", program, *given, columns=columns)
    assert ESCAPE.search(seen)
    assert max(map(len, ESCAPE.sub("", seen).splitlines())) <= columns


def test_step_needs_a_terminal(gradcli: Run) -> None:
    ended = gradcli("explain", "x*x", "x=3", "--step")
    assert (ended.status, ended.out) == (2, "")
    assert "leave --step out" in ended.err


def test_step_excludes_what_is_for_scripts(gradcli: Run) -> None:
    for option in ("--json", "--quiet"):
        ended = gradcli("explain", "x*x", "x=3", "--step", option)
        assert ended.status == 2
        assert f"--step and {option} exclude each other" in ended.err


def stepping(tmp_path: Path, **wishes: str) -> Any:
    child = pexpect.spawn(
        sys.executable,
        ["-m", "gradcli", "explain", FIVE, *AT, "--step"],
        env=environment(TERM="xterm-256color", **wishes),
        cwd=str(tmp_path),
        encoding="utf-8",
        timeout=HANGS,
        dimensions=(50, 80),
    )
    child.expect_exact("(1 of 11: any key for the next, q ends)")
    return child


def test_any_key_goes_on_and_q_ends(tmp_path: Path) -> None:
    child = stepping(tmp_path)
    assert "AddBackward0" not in child.before
    child.send("x")
    child.expect_exact("(2 of 11: any key for the next, q ends)")
    assert "AddBackward0" in child.before
    child.send("\x1b[B")
    child.expect_exact("(3 of 11: any key for the next, q ends)")
    child.send("q")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert "AccumulateGrad" not in child.before


def test_all_steps_can_be_gone_through(tmp_path: Path) -> None:
    child = stepping(tmp_path, NO_COLOR="1")
    for number in range(2, 11):
        child.send(" ")
        child.expect_exact(f"({number} of 11: any key for the next, q ends)")
    child.send(" ")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert "w3.grad" in child.before
    assert "\x1b" not in child.before


def test_ctrl_c_ends_it_and_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    child = pexpect.spawn(
        "/bin/sh", env=environment(TERM="dumb", PS1="ready$ "),
        encoding="utf-8", timeout=HANGS, cwd=str(tmp_path),
    )  # fmt: skip
    child.sendline("stty -a > before")
    child.sendline(f'{sys.executable} -m gradcli explain "x*x" x=3 --step')
    child.expect_exact("any key for the next")
    child.sendintr()
    child.sendline("echo status=$?; stty -a > after")
    child.expect("status=(\\d+)")
    assert child.match.group(1) == str(128 + signal.SIGINT)
    child.sendline("exit")
    child.expect(pexpect.EOF)
    child.close()
    assert (tmp_path / "before").read_text() == (tmp_path / "after").read_text()


def test_help_has_an_example(gradcli: Run) -> None:
    out = gradcli("explain", "--help").out
    assert "Example: gradcli explain" in out
    assert "--step" in out
