"""``gradcli descend``: what it prints, how it stops, and what is left behind."""

from __future__ import annotations

import json
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pexpect
import pytest

from tests.processes import HANGS

from .conftest import Ended, Run, environment
from .test_terminal import ESCAPE, in_terminal

BOWL = "(w - 3)**2 + (b + 1)**2"
AT_0 = ["w=0", "b=0"]
FOREVER = [BOWL, *AT_0, "--lr", "1e-9", "--steps", "1000000000"]


def objects(ended: Ended) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ended.out.splitlines()]


# what is printed


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_dtype_is_that_of_the_run(gradcli: Run, dtype: str) -> None:
    args = ["(w - 0.1)**2", "w=0", "--steps", "200", "--dtype", dtype]
    last = objects(gradcli("descend", "--json", *args))[-1]
    assert (last["dtype"], last["inputs"][0]["value"]) == (dtype, pytest.approx(0.1))


# optimizers


@pytest.mark.parametrize(
    "options",
    [
        ["--optimizer", "sgd", "--lr", "0.001", "--momentum", "0.9"],
        ["--optimizer", "adam", "--lr", "0.05"],
        ["--optimizer", "lbfgs"],
    ],
    ids=lambda options: options[1],
)
def test_each_optimizer_gets_down_a_curved_valley(
    gradcli: Run, options: list[str]
) -> None:
    valley = "(1 - a)**2 + 100*(b - a**2)**2"
    args = [valley, "a=-1.2", "b=1", "--steps", "4000", "--tolerance", "1e-6"]
    last = objects(gradcli("descend", "--json", *args, *options, "--every", "999"))[-1]
    assert last["stopped"] == "tolerance"
    assert [i["value"] for i in last["inputs"]] == pytest.approx([1, 1], abs=1e-4)


# in a terminal


def spawn(tmp_path: Path, *args: str, **wishes: str) -> Any:
    wishes.setdefault("TERM", "xterm-256color")
    return pexpect.spawn(
        sys.executable, ["-m", "gradcli", "descend", *args], dimensions=(50, 80),
        env=environment(**wishes), cwd=str(tmp_path), encoding="utf-8", timeout=HANGS,
    )  # fmt: skip


def test_a_terminal_gets_the_curve_and_no_steps(tmp_path: Path) -> None:
    seen = ESCAPE.sub("", in_terminal(tmp_path, "descend", BOWL, *AT_0))
    assert "loss (log scale)" in seen
    assert "┤" in seen
    assert "step 0" not in seen
    assert "step 0" in in_terminal(tmp_path, "descend", BOWL, *AT_0, "--every", "50")


@pytest.mark.parametrize("columns", [40, 80])
def test_the_curve_is_as_wide_as_the_terminal(tmp_path: Path, columns: int) -> None:
    seen = in_terminal(tmp_path, "descend", BOWL, *AT_0, columns=columns)
    widths = [len(line) for line in ESCAPE.sub("", seen).splitlines()]
    assert columns - 8 < max(widths) <= columns


def test_long_values_are_one_line_to_copy(tmp_path: Path) -> None:
    args = ["descend", "(w**2).sum()", "w=randn(8)", "--steps", "1"]
    seen = ESCAPE.sub("", in_terminal(tmp_path, *args, columns=40))
    assert any(re.fullmatch(r"'w=\[[-\d.,e]+\]'", line) for line in seen.splitlines())


def test_a_long_descent_shows_a_bar_and_takes_it_away(tmp_path: Path) -> None:
    child = spawn(tmp_path, *FOREVER)
    child.expect("━")
    child.expect("/1000000000")
    child.sendintr()
    child.expect(pexpect.EOF)
    child.close()
    end = str(child.before)
    assert "\x1b[?25h" in end
    assert "━" not in end.rpartition("\x1b[2K")[2]
    assert child.exitstatus == 130


@pytest.mark.parametrize(
    ("wishes", "steps"), [({"NO_COLOR": "1"}, "30000"), ({"TERM": "dumb"}, "30")]
)
def test_no_bar_and_no_escape_code_where_colour_is_not_wanted(
    tmp_path: Path, wishes: dict[str, str], steps: str
) -> None:
    args = [BOWL, *AT_0, "--lr", "1e-9", "--steps", steps]
    child = spawn(tmp_path, *args, **wishes)
    child.expect(pexpect.EOF)
    child.close()
    assert "\x1b" not in str(child.before)
    assert child.exitstatus == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_what_was_reached_and_is_its_status(
    tmp_path: Path, number: signal.Signals
) -> None:
    args = ["--json", "--every", "1000", *FOREVER]
    child = spawn(tmp_path, *args, TERM="dumb")
    child.expect('"step": 2000,')
    child.kill(number)
    child.expect(pexpect.EOF)
    child.close()
    *_, last, note = str(child.before).splitlines()
    found = json.loads(last)
    assert (child.exitstatus, child.signalstatus) == (128 + number, None)
    assert found["stopped"] == "interrupted"
    w, b = (given["value"] for given in found["inputs"])
    assert (w - 3) ** 2 + (b + 1) ** 2 == pytest.approx(found["loss"], rel=1e-12)
    assert note == f"interrupted: the values are those after step {found['steps']}"
