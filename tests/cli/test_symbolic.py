"""`--symbolic`: derivatives as formulas, in text and in JSON; and divisions by zero."""

from __future__ import annotations

import pytest

from .conftest import Run

LINEAR = ["y = A @ x", "A=[[1,2],[3,4]]", "x=[5,6]"]


def test_a_jacobian_is_a_table_with_named_rows_and_columns(gradcli: Run) -> None:
    ended = gradcli("jacobian", *LINEAR, "--symbolic", "--verify-seconds", "30")
    assert ended.out.endswith(
        "\n"
        "dy/dA\n"
        "        A[0,0]  A[0,1]  A[1,0]  A[1,1]\n"
        "  y[0]  x[0]    x[1]    0       0\n"
        "  y[1]  0       0       x[0]    x[1]\n"
        "\n"
        "dy/dx\n"
        "        x[0]    x[1]\n"
        "  y[0]  A[0,0]  A[0,1]\n"
        "  y[1]  A[1,0]  A[1,1]\n"
    )


def test_the_json_has_formulas_in_the_blocks_shape(gradcli: Run) -> None:
    told = gradcli("jacobian", *LINEAR, "--symbolic", "--json").json
    of_a, of_x = told["blocks"]
    assert of_a["symbolic"][0] == [["x[0]", "x[1]"], ["0", "0"]]
    assert of_x["symbolic"] == [["A[0,0]", "A[0,1]"], ["A[1,0]", "A[1,1]"]]
    assert of_x["symbolic_note"] is None
    assert "symbolic" not in gradcli("jacobian", *LINEAR, "--json").json["blocks"][0]


def test_a_hessian_has_a_block_of_formulas_per_pair(gradcli: Run) -> None:
    words = ["L = x[0]**2*y*x[1]", "x=[1,3]", "y=2"]
    ended = gradcli("hessian", *words, "--symbolic")
    assert "proved: 2 of 2 blocks" in ended.out
    assert ended.out.endswith(
        "\n"
        "d2L/dx dx\n"
        "        x[0]      x[1]\n"
        "  x[0]  2*x[1]*y  2*x[0]*y\n"
        "  x[1]  2*x[0]*y  0\n"
        "\n"
        "d2L/dx[0] dy = 2*x[0]*x[1]\n"
        "d2L/dx[1] dy = x[0]**2\n"
        "\n"
        "d2L/dy dx[0] = 2*x[0]*x[1]\n"
        "d2L/dy dx[1] = x[0]**2\n"
        "\n"
        "d2L/dy dy = 0\n"
    )
    told = gradcli("hessian", *words, "--symbolic", "--json").json
    assert {tuple(b["inputs"]): b["symbolic"] for b in told["blocks"]} == {
        ("x", "x"): [["2*x[1]*y", "2*x[0]*y"], ["2*x[0]*y", "0"]],
        ("x", "y"): ["2*x[0]*x[1]", "x[0]**2"],
        ("y", "x"): ["2*x[0]*x[1]", "x[0]**2"],
        ("y", "y"): "0",
    }


@pytest.mark.parametrize("function", ["maximum", "minimum", "fmax", "fmin"])
def test_a_hessian_through_an_extremum_is_proved(gradcli: Run, function: str) -> None:
    program = f"sum({function}(x, y)*x)"
    told = gradcli("hessian", program, "x=[1,2]", "y=1.5", "--json").json
    assert told["verification"]["verdict"] == "proved"


def test_a_gradients_formulas_are_programs_with_its_numbers(gradcli: Run) -> None:
    words = ["sum(softmax(A @ x, dim=0)**2)", "A=[[1,2],[3,1]]", "x=[0.5,0.25]"]
    told = gradcli("grad", *words, "--symbolic", "--json").json
    by_name = {given["name"]: given for given in told["inputs"]}
    for formula, number in zip(
        by_name["x"]["symbolic"], by_name["x"]["grad"], strict=True
    ):
        again = gradcli("grad", formula, *words[1:], "--json", "--no-verify").json
        assert again["output"]["value"] == pytest.approx(number, rel=1e-12)


def test_a_gradients_formulas_follow_the_verdicts(gradcli: Run) -> None:
    ended = gradcli("grad", "L = sum(sin(x)*y)", "x=[1,2]", "y=3", "--symbolic")
    assert ended.out.endswith(
        "\n"
        "dL/dx[0] = y*cos(x[0])\n"
        "dL/dx[1] = y*cos(x[1])\n"
        "\n"
        "dL/dy = sin(x[0]) + sin(x[1])\n"
        "\n"
        "adjoint program  run at this point it gives the gradients above\n"
        "x_grad = y * cos(x)\n"
        "y_grad = sum(sin(x))\n"
    )


def test_too_little_time_is_said_instead_of_a_formula(gradcli: Run) -> None:
    ended = gradcli(
        "jacobian", "tanh(A@A@A)@x", "A=rand(6,6)", "x=rand(6)", "--symbolic",
        "--verify-seconds", "0.05",
    )  # fmt: skip
    assert ended.status == 0
    assert "no formula: " in ended.out
    assert "time" in ended.out


def test_formulas_wider_than_a_table_are_a_line_each(gradcli: Run) -> None:
    program = "y = stack([sin(x[0]*x[1]*x[2])**3, cos(x[0]**2*x[1]/x[2])])"
    ended = gradcli("jacobian", program, "x=[1,2,3]", "--symbolic")
    assert "\ndy[0]/dx[0] = " in ended.out
    assert "\ndy[1]/dx[2] = " in ended.out


def test_outside_the_domain_nothing_is_proved(gradcli: Run) -> None:
    ended = gradcli("grad", "log(x)", "x=-1")
    assert ended.status == 0
    assert "log needs x > 0" in ended.out
    assert "proved" not in ended.out


BY_ZERO = [
    "x/0", "x/0.0", "-x/0", "x/False", "x/(1-1)", "(x-x)/0", "x/0 - x/0", "exp(x)/0",
    "x//0", "x%0", "x*0**-1", "0/0*x", "1//0*x", "1%0 + x", "0**-x", "0**-1*x",
    "fmod(x, 0)", "remainder(x, 0)", "div(x, 0)", "x.div(0)", "floor_divide(x, 0)",
    "div(x, 0, rounding_mode='trunc')", "addcdiv(x, x, 0)", "reciprocal(x - x)",
    "y = x*1; y /= 0; y", "y = x*1; y %= 0; y", "y = x*1; y //= 0; y",
]  # fmt: skip


@pytest.mark.parametrize("program", BY_ZERO)
def test_division_by_zero_is_a_value_and_a_note_and_never_proved_nor_refuted(
    gradcli: Run, program: str
) -> None:
    ended = gradcli("grad", program, "x=2", "--json")
    assert ended.status == 0, ended.err
    assert ended.json["output"]["value"] in ("inf", "-inf", "nan")
    assert ended.json["notes"]
    assert ended.json["verification"]["verdict"] == "unknown"
    (given,) = ended.json["inputs"]
    assert given["note"]
    assert "Error" not in given["note"]


@pytest.mark.parametrize("command", ["jacobian", "hessian"])
@pytest.mark.parametrize("program", ["x/0", "(x-x)/0", "x//0", "addcdiv(x, x, 0)"])
def test_division_by_zero_has_further_derivatives(
    gradcli: Run, command: str, program: str
) -> None:
    ended = gradcli(command, program, "x=2", "--json", "--no-verify")
    assert ended.status == 0, ended.err
    assert ended.json["output"]["value"] in ("inf", "nan")


PIECES = [
    ("int(x)*x", "x=2.5", "x >= 2, x < 3"),
    ("relu(x)**2", "x=0", "x == 0"),
    ("floor(x)*y", "x=1.5", "x >= 1, x < 2"),
]


@pytest.mark.parametrize(("program", "point", "region"), PIECES)
@pytest.mark.parametrize("form", ["--symbolic", "--latex"])
@pytest.mark.parametrize("command", ["grad", "jacobian"])
def test_no_formula_is_shown_without_where_it_holds(
    gradcli: Run, command: str, form: str, program: str, point: str, region: str
) -> None:
    words = [command, program, point, *(["y=2"] if "y" in program else []), form]
    assert f"\nwhere {region}\n" in gradcli(*words).out
    bare = gradcli(*words, "-q")
    assert bare.err == f"note: what is shown holds where {region}\n"
    assert "where" not in bare.out
