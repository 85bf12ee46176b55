"""`gradcli check` as a shell runs it."""

from __future__ import annotations

from tests.cli.conftest import Run
from tests.cli.conftest import gradcli as gradcli
from tests.processes import HANGS

SQUARES = ("L = ((X@w - y)**2).sum()", "--shape", "X=3,2", "--shape", "w=2",
           "--shape", "y=3")  # fmt: skip
RIGHT = "d/dw = 2*X.t() @ (X@w - y)"
WRONG = "d/dw = X.t() @ (X@w - y)"


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


def test_time_is_bounded(gradcli: Run) -> None:
    program = "y = X\nfor i in range(600): y = tanh(y @ X)\ny.sum()"
    ended = gradcli(
        "check", program, "--shape", "X=12,12", "--claim", "d/dX = X",
        "--verify-seconds", "1", timeout=HANGS,
    )  # fmt: skip
    assert ended.status == 4
    assert "unknown" in ended.out
