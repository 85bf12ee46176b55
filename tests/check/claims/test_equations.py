"""Claims about the derivative of one name of an equation."""

from __future__ import annotations

import pytest

from gradcli.answers.check import CheckAnswer, check, claims_task, equation_claimed
from gradcli.answers.question import Question
from gradcli.check.claim_judge import judge
from gradcli.lang.bindings import read_bindings
from gradcli.lang.errors import ProgramError


def answer(source: str, *claims: str, values: str = "") -> CheckAnswer:
    bindings = read_bindings(values.split())
    found = equation_claimed(source, claims[0], [b.name for b in bindings])
    assert found is not None
    question = Question(
        found.program, bindings, of=found.of, wrt=found.others(None), tied=found,
        symbols=True, seconds=60.0,
    )  # fmt: skip
    task = claims_task(question, claims, None, 8)
    return check(task, judge(task))


TRUE = [
    ("x^2 + y^2 = 25", "dy/dx = -x/y"),
    ("x^2 + y^2 = 25", "y' = -x/y"),
    ("x^2 + y^2 = 25", "d/dx = -x/y"),
    ("x*y = 1", "dy/dx = -1/x^2"),
    ("xy = 1", "dx/dy = -x/y"),
    ("x = tan(y)", "dy/dx = 1/(1 + x^2)"),
    ("exp(y) = x + y", "dy/dx = 1/(x + y - 1)"),
    ("x^2 + y^2 + z^2 = 1", "∂z/∂x = -x/z"),
    ("x^2 + y^2 = 25", "d2y/dx2 = -25/y^3"),
    ("x*y*z = 1", "d2z/dxdy = z/(x*y)"),
]


@pytest.mark.parametrize(("source", "claim"), TRUE)
def test_a_true_claim_is_proved(source: str, claim: str) -> None:
    assert answer(source, claim).verification.verdict == "proved"


FALSE = [
    ("dy/dx = x/y", "sign", "-x/y"),
    ("dy/dx = -2x/y", "factor", "-x/y"),
    ("dy/dx = -y/x", "reciprocal", "-x/y"),
    ("dy/dx = -x/sqrt(25 - x^2)", None, "-x/y"),
    ("d2y/dx2 = 25/y^3", "sign", "-x**2/y**3 - 1/y"),
]


@pytest.mark.parametrize(("claim", "cause", "right"), FALSE)
def test_a_false_claim_has_a_point_of_the_equation(
    claim: str, cause: str | None, right: str
) -> None:
    (found,) = answer("x^2 + y^2 = 25", claim).claims
    assert (found.verdict, found.cause, found.right) == ("refuted", cause, right)
    assert found.counterexample is not None
    x, y = (found.counterexample.inputs[name] for name in "xy")
    assert isinstance(x, float)
    assert isinstance(y, float)
    assert x**2 + y**2 == pytest.approx(25)


def test_a_number_is_claimed_of_the_given_point_alone() -> None:
    found = answer("x^2 + y^2 = 25", "dy/dx = -0.75", values="x=3 y=4")
    assert found.verification.verdict == "agrees"
    found = answer("x^2 + y^2 = 25", "dy/dx = -0.7", values="x=3 y=4")
    assert found.verification.verdict == "refuted"


def test_a_second_derivative_is_shown_as_one() -> None:
    (found,) = answer("x^2 + y^2 = 25", "y'' = -25/y^3").claims
    assert found.derivative == "d2y/dx dx"
    with pytest.raises(ProgramError, match="above the second"):
        answer("x^2 + y^2 = 25", "y''' = x")


@pytest.mark.parametrize(
    ("source", "claim"),
    [("y = x^2", "dy/dx = 2x"), ("f = x*y", "df/dx = y"), ("x^2", "d/dx = 2x")],
)
def test_a_program_is_no_equation(source: str, claim: str) -> None:
    assert equation_claimed(source, claim, []) is None


def test_an_equation_without_points_is_not_decided() -> None:
    (found,) = answer("x^2 + y^2 = -25", "dy/dx = -x/y").claims
    assert found.verdict == "unknown"
    assert found.note is not None
    assert "no point of the equation is near" in found.note
