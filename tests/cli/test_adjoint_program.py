"""The adjoint program on the command line: printed, piped back, refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.reference.test_reference import RECORDS, far

from .conftest import Run

PROGRAM = "L = ((X@w - y)**2).sum()"
VALUES = ["X=[[1,2],[3,4],[5,6]]", "w=[1,2]", "y=[1,0,1]"]


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
