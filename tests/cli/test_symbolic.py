"""`--symbolic`: derivatives as formulas, in text and in JSON; and divisions by zero."""

from __future__ import annotations

import pytest

from .conftest import Run


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
