"""A false claim is answered with the derivative, which is a claim that holds."""

from __future__ import annotations

from math import inf

import pytest

from gradcli.answers import right_derivative as answers
from gradcli.answers.evidence import FormulaPiece
from gradcli.answers.right_derivative import right_derivative
from gradcli.check.claim_judge import judge
from gradcli.check.claims import Claim, ClaimInput, ClaimsTask, read_claim

ANSWERS = {
    ("y = e^x", "dy/dx = x*e^(x-1)"): "exp(x)",
    ("sin(x²)", "d/dx = exp(x) + 7"): "2*x*cos(x**2)",
    ("x^3*z", "d2/dx dz = 9"): "3*x**2",
    ("y = x^5", "d3y/dx3 = 60x"): "60*x**2",
    ("y = x^5*z", "d^4y/dx^4 = 60x"): "120*x*z",
    ("y = π x^5".replace("π x", "π*x"), "y''' = 60x"): "60*x**2*pi",
    ("sum(v^2)", "d/dv = v + 7"): "2 * v",
    ("sum(v^2)", "d/dv[1] = 7"): "2*v[1]",
    ("sum(v^3)", "d2/dv2 = v"): "[[6*v[0], 0], [0, 6*v[1]]]",
    ("v*x", "d/dx = 1"): "v",
    ("log2(x)", "d/dx = 1/x"): "1/(x*log(2))",
}


def task_of(program: str, text: str) -> ClaimsTask:
    names = [name for name in "xzv" if name in program]
    inputs = tuple(ClaimInput(name, (2,) if name == "v" else ()) for name in names)
    claim = read_claim(text, names, {"y"})
    return ClaimsTask(program, inputs, (claim,), seconds=inf)


@pytest.mark.parametrize(("program", "text"), ANSWERS)
def test_a_false_claim_is_answered_with_the_derivative(program: str, text: str) -> None:
    task = task_of(program, text)
    answer = ANSWERS[program, text]
    assert judge(task).rulings[0].verdict == "refuted"
    pieces = right_derivative(task, task.claims[0], inf)
    assert [piece.formula for piece in pieces] == [answer]
    right = task_of(program, f"{text.partition('=')[0]}= {answer}")
    assert judge(right).rulings[0].verdict == "proved"


@pytest.mark.parametrize(
    ("program", "given", "claim"),
    [
        ("sum(A@A@A)", ClaimInput("A", (4, 4)), read_claim("d2/dA2 = 1", ["A"])),
        ("log(-1 - x**2)", ClaimInput("x", ()), read_claim("d/dx = 1", ["x"])),
        ("x", ClaimInput("x", ()), Claim("value")),
    ],
    ids=["too long", "no value", "of values"],
)
def test_there_is_not_always_an_answer(
    program: str, given: ClaimInput, claim: Claim
) -> None:
    task = ClaimsTask(program, (given,), (), seconds=inf)
    assert right_derivative(task, claim, inf) == ()


@pytest.mark.parametrize("function", ["derivatives", "Visit"])
def test_a_mistake_of_gradcli_itself_is_not_taken_for_a_point_without_a_value(
    function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> None:
        raise AttributeError("a slip")

    monkeypatch.setattr(answers, function, broken)
    task = task_of("x^2", "d/dx = x")
    with pytest.raises(AttributeError, match="a slip"):
        right_derivative(task, task.claims[0], inf)


def test_the_condition_of_a_formula_by_matrices_is_one_of_matrices() -> None:
    task = task_of("norm(v - 1)^2", "d/dv = v - 1")
    (piece,) = right_derivative(task, task.claims[0], inf)
    assert piece == FormulaPiece("2 * (v - 1)", ("norm(v - 1) != 0",))
