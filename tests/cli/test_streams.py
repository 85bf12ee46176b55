"""Pipes that close, disks that are full, streams that are not there, and Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.processes import HANGS

from .conftest import COMMAND, Run, environment

ENDLESS = "for i in range(50000000): x = x*1"


def shell(script: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run a script with ``gradcli`` standing for the real command."""
    prefix = f'gradcli() {{ {sys.executable} -m gradcli "$@"; }}\nset -o pipefail\n'
    return subprocess.run(
        ["bash", "-c", prefix + script],
        capture_output=True,
        text=True,
        timeout=HANGS,
        cwd=tmp_path,
        env=environment(),
        check=False,
    )


@pytest.mark.parametrize(
    "command",
    [
        'gradcli graph "y=x*x" x=2',
        'gradcli graph "y=x\nfor i in range(20000): y = y*x" x=1',
        'gradcli grad "(x**2).sum()" "x=linspace(0,1,100000)" --no-verify',
        "gradcli ops",
        'gradcli descend "(w-3)^2" w=0 --lr 1e-9 --steps 10000000',
        "gradcli grad x^2 --sweep x=0..1:3000000",
        "gradcli grad x^2 --sweep x=0..1:3000000 --cluster local:2",
        "gradcli grad x^2 --sweep x=0..1:3000000 --json",
        '(seq 3000000 | sed 1ix || :) | gradcli grad "if 1: y = 2*x" --table -',
    ],
)
def test_a_closed_pipe_ends_quietly(command: str, tmp_path: Path) -> None:
    done = shell(f"{command} | head -1 > first", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "first").read_text(encoding="utf-8").count("\n") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["grad x**2 x=3 --no-verify", "graph x x=1", "-h"])
def test_a_full_disk_is_an_error(command: str, tmp_path: Path) -> None:
    done = shell(f"gradcli {command} > /dev/full", tmp_path)
    assert done.returncode == 74
    assert done.stderr.startswith("error[E598]: cannot write to standard output")


def test_a_closed_standard_output_is_an_error(tmp_path: Path) -> None:
    done = shell("gradcli graph x x=1 >&-", tmp_path)
    assert done.returncode == 74
    assert "standard output is closed" in done.stderr


def test_a_closed_standard_error_changes_no_result(tmp_path: Path) -> None:
    done = shell("gradcli grad x*y x=3 -q --no-verify --draw 2>&-", tmp_path)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 2


def test_what_a_narrow_encoding_lacks_is_escaped(gradcli: Run) -> None:
    ended = gradcli("graph", "x*µ", "x=1", "µ=2", env={"PYTHONIOENCODING": "ascii"})
    assert ended.status == 0
    assert ended.out == (
        "MulBackward0  x*\\xb5\n"
        "|- 2.0 - AccumulateGrad x\n"
        "`- 1.0 - AccumulateGrad \\xb5\n"
    )


def test_json_in_a_narrow_encoding_is_the_same_json(gradcli: Run) -> None:
    args = ("grad", "x*µ # ─😀", "x=1", "µ=2", "--json", "--no-verify")
    ended = gradcli(*args, env={"PYTHONIOENCODING": "ascii"})
    assert ended.out.isascii()
    assert ended.json["program"] == "x*µ # ─😀"


def interrupted(args: list[str], wait: float, tmp_path: Path) -> tuple[int, str]:
    """Start a command, wait, and send the signal that Ctrl-C sends."""
    process = subprocess.Popen(
        [*COMMAND, *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environment(),
    )
    time.sleep(wait)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=HANGS)
    return process.returncode, err


def test_ctrl_c_in_a_long_loop_is_130_and_quiet(tmp_path: Path) -> None:
    words = ["grad", ENDLESS, "x=1", "--no-verify", "-q"]
    status, err = interrupted(words, 1.0, tmp_path)
    assert (status, err) == (130, "")


def test_ctrl_c_while_modules_are_imported_is_130(tmp_path: Path) -> None:
    """`-X importtime` reports each import, so the signal can be sent amid them."""
    for module in ("gradcli.cli.options", "numpy.version", "gradcli.ops"):
        process = subprocess.Popen(
            [sys.executable, "-X", "importtime", "-m", "gradcli", "grad", ENDLESS,
             "x=1", "--no-verify"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
            env=environment(),
        )  # fmt: skip
        assert process.stderr is not None
        for line in process.stderr:
            if line.rstrip().endswith(module):
                break
        else:
            raise AssertionError(f"{module} was not imported")
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=HANGS)
        assert process.returncode == 130
        assert "Traceback" not in rest


def children_of(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in listed.read_text().split()]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_checking_process_outlives_the_command(
    tmp_path: Path, number: signal.Signals
) -> None:
    process = subprocess.Popen(
        [*COMMAND, "grad", ENDLESS, "x=1"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path,
        env=environment(),
    )  # fmt: skip
    deadline = time.monotonic() + HANGS
    while not (children := children_of(process.pid)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(children) == 1
    process.send_signal(number)
    process.communicate(timeout=HANGS)
    killed = number == signal.SIGKILL
    assert process.returncode == (-number if killed else 128 + number)
    while Path(f"/proc/{children[0]}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not Path(f"/proc/{children[0]}").exists()


def test_the_answer_is_out_before_the_verdicts(tmp_path: Path) -> None:
    """The gradient of a program whose check takes its whole time is there at once."""
    program = "y = x\nfor i in range(60): y = sin(y)*cos(y) + exp(-y*y)"
    with subprocess.Popen(
        [*COMMAND, "grad", program, "x=0.3", "--verify-seconds", "8"],
        stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=environment(),
    ) as process:  # fmt: skip
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        waiting = process.poll() is None
        rest = process.stdout.read()
    assert lines[2].startswith("dy/dx = ")
    assert waiting
    assert process.returncode == 0
    assert "1 gradient" in rest
