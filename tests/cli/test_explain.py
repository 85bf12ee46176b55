"""`gradcli explain`: the pass step by step, and one key at a time."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any

import pexpect

from tests.processes import HANGS

from .conftest import AT, FIVE, Run, environment
from .test_terminal import in_terminal


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
