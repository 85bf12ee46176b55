"""``--times``: a Hessian or a Jacobian times a vector, without the matrix."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gradcli.autograd import blocks
from gradcli.cli.app import run
from gradcli.engine import Tensor

Capture = pytest.CaptureFixture[str]

PATIENCE = ["--verify-seconds", "600"]


def test_a_wrong_product_is_refuted(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = blocks.hessian_product

    def wrong(*given: Any) -> Any:
        return [Tensor(2 * t.raw, t.xp) for t in right(*given)]

    monkeypatch.setattr(blocks, "hessian_product", wrong)
    assert run(["hessian", "x^3", "x=2", "--times", "1", *PATIENCE]) == 1
    out, err = capsys.readouterr()
    assert "Hv[x]  refuted" in out
    assert err.endswith("the engine gave 24.0, the true value is 12.0\n")


def test_no_matrix_is_made(capsys: Capture) -> None:
    """It would have ten thousand million entries that are not zero."""
    count = 100_000
    words = ["sum(x)^2", f"x=linspace(0,1,{count})", f"--times=x=ones({count})"]
    assert run(["hessian", *words, "--no-verify", "-q"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == [2.0 * count] * count
