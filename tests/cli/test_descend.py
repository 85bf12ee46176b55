"""``gradcli descend``: what it prints, how it stops, and what is left behind."""

from __future__ import annotations

import json
import re
import shlex
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


def test_a_pipe_gets_a_line_per_step_and_where_it_ended(gradcli: Run) -> None:
    ended = gradcli("descend", "L = " + BOWL, *AT_0, "--lr", "0.5", "--steps", "2")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out == (
        "step 0  loss 10.0  grad_norm 6.324555320336759\n"
        "step 1  loss 0.0  grad_norm 0.0\n"
        "step 2  loss 0.0  grad_norm 0.0\n"
        "\n"
        "L = 0.0  after 2 steps\n"
        "grad_norm = 0.0\n"
        "\n"
        "w=3.0\n"
        "b=-1.0\n"
    )


def test_every_thins_the_steps_and_keeps_the_first_and_the_last(gradcli: Run) -> None:
    out = gradcli("descend", BOWL, *AT_0, "--steps", "10", "--every", "4").out
    assert re.findall(r"^step (\d+)", out, re.M) == ["0", "4", "8", "10"]


def test_quiet_prints_the_values_alone_for_the_next_command(gradcli: Run) -> None:
    loss = "((W @ x - y)**2).sum()"
    data = ["x=[1,2]", "y=[3,-1,0.5]"]
    args = ["--wrt", "W", "--lr", "0.1", "--steps", "300"]
    ended = gradcli("descend", "-q", loss, "W=zeros(3,2)", *data, *args)
    assert (ended.status, ended.err) == (0, "")
    (binding,) = ended.out.split()
    after = gradcli("grad", "-q", "--wrt", "W", "--no-verify", loss, binding, *data)
    assert all(abs(g) < 1e-9 for row in json.loads(after.out) for g in row)


def test_the_values_of_the_text_can_be_pasted_into_a_shell(gradcli: Run) -> None:
    args = ["(w**2).sum() + b**2", "w=[1,2]", "b=3", "--lr", "0.25", "--steps", "1"]
    out = gradcli("descend", *args).out
    pasted = shlex.split(out.split("\n\n")[-1])
    assert pasted == ["w=[0.5,1.0]", "b=1.5"]


def test_json_has_an_object_per_step_and_one_at_the_end(gradcli: Run) -> None:
    ended = gradcli("descend", "--json", BOWL, *AT_0, "--steps", "3", "--lr", "0.5")
    *steps, last = objects(ended)
    assert [s.keys() for s in steps] == [{"step", "loss", "grad_norm"}] * 4
    assert [s["step"] for s in steps] == [0, 1, 2, 3]
    assert (
        last.items()
        >= {
            "schema": "gradcli/1",
            "command": "descend",
            "program": BOWL,
            "optimizer": "sgd",
            "lr": 0.5,
            "steps": 3,
            "loss": 0.0,
            "grad_norm": 0.0,
            "stopped": "steps",
            "inputs": [
                {"name": "w", "shape": [], "value": 3.0},
                {"name": "b", "shape": [], "value": -1.0},
            ],
        }.items()
    )


def test_only_the_inputs_of_wrt_are_moved(gradcli: Run) -> None:
    ended = gradcli("descend", "--json", BOWL, *AT_0, "--wrt", "b", "--steps", "5")
    last = objects(ended)[-1]
    assert [i["name"] for i in last["inputs"]] == ["b"]
    assert last["loss"] > 9


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


def test_the_tolerance_ends_it(gradcli: Run) -> None:
    args = [BOWL, *AT_0, "--steps", "999", "--tolerance", "0.5"]
    *steps, last = objects(gradcli("descend", "--json", *args))
    assert last["stopped"] == "tolerance"
    assert last["steps"] == steps[-1]["step"] < 999
    assert steps[-1]["grad_norm"] <= 0.5 < steps[-2]["grad_norm"]


def test_batches_follow_from_the_seed(gradcli: Run) -> None:
    program = "((x @ w - y)**2).mean()"
    given = ["x=randn(20,2)", "y=randn(20)", "w=zeros(2)"]

    def losses(*options: str) -> list[float]:
        args = ["--json", program, *given, "--batch", "x,y:5", "--steps", "9"]
        return [o["loss"] for o in objects(gradcli("descend", *args, *options))]

    assert losses("--shuffle") == losses("--shuffle")
    assert losses("--shuffle")[1] != losses("--shuffle", "--seed", "1")[1]
    assert losses("--shuffle")[1] != losses()[1]


def test_what_is_cut_into_batches_is_not_moved(gradcli: Run) -> None:
    args = ["((x*w - y)**2).mean()", "x=[1,2,3,4]", "y=[2,4,6,8]", "w=0"]
    ended = gradcli("descend", "-q", *args, "--batch", "x,y:2", "--lr", "0.05")
    assert re.fullmatch(r"w=(1\.99999|2\.0)\d*\n", ended.out)


# what goes wrong


def test_a_loss_that_runs_off_is_3_with_the_last_finite_values(gradcli: Run) -> None:
    ended = gradcli("descend", "--json", "w**4", "w=2", "--lr", "1", "--steps", "50")
    assert ended.status == 3
    *steps, last = objects(ended)
    error = json.loads(ended.err)["error"]
    assert last["stopped"] == "diverged"
    assert last["steps"] == steps[-1]["step"]
    assert (last["loss"], last["grad_norm"]) == (
        steps[-1]["loss"],
        steps[-1]["grad_norm"],
    )
    assert last["inputs"][0]["value"] ** 4 == pytest.approx(last["loss"])
    assert error["code"] == "E521"
    assert f"at step {last['steps'] + 1}" in error["message"]
    assert "--lr" in error["hint"]


def test_quiet_keeps_the_last_finite_values_too(gradcli: Run) -> None:
    ended = gradcli("descend", "-q", "w**4", "w=2", "--lr", "1")
    assert ended.status == 3
    assert re.fullmatch(r"w=-?\d[\d.e+]*\n", ended.out)


@pytest.mark.parametrize(("program", "what"), [("log(w)", "loss"), ("sqrt(w)", "grad")])
def test_without_a_finite_beginning_nothing_is_printed(
    gradcli: Run, program: str, what: str
) -> None:
    ended = gradcli("descend", program, "w=0")
    assert (ended.status, ended.out) == (3, "")
    assert re.search(rf"error\[E521\]: the {what}\w* is -?inf at the start", ended.err)


BAD_OPTIONS = {
    "momentum for adam": (["--optimizer", "adam", "--momentum", "0.5"], "--momentum"),
    "batches for lbfgs": (["--optimizer", "lbfgs", "--batch", "b:2"], "--batch"),
    "shuffle without batches": (["--shuffle"], "--batch x,y:10"),
    "a batch without rows": (["--batch", "w"], "NAMES:ROWS"),
    "no rows in a batch": (["--batch", "b:0"], "NAMES:ROWS"),
    "a batch of what there is not": (["--batch", "ww:2"], "did you mean 'w'?"),
    "a batch of a scalar": (["--batch", "b:2"], "no rows"),
    "a batch of what is moved": (["--batch", "b:2", "--wrt", "b"], "--wrt"),
    "a batch of everything": (["--batch", "w,b:2"], "left to optimize"),
    "an unknown optimizer": (["--optimizer", "sdg"], "sgd"),
    "a negative rate": (["--lr", "-1"], "learning rate"),
    "a rate that is no number": (["--lr", "nan"], "--lr"),
    "negative steps": (["--steps", "-1"], "--steps"),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_options_that_do_not_fit_are_2(gradcli: Run, case: str) -> None:
    options, told = BAD_OPTIONS[case]
    ended = gradcli("descend", BOWL, *AT_0, *options)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("error[E5")
    assert told in ended.err


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["w*2", "w=[1,2]"], "scalar outputs"),
        (["2 + 3"], "does not depend on any input"),
        (["tahn(w)", "w=1"], "did you mean 'tanh'?"),
    ],
)
def test_programs_without_a_way_down_are_3(
    gradcli: Run, args: list[str], told: str
) -> None:
    ended = gradcli("descend", *args)
    assert (ended.status, ended.out) == (3, "")
    assert told in ended.err


def test_sampled_inputs_are_noted_and_strict_refuses_them(gradcli: Run) -> None:
    ended = gradcli("descend", "-q", "(w - 3)**2", "--steps", "1")
    assert (ended.status, ended.err.count("sampled")) == (0, 1)
    assert gradcli("descend", "(w - 3)**2", "--strict").status == 2


def test_a_closed_pipe_ends_it_quietly(tmp_path: Path) -> None:
    command = shlex.join([sys.executable, "-m", "gradcli", "descend", *FOREVER])
    child = pexpect.spawn(
        "/bin/sh", ["-c", f"{command} | head -1"], env=environment(TERM="dumb"),
        cwd=str(tmp_path), encoding="utf-8", timeout=HANGS,
    )  # fmt: skip
    child.expect(pexpect.EOF)
    child.close()
    assert str(child.before).splitlines() == [
        "step 0  loss 10.0  grad_norm 6.324555320336759"
    ]


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


@pytest.mark.parametrize("wishes", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_bar_and_no_escape_code_where_colour_is_not_wanted(
    tmp_path: Path, wishes: dict[str, str]
) -> None:
    args = [BOWL, *AT_0, "--lr", "1e-9", "--steps", "30000"]
    child = spawn(tmp_path, *args, **wishes)
    child.expect(pexpect.EOF)
    child.close()
    assert "\x1b" not in str(child.before)
    assert child.exitstatus == 0


def test_ctrl_c_keeps_what_was_reached_and_is_130(tmp_path: Path) -> None:
    args = ["--json", "--every", "1000", *FOREVER]
    child = spawn(tmp_path, *args, TERM="dumb")
    child.expect('"step": 2000,')
    child.sendintr()
    child.expect(pexpect.EOF)
    child.close()
    *_, last, note = str(child.before).splitlines()
    found = json.loads(last.removeprefix("^C"))
    assert (child.exitstatus, child.signalstatus) == (130, None)
    assert found["stopped"] == "interrupted"
    w, b = (given["value"] for given in found["inputs"])
    assert (w - 3) ** 2 + (b + 1) ** 2 == pytest.approx(found["loss"], rel=1e-12)
    assert note == f"interrupted: the values are those after step {found['steps']}"
