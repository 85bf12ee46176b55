"""The adjoint program on the command line: printed, piped back, refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.reference.test_reference import RECORDS, far

from .conftest import Run

PROGRAM = "L = ((X@w - y)**2).sum()"
VALUES = ["X=[[1,2],[3,4],[5,6]]", "w=[1,2]", "y=[1,0,1]"]


def test_the_program_is_printed_alone(gradcli: Run) -> None:
    ended = gradcli("grad", PROGRAM, *VALUES, "--wrt", "w", "--code", "gradcli")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out == "w_grad = X.T @ (2 * (X @ w - y))\n"


def test_the_jacobian_of_the_piped_program_is_the_hessian(gradcli: Run) -> None:
    first = gradcli("grad", PROGRAM, *VALUES, "--wrt", "w", "--code", "gradcli")
    piped = gradcli("jacobian", "-f", "-", *VALUES, "--wrt", "w", "-q",
                    stdin=first.out)  # fmt: skip
    whole = gradcli("hessian", PROGRAM, *VALUES, "--wrt", "w", "-q")
    assert piped.out == whole.out == "[[70.0, 88.0], [88.0, 112.0]]\n"


@pytest.mark.parametrize("record", RECORDS[::9], ids=[r["name"] for r in RECORDS[::9]])
def test_a_piped_program_gives_the_recorded_gradients(
    record: dict[str, Any], gradcli: Run
) -> None:
    words = {name: f"{name}={json.dumps(v)}" for name, v in record["inputs"].items()}
    options = ["--code", "gradcli", "--no-verify"]
    text = gradcli("grad", record["program"], *words.values(), *options).out
    for name, true in record["grads"].items():
        # The sum makes a scalar of it, whatever it depends on.
        again = f"{text}\nzero = 0*{name}.sum(); {name}_grad + zero"
        reads = [word for key, word in words.items() if key in again]
        printed = gradcli("jacobian", again, *reads, "--json", "--no-verify").out
        assert not far(json.loads(printed)["output"]["value"], true), again


def test_json_has_the_program_beside_the_formulas(gradcli: Run) -> None:
    ended = gradcli("grad", PROGRAM, *VALUES, "--symbolic", "--json", "--wrt", "w")
    printed = json.loads(ended.out)
    assert printed["adjoint_program"] == "w_grad = X.T @ (2 * (X @ w - y))\n"


def test_a_loop_too_long_for_a_text_is_refused_with_status_4(gradcli: Run) -> None:
    ended = gradcli("grad", "for i in range(40000): y = sin(y)*y", "y=1",
                    "--code", "gradcli", "--no-verify",
                    "--max-seconds", "600")  # fmt: skip
    assert ended.status == 4
    assert ended.err == (
        "error[E406]: the adjoint program would be made of more than 200000 parts\n"
        "  = help: use fewer loop iterations, smaller arrays, or fewer inputs with "
        "--wrt\n"
    )


def test_scalars_have_formulas_and_no_program(gradcli: Run) -> None:
    assert "adjoint" not in gradcli("grad", "x*y", "x=1", "y=2", "--symbolic").out


@pytest.mark.parametrize("language", ["gradcli", "numpy", "torch"])
def test_code_on_arrays_says_what_its_numbers_stand_for(
    language: str, gradcli: Run
) -> None:
    words = ["x*randn(2)", "x=[1,2]", "--grad-output", "[1,5]", "--seed", "7"]
    text = gradcli("grad", *words, "--code", language, "--no-verify").out
    assert "The gradient is contracted with --grad-output [1.0, 5.0].\n" in text
    assert "Random numbers are those that seed 7 gives.\n" in text


def test_the_gradients_stand_in_the_inputs_order(gradcli: Run) -> None:
    text = gradcli("grad", "(y*sin(x)).sum()", "x=[1,2]", "y=3", "--code", "gradcli",
                   "--no-verify").out  # fmt: skip
    assert text == "y_grad = sum(sin(x))\nx_grad = y * cos(x)\n"
