"""`--latex` and `--code` on the command line: what is printed, and what is refused."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from .conftest import AT, FIVE, Run

LINEAR = ["y = A @ x", "A=[[1,2],[3,4]]", "x=[5,6]"]


def test_quiet_latex_is_an_equation_a_line_and_nothing_else(gradcli: Run) -> None:
    ended = gradcli("grad", FIVE, *AT, "--latex", "-q", "--verify-seconds", "30")
    assert ended.status == 0
    assert ended.out.splitlines() == [
        r"\frac{\partial L}{\partial w_{1}} = - a w_{3}",
        r"\frac{\partial L}{\partial a} = - w_{1} w_{3} - w_{2} w_{4}",
        r"\frac{\partial L}{\partial w_{2}} = - a w_{4}",
        r"\frac{\partial L}{\partial w_{3}} = - a w_{1}",
        r"\frac{\partial L}{\partial w_{4}} = - a w_{2}",
    ]


def test_latex_follows_the_numbers_and_the_verdicts(gradcli: Run) -> None:
    ended = gradcli("jacobian", *LINEAR, "--latex", "--verify-seconds", "30")
    numbers, _, latex = ended.out.rpartition("\n\n")
    assert "proved: 2 of 2 blocks" in numbers
    assert latex == (
        r"\frac{\partial \left(y_{0}, y_{1}\right)}"
        r"{\partial \left(A_{0,0}, A_{0,1}, A_{1,0}, A_{1,1}\right)} = "
        r"\begin{pmatrix} x_{0} & x_{1} & 0 & 0 \\ 0 & 0 & x_{0} & x_{1} \end{pmatrix}"
        "\n"
        r"\frac{\partial y}{\partial x} = "
        r"\begin{pmatrix} A_{0,0} & A_{0,1} \\ A_{1,0} & A_{1,1} \end{pmatrix}"
        "\n"
    )


def test_formulas_and_latex_can_be_had_together(gradcli: Run) -> None:
    ended = gradcli("grad", "L = x**2", "x=3", "--latex", "--symbolic")
    assert ended.out.endswith(
        "\n\ndL/dx = 2*x\n\n\\frac{\\partial L}{\\partial x} = 2 x\n"
    )


def test_the_json_has_latex_beside_the_formulas(gradcli: Run) -> None:
    words = ["L = x*alpha**2", "x=1", "alpha=2", "--latex", "--json"]
    for given in gradcli("grad", *words).json["inputs"]:
        assert given["latex"].startswith(r"\frac{\partial L}{\partial")
        assert given["symbolic"]
    blocks = gradcli("hessian", *words).json["blocks"]
    latex = {tuple(block["inputs"]): block["latex"] for block in blocks}
    assert latex["alpha", "alpha"] == (
        r"\frac{\partial^{2} L}{\partial \alpha^{2}} = 2 x"
    )
    plain = gradcli("grad", *words[:3], "--symbolic", "--json").json
    assert "latex" not in plain["inputs"][0]


def test_latex_that_was_not_found_is_a_comment(gradcli: Run) -> None:
    ended = gradcli(
        "jacobian", "tanh(A@A@A)@x", "A=rand(6,6)", "x=rand(6)", "--latex", "-q",
        "--verify-seconds", "0.05",
    )  # fmt: skip
    assert ended.status == 0
    assert [line[:2] for line in ended.out.splitlines()] == ["% ", "% "]


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


def test_a_gradient_as_equations(gradcli: Run) -> None:
    words = ["L = exp(x)*theta_1/y", "x=2", "theta_1=1", "y=3"]
    told = gradcli("grad", *words, "--code", "latex", "--no-verify")
    assert told.out.splitlines() == [
        r"\begin{align*}",
        r"  t_{1} &= e^{x} \\",
        r"  L &= \frac{t_{1} \cdot \theta_{1}}{y} \\",
        r"  x_{\mathrm{grad}} &= \frac{\theta_{1}}{y} \cdot t_{1} \\",
        r"  \theta_{1,\mathrm{grad}} &= \frac{t_{1}}{y} \\",
        r"  y_{\mathrm{grad}} &= -\frac{L}{y}",
        r"\end{align*}",
    ]


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("command", ["grad", "jacobian", "hessian"])
def test_printed_c_compiles_as_it_is(
    gradcli: Run, command: str, tmp_path: Path
) -> None:
    ended = gradcli(command, "L = sum(sigmoid(x)*w)", "x=[1,2]", "w=3", "--code", "c")
    (tmp_path / "it.c").write_text(ended.out)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run(["cc", *flags, "-c", "it.c"], cwd=tmp_path, check=True)


def test_the_json_has_the_code_beside_the_numbers(gradcli: Run) -> None:
    for command, name in (("grad", "gradient"), ("jacobian", "jacobian")):
        told = gradcli(command, "x**2", "x=3", "--code", "c", "--json").json
        assert told["code"].endswith("}\n")
        assert f"void {name}(double x, double *value, double *" in told["code"]
        assert told["output"]["value"] == 9
    assert "code" not in gradcli("grad", "x**2", "x=3", "--json").json


def test_code_can_be_had_without_a_check(gradcli: Run) -> None:
    words = ["grad", "x**2", "x=3", "--code", "torch"]
    assert gradcli(*words, "--no-verify").out == gradcli(*words).out


def test_code_says_what_its_numbers_stand_for(gradcli: Run) -> None:
    words = ["x*randn(2)", "x=[1,2]", "--grad-output", "[1,5]", "--seed", "7"]
    text = gradcli("grad", *words, "--code", "c", "--no-verify").out
    assert " * The gradient is contracted with --grad-output [1.0, 5.0].\n" in text
    assert " * Random numbers are those that seed 7 gives.\n" in text


@pytest.mark.parametrize("option", ["--latex", "--symbolic", "--condition", "--digits"])
def test_what_code_would_hide_is_refused(gradcli: Run, option: str) -> None:
    value = ["30"] if option == "--digits" else []
    ended = gradcli("grad", "x**2", "x=3", "--code", "c", option, *value)
    assert ended.status == 2
    assert ended.out == ""
    assert ended.err == (
        f"error[E590]: --code prints the code alone, without {option}\n"
        "  = help: drop one of them, or add --json\n"
    )


def test_a_language_that_there_is_not_is_refused(gradcli: Run) -> None:
    ended = gradcli("hessian", "x**2", "x=3", "--code", "fortran")
    assert ended.status == 2
    assert "'gradcli', 'numpy', 'torch', 'c', 'latex'" in ended.err


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("grad", ["sum(A)", "A=randn(200,200)"]),
        ("jacobian", ["A @ A", "A=randn(30,30)"]),
        ("grad", ["y = x\nfor i in range(9000): y = sin(y)*x\ny", "x=1"]),
    ],
)
def test_code_that_would_be_too_long_is_refused(
    gradcli: Run, command: str, words: list[str]
) -> None:
    ended = gradcli(command, *words, "--code", "c", "--no-verify")
    assert ended.status == 4
    assert ended.out == ""
    assert ended.err.startswith(
        "error[E406]: the code would have more than 20000 steps\n  = help: "
    )
