"""Slips of first courses are named, each by the rule that was applied wrongly."""

from __future__ import annotations

from math import log
from pathlib import Path

import pytest

from gradcli.answers import slip_table
from gradcli.answers.check import Judged, check, claims_task
from gradcli.answers.evidence import number_text
from gradcli.answers.question import Question
from gradcli.answers.slip_table import RULES
from gradcli.check.claim_judge import judge
from gradcli.lang.bindings import read_bindings
from gradcli.lang.prepare import read_program

ROWS = [
    line.split("\t")
    for line in (Path(__file__).parent / "slips.tsv").read_text().splitlines()
]
"""Program, input, claimed derivative, values, and the cause that is named."""


def judged(program: str, by: str, claim: str, values: str) -> Judged:
    return judged_equation(program, f"d/d{by} = {claim}", values)


def judged_equation(program: str, claim: str, values: str) -> Judged:
    bindings = read_bindings(values.split())
    text = read_program(program, bindings, {}, lambda note: None)
    question = Question(text, bindings, symbols=True)
    task = claims_task(question, [claim], None, 8)
    return check(task, judge(task)).claims[0]


@pytest.mark.parametrize(
    ("program", "by", "claim", "values", "cause"),
    ROWS,
    ids=[f"{row[0]}: {row[2]}" for row in ROWS],
)
def test_slip_is_named(
    program: str, by: str, claim: str, values: str, cause: str
) -> None:
    found = judged(program, by, claim, values)
    assert found.verdict == "refuted"
    assert found.cause == cause


SENTENCES = {
    ("x^2*sin(x)", "2x*cos(x)"): "with u = x^2, v = sin(x): this is u'*v'",
    ("-log(x)-log(1-x)", "2x-1"): "the factor (1 / (1-x)) * (1 / x) is missing",
    ("sin(x)/x", "(x*cos(x)-sin(x))/x"): "the denominator is not squared",
    ("sin(x^2)", "cos(2x)"): "with u = x^2: the inner derivative is put inside",
    ("2^x", "x*2^(x-1)"): "the power rule is for u^n with a fixed n",
    ("atan(x)", "1+tan(x)^2"): "this is the derivative of tan, not of atan",
    ("asin(x)", "1/sqrt(1+x^2)"): "a sign under the root is wrong",
    ("cos(x)", "sin(x)"): "the sign is wrong: d cos(x)/dx = -sin(x)",
    ("x^2", "x^3/3"): "this is an integral of the program",
    ("sin(x)", "sin(x)"): "this is the function itself",
    ("x^3", "x^3"): "this is the function itself",
    ("sec(x)", "tan(x)"): "sec(u)*tan(u)*u': the factor sec(u) is missing",
    ("cot(x)", "csc(x)^2"): "the sign is wrong: d cot(u)/du = -csc(u)^2",
    ("sin(x)^2", "cos(x)^2"): "with u = sin(x): this is f(u')",
    ("sqrt(1-x^2)", "x/sqrt(1-x^2)"): "the minus in 1-x^2 is lost",
    ("x^4*sin(2x)", "4x^3*cos(2x)"): "there are two slips: chain rule",
    ("tan(x)", "sec(x)*tan(x)"): "the derivative of tan(u) is sec(u)^2*u'",
    ("asin(x)", "1/sin(x)"): "asin is the inverse function of sin, not 1/sin: d asin",
    ("sin(x^2)", "cos(2x)*2x"): "with u = x^2: f' is taken at u'",
    ("sin(x^2)", "cos(2x)*x^2"): "with u = x^2: u and u' are exchanged",
}


@pytest.mark.parametrize(("program", "claim"), SENTENCES)
def test_slip_is_explained(program: str, claim: str) -> None:
    found = judged(program, "x", claim, "x=0.4")
    assert SENTENCES[program, claim] in (found.diagnosis or "")


REPAIRS = {
    ("cos(3x)", "-sin(3x)"): "multiply by 3",
    ("(5-x/4)^3", "3(5-x/4)^2"): "multiply by -0.25",
    ("exp(-x^2)", "exp(-x^2)"): "multiply by -2 * x",
    ("10^x", "10^x/ln(10)"): "write 10^x*ln(10)",
    ("x^x", "x*x^(x-1)"): "add the other term",
    ("x^(-2)", "-2x^(-1)"): "reduce it by 1",
    ("log(x^2+1)", "1/(2x)"): "take f' at x^2+1 and multiply by u'",
    ("asin(x)", "1/cos(x)"): "write 1/sqrt(1 - x^2)",
}


WRITTEN = [
    ("tan(x)", "sec(x)*tan(x)"), ("tan(3x)", "3*sec(3x)*tan(3x)"),
    ("asin(x)", "1/sin(x)"), ("asin(2x)", "2/cos(2x)"), ("acos(x)", "1/cos(x)"),
    ("atan(2x)", "2/tan(2x)"), ("softmax(x)", "softmax(x)*(1 - softmax(x))"),
]  # fmt: skip


@pytest.mark.parametrize(("program", "claim"), WRITTEN)
def test_the_line_put_right_is_true(program: str, claim: str) -> None:
    values = "x=[1,2,3]" if "softmax" in program else "x=0.3"
    repair = judged(program, "x", claim, values).repair or ""
    assert repair.startswith("write ")
    found = judged(program, "x", repair.removeprefix("write "), values)
    assert found.verdict in ("proved", "agrees")


SECOND = {
    ("x^2*y^3", "d2/dxdy = 2x*y^3"): "this is the derivative by x alone",
    ("x^2*y^3 + sin(x)", "d2/dxdy = 3x^2*y^2"): "this is the derivative by y alone",
    ("x^3", "d2/dx2 = 3x^2"): "a second derivative is taken by x twice",
}


@pytest.mark.parametrize(("program", "claim"), SECOND)
def test_a_first_derivative_is_no_second_one(program: str, claim: str) -> None:
    found = judged_equation(program, claim, "x=2 y=3" if "y" in program else "x=2")
    assert found.cause == "order"
    assert SECOND[program, claim] in (found.diagnosis or "")


@pytest.mark.parametrize(("program", "claim"), REPAIRS)
def test_repair_is_plain(program: str, claim: str) -> None:
    assert judged(program, "x", claim, "x=0.4").repair == REPAIRS[program, claim]


@pytest.mark.parametrize("name", RULES)
def test_rule_of_a_textbook_is_the_derivative(name: str) -> None:
    value = "u=1.6" if name == "acosh" else "u=0.4"
    assert judged(f"{name}(u)", "u", RULES[name], value).verdict != "refuted"


NAMELESS = {
    ("x^2*sin(x)", "x^3 + cos(x)"),
    ("exp(x)*log(x)", "x^2 + 5"),
    ("sigmoid(3x)", "x^2/(x^2+2)"),
    ("cos(x)/x", "tanh(x) - 1/(x+5)"),
    ("log(x^2+1)", "1"),
    ("sqrt(x^2+1)", "x/sqrt(2x)"),
    ("tan(x)", "sec(x)+tan(x)"),
    ("asin(x)", "1/sinh(x)"),
}


@pytest.mark.parametrize(("program", "claim"), sorted(NAMELESS))
def test_a_claim_without_a_slip_gets_no_name(program: str, claim: str) -> None:
    found = judged(program, "x", claim, "x=0.4")
    assert (found.verdict, found.cause) == ("refuted", None)


def test_right_derivative_is_in_matrix_notation() -> None:
    found = judged("x^T A x", "x", "2 A x", "x=[1,2] A=[[1,2],[3,4]]")
    assert found.right == "(A + A.T) @ x"


def test_factor_with_a_logarithm_is_no_decimal() -> None:
    assert number_text(1 / log(10)) == "1/log(10)"
    assert number_text(-2 * log(3)) == "-2*log(3)"
    assert number_text(3.3) == "33/10"


def test_every_cause_of_a_slip_is_met() -> None:
    causes = {slip.cause for slip in slip_table.SLIPS}
    assert causes <= {row[4] for row in ROWS}


def test_a_right_claim_has_no_slip() -> None:
    found = judged("x^2*sin(x)", "x", "2x*sin(x) + x^2*cos(x)", "x=0.4")
    assert (found.verdict, found.cause) == ("proved", None)


def test_a_claim_of_another_shape_is_no_crash() -> None:
    values = "x=[1,2] A=[[1,2],[3,4]]"
    assert judged("x^T A x", "x", "2*A*x", values).verdict == "refuted"
