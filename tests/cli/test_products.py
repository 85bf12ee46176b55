"""``--times``: a Hessian or a Jacobian times a vector, without the matrix."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from gradcli.answers import products
from gradcli.cli.app import run
from gradcli.engine import Tensor

Capture = pytest.CaptureFixture[str]

PATIENCE = ["--verify-seconds", "600"]
QUARTIC = ["(x**4).sum()*y + sin(y)*x[0]", "x=[1, 2]", "y=3"]


def answer(capsys: Capture, *words: str, status: int = 0) -> Any:
    assert run([*words, "--json", *PATIENCE]) == status
    return json.loads(capsys.readouterr().out)


def numbers(told: Any) -> list[float]:
    return [n for each in told for n in np.ravel(each["value"]).tolist()]


def test_it_is_the_hessian_times_the_vector(capsys: Capture) -> None:
    whole = answer(capsys, "hessian", *QUARTIC, "--no-verify")
    shapes = [(2, 2), (2, 1), (1, 2), (1, 1)]
    blocks = [
        np.reshape(block["value"], shape)
        for block, shape in zip(whole["blocks"], shapes, strict=True)
    ]
    matrix = np.block([blocks[:2], blocks[2:]])
    vector = ["--times", "x=[0.5, -1]", "--times", "y=2"]
    found = answer(capsys, "hessian", *QUARTIC, *vector)
    assert numbers(found["products"]) == pytest.approx(matrix @ [0.5, -1, 2])
    assert numbers(found["vectors"]) == [0.5, -1, 2]
    assert [p["verdict"] for p in found["products"]] == ["certified"] * 2
    assert (found["verification"]["checked"], found["verification"]["of"]) == (3, 3)


def test_inputs_that_are_not_named_stay_where_they_are(capsys: Capture) -> None:
    assert (
        run(["hessian", "x*y*y", "x=2", "y=3", "--times", "y=1", "-q", "--no-verify"])
        == 0
    )
    assert capsys.readouterr().out == "6.0\n4.0\n"


def test_the_name_may_be_left_out_where_there_is_one_input(capsys: Capture) -> None:
    assert run(["hessian", "x^3", "x=2", "--times", "5", "-q", "--no-verify"]) == 0
    assert capsys.readouterr().out == "60.0\n"


def test_a_jacobian_times_a_vector_is_a_forward_pass(capsys: Capture) -> None:
    words = ["jacobian", "log(x)*y", "x=[4, 2]", "y=3", "--times", "x=[1, 0]"]
    found = answer(capsys, *words)
    (told,) = found["products"]
    assert told["value"] == pytest.approx([0.75, 0])
    assert (told["output"], told["verdict"]) == ("output", "proved")
    assert found["verification"]["side_conditions"] == ["x[0] > 0", "x[1] > 0"]


def test_text_names_the_parts(capsys: Capture) -> None:
    words = ["hessian", "y = log(x)*z", "x=2", "z=1", "--times", "x=2", "--no-verify"]
    assert run(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["Hv[x] = -0.5", "Hv[z] = 1.0", "",
                     "one backward pass through the gradient"]  # fmt: skip


def test_conditions_and_kinks_are_told_of_the_program_itself(capsys: Capture) -> None:
    assert run(["hessian", "abs(x)*x", "x=0", "--times", "1", *PATIENCE]) == 0
    out = capsys.readouterr().out
    assert "kink: abs has no derivative at 0: x = 0.0" in out
    assert "step" not in out
    assert "seed" not in out


def test_a_wrong_product_is_refuted(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = products._by_hessian

    def wrong(run: Any, vectors: Any) -> Any:
        return {n: Tensor(2 * t.raw, t.xp) for n, t in right(run, vectors).items()}

    monkeypatch.setattr(products, "_by_hessian", wrong)
    assert run(["hessian", "x^3", "x=2", "--times", "1", *PATIENCE]) == 1
    out, err = capsys.readouterr()
    assert "Hv[x]  refuted" in out
    assert err.endswith("the engine gave 24.0, the true value is 12.0\n")


def test_names_of_the_check_are_not_those_of_the_program(capsys: Capture) -> None:
    words = ["hessian", "step*along_x*x^2", "x=2", "step=3", "along_x=1", "--wrt", "x"]
    found = answer(capsys, *words, "--times", "1")
    assert found["products"][0]["value"] == 6
    assert found["products"][0]["verdict"] == "certified"


@pytest.mark.parametrize(
    ("words", "status", "reason"),
    [
        (["--times", "z=5"], 2, "nothing is differentiated by 'z'"),
        (["--times", "x=[1,2]"], 2, "x has shape [], its vector [2]"),
        (["--times", "x=1", "--sparse"], 2, "--sparse is for a matrix"),
        (["--times", "x=1", "--symbolic"], 2, "--symbolic is for a matrix"),
        (["--times", "x=oops"], 3, "unknown name 'oops'"),
    ],
)
def test_what_is_no_product_is_refused(
    capsys: Capture, words: list[str], status: int, reason: str
) -> None:
    assert run(["hessian", "x^3", "x=2", "--no-verify", *words]) == status
    assert reason in capsys.readouterr().err


def test_no_matrix_is_made(capsys: Capture) -> None:
    """It would have ten thousand million entries that are not zero."""
    count = 100_000
    words = ["sum(x)^2", f"x=linspace(0,1,{count})", f"--times=x=ones({count})"]
    assert run(["hessian", *words, "--no-verify", "-q"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == [2.0 * count] * count
