"""`gradcli check` as a shell runs it."""

from __future__ import annotations

import re

import pytest

from tests.cli.conftest import Run
from tests.cli.conftest import gradcli as gradcli
from tests.processes import HANGS

SQUARES = ("L = ((X@w - y)**2).sum()", "--shape", "X=3,2", "--shape", "w=2",
           "--shape", "y=3")  # fmt: skip
RIGHT = "d/dw = 2*X.t() @ (X@w - y)"
WRONG = "d/dw = X.t() @ (X@w - y)"


def test_a_right_claim_is_proved_and_the_status_is_0(gradcli: Run) -> None:
    ended = gradcli("check", *SQUARES, "--claim", RIGHT)
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith(f"{RIGHT}  proved\nproved: 1 claim")


def test_a_wrong_claim_is_refuted_with_its_repair_and_status_1(gradcli: Run) -> None:
    ended = gradcli("check", *SQUARES, "--claim", WRONG)
    lines = ended.out.splitlines()
    assert ended.status == 1
    assert lines[0] == f"{WRONG}  refuted"
    assert lines[1].startswith("  at X = [[")
    assert "claimed" in lines[2]
    assert lines[3] == "  the factor 2 is missing: multiply by 2"


def test_json_has_the_agreed_keys(gradcli: Run) -> None:
    ended = gradcli("check", *SQUARES, "--claim", RIGHT, "--claim", WRONG, "--json")
    told = ended.json
    assert (told["schema"], told["command"]) == ("gradcli/1", "check")
    keys = {"claim", "verdict", "counterexample", "diagnosis", "note"}
    assert all(keys <= claim.keys() for claim in told["claims"])
    assert [claim["verdict"] for claim in told["claims"]] == ["proved", "refuted"]
    found = told["claims"][1]["counterexample"]
    assert found["inputs"].keys() == {"X", "w", "y"}
    assert found["claimed"] * 2 == found["true"]


def test_quiet_prints_a_verdict_a_line(gradcli: Run) -> None:
    ended = gradcli("check", "x**2", "--claim", "d/dx=2*x", "--claim", "d/dx=x", "-q")
    assert (ended.out, ended.status) == ("proved\nrefuted\n", 1)


def test_programs_are_compared(gradcli: Run) -> None:
    ended = gradcli("check", "x*(x+1)", "--same", "x**2 + x", "-q")
    assert (ended.out, ended.status) == ("proved\nproved\n", 0)
    assert gradcli("check", "x*x", "--same", "x**3", "-q").status == 1


def test_what_cannot_be_decided_is_no_success(gradcli: Run) -> None:
    ended = gradcli("check", "sqrt(-x**2-1)", "--claim", "d/dx = 1")
    assert ended.status == 4
    assert "unknown" in ended.out


MISTAKES = {
    "unknown name": ("d/dx = 2*xx", 3, "    |          ^^ did you mean 'x'?"),
    "half an expression": ("d/dx = 2*x +", 3, "    |             ^"),
    "unknown input": ("d/dz = 2*x", 2, "    |    ^ it has x"),
    "unnamed output": ("dy/dx = 2*x", 2, "    |  ^ write d/dx, or begin"),
    "no derivative": ("x = 2*x", 2, "    | ^ write"),
    "shapes": ("d/dx = ones(2) @ ones(3)", 3, "    |                ^"),
}


@pytest.mark.parametrize("kind", MISTAKES)
def test_an_error_in_a_claim_points_into_the_claim(gradcli: Run, kind: str) -> None:
    claim, status, pointer = MISTAKES[kind]
    ended = gradcli("check", "x**2", "--claim", claim)
    assert (ended.status, ended.out) == (status, "")
    lines = ended.err.splitlines()
    assert lines[1] == f"  1 | {claim}"
    assert lines[2].startswith(pointer)


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--claim", "d/dx=2*x", "--dtype", "float32"),
        ("--claim", "d/dx=2*x", "--device", "cuda"),
        ("--claim", "d/dx=2*x", "--wrt", "x"),
        ("--claim", "d/dx=2*x", "--shape", "x=a"),
        ("--claim", "d/dx=2*x", "--shape", "z=2"),
        ("--claim", "d/dx=2*x", "--shape", "x=2", "x=3"),
        ("--claim", "d/dx=2*x", "--shape", "x=2", "--shape", "x=3"),
    ],
)
def test_options_that_do_not_fit_are_refused(gradcli: Run, words: tuple[str]) -> None:
    ended = gradcli("check", "x**2", *words)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("error[E59")


def test_time_is_bounded(gradcli: Run) -> None:
    program = "y = X\nfor i in range(600): y = tanh(y @ X)\ny.sum()"
    ended = gradcli(
        "check", program, "--shape", "X=12,12", "--claim", "d/dX = X",
        "--verify-seconds", "1", timeout=HANGS,
    )  # fmt: skip
    assert ended.status == 4
    assert "unknown" in ended.out


def test_an_operand_to_transpose_is_named_where_shapes_do_not_fit(
    gradcli: Run,
) -> None:
    ended = gradcli("check", *SQUARES, "--claim", "d/dw = 2*X @ (X@w - y)")
    assert ended.status == 3
    assert "the derivative is 2*X.t() @ (X@w - y)" in ended.err


def test_an_error_in_a_list_points_into_the_typed_text(gradcli: Run) -> None:
    ended = gradcli("check", "x**2", "--claim", "d/dx = [1, [xx]]")
    assert ended.status == 3
    assert ended.err.splitlines()[2].startswith("    |             ^^ did you mean")


def test_an_index_that_no_entry_has_is_refused(gradcli: Run) -> None:
    ended = gradcli("check", "sum(x)", "x=[1,2]", "--claim", "d/dx[2] = 1")
    assert ended.status == 2
    assert "x has shape [2]" in ended.err


def test_a_number_claimed_at_the_point_given_is_no_failure(gradcli: Run) -> None:
    ended = gradcli("check", "x**2", "x=3", "--claim", "dx = 6")
    assert ended.status == 0
    assert ended.out.startswith("dx = 6  agrees  (at 1 point; the point given")


def test_a_large_counterexample_shows_what_is_not_zero(gradcli: Run) -> None:
    sizes = ("--shape", "X=9,5", "--shape", "w=5", "--shape", "y=9")
    ended = gradcli("check", SQUARES[0], *sizes, "--claim", WRONG)
    assert ended.status == 1
    place = ended.out.splitlines()[1]
    assert re.match(r"  at X = 0 everywhere but X\[\d, \d\] = 1.0, w = \[0.0, ", place)
    told = gradcli("check", SQUARES[0], *sizes, "--claim", WRONG, "--json").json
    assert len(told["claims"][0]["counterexample"]["inputs"]["X"]) == 9
