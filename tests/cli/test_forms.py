"""`--latex` and `--code` on the command line: what is printed, and what is refused."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from .conftest import Run


def test_code_is_all_that_is_printed(gradcli: Run) -> None:
    ended = gradcli("jacobian", "L = x**3 + b", "x=2", "b=1", "--code", "numpy")
    assert ended.status == 0
    assert ended.out == (
        "import numpy as np\n"
        "\n"
        "\n"
        "def jacobian(x, b):\n"
        '    """The Jacobian of:\n'
        "        L = x**3 + b\n"
        "\n"
        "    in   x: a number\n"
        "    in   b: a number\n"
        "    out  value: L, a number\n"
        "    out  x_jac: dL/dx, a number\n"
        "    out  b_jac: dL/db, a number\n"
        '    """\n'
        "    x, b = (np.asarray(a, dtype=float) for a in (x, b))\n"
        "    value = x**3 + b\n"
        "    x_jac = 3 * x**2\n"
        "    b_jac = np.float64(1)\n"
        "    return value, (x_jac, b_jac)\n"
    )


@pytest.mark.parametrize("command", ["jacobian", "hessian"])
def test_blocks_as_a_program_of_gradclis_own_are_read_back(
    gradcli: Run, command: str
) -> None:
    words = ["L = norm(x)*a", "x=[3,4]", "a=2"]
    text = gradcli(command, *words, "--code", "gradcli", "--no-verify").out
    name = "x_jac" if command == "jacobian" else "x_x_hess"
    again = gradcli("jacobian", f"{text}\n{name}", *words[1:], "--json").json
    blocks = gradcli(command, *words, "--json", "--no-verify").json["blocks"]
    np.testing.assert_allclose(again["output"]["value"], blocks[0]["value"], 1e-14)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("command", ["grad", "jacobian", "hessian"])
def test_printed_c_compiles_as_it_is(
    gradcli: Run, command: str, tmp_path: Path
) -> None:
    ended = gradcli(command, "L = sum(sigmoid(x)*w)", "x=[1,2]", "w=3", "--code", "c")
    (tmp_path / "it.c").write_text(ended.out)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run(["cc", *flags, "-c", "it.c"], cwd=tmp_path, check=True)
