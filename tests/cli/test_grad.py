"""`gradcli grad` and `gradcli check` as people and scripts meet them."""

from __future__ import annotations

import json

from tests.processes import HANGS

from .conftest import Run


def test_a_large_result_is_never_cut_in_a_pipe(gradcli: Run) -> None:
    ended = gradcli("grad", "(x**2).sum()", "x=linspace(0,1,5000)", "--no-verify")
    line = next(text for text in ended.out.splitlines() if text.startswith("d/dx"))
    assert len(json.loads(line.partition(" = ")[2])) == 5000
    assert "…" not in ended.out


def test_the_time_of_a_check_is_bounded(gradcli: Run) -> None:
    program = "y = X\nfor i in range(600): y = tanh(y @ X)\ny.sum()"
    ended = gradcli(
        "check", program, "--shape", "X=12,12", "--claim", "d/dX = X",
        "--verify-seconds", "1", timeout=HANGS,
    )  # fmt: skip
    assert ended.status == 4
    assert "unknown" in ended.out
