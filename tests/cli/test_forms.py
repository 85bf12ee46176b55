"""`--symbolic` and `--code`: derivatives as formulas and as programs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import Run


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("command", ["grad", "jacobian", "hessian"])
def test_printed_c_compiles_as_it_is(
    gradcli: Run, command: str, tmp_path: Path
) -> None:
    ended = gradcli(command, "L = sum(sigmoid(x)*w)", "x=[1,2]", "w=3", "--code", "c")
    (tmp_path / "it.c").write_text(ended.out)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run(["cc", *flags, "-c", "it.c"], cwd=tmp_path, check=True)


def test_a_gradients_formulas_are_programs_with_its_numbers(gradcli: Run) -> None:
    words = ["sum(softmax(A @ x, dim=0)**2)", "A=[[1,2],[3,1]]", "x=[0.5,0.25]"]
    told = gradcli("grad", *words, "--symbolic", "--json").json
    by_name = {given["name"]: given for given in told["inputs"]}
    for formula, number in zip(
        by_name["x"]["symbolic"], by_name["x"]["grad"], strict=True
    ):
        again = gradcli("grad", formula, *words[1:], "--json", "--no-verify").json
        assert again["output"]["value"] == pytest.approx(number, rel=1e-12)


def test_too_little_time_is_said_instead_of_a_formula(gradcli: Run) -> None:
    ended = gradcli(
        "jacobian", "tanh(A@A@A)@x", "A=rand(6,6)", "x=rand(6)", "--symbolic",
        "--verify-seconds", "0.05",
    )  # fmt: skip
    assert ended.status == 0
    assert "no formula: " in ended.out
    assert "time" in ended.out
