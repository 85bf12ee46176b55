"""Where a proof holds is said, and nothing that does not matter."""

from __future__ import annotations

from typing import Any

import pytest
import sympy

from gradcli.check.formulas import Facts

from .jobs import checked, claiming, job, rows_job


def test_formula_has_its_conditions_whatever_its_number_is_worth() -> None:
    wrong = claiming(job("log(x)", {"x": 2.0}), "x", lambda g: 2 * g)
    verification = checked(wrong)
    assert verification.verdict == "refuted"
    assert verification.inputs[0].closed_form == "1/x"
    assert verification.side_conditions == ("x > 0",)


def test_without_a_proof_or_a_formula_there_are_no_conditions() -> None:
    verification = checked(job("log(x)", {"x": -2.0}))
    assert verification.inputs[0].closed_form is None
    assert verification.side_conditions == ()


def test_nan_by_overflow_is_rounded_with_the_true_value() -> None:
    (verdict,) = checked(job("exp(x) - exp(x) + x", {"x": 1000.0})).inputs
    assert verdict.verdict == "rounded"
    assert "x: the engine gave nan, the true value is 1.0;" in (verdict.note or "")
    told = "the output: the engine gave nan, the true value is 1000.0"
    assert told in (verdict.note or "")


def test_undefined_entry_of_a_vector_leaves_the_other_rows_proved() -> None:
    verification = checked(rows_job("log(x)", {"x": [2.0, -1.0]}, "jacobian"))
    (verdict,) = verification.inputs
    assert (verdict.verdict, verdict.checked, verdict.of) == ("unknown", 2, 4)
    assert "of entry 1 is nan" in (verdict.note or "")


def test_second_derivative_outside_the_domain_is_unknown() -> None:
    (verdict,) = checked(rows_job("log(x)", {"x": -1.0}, "hessian")).inputs
    assert verdict.verdict == "unknown"
    assert "log needs x > 0" in (verdict.note or "")


X = sympy.Dummy("x", real=True)
Y = sympy.Dummy("y", real=True)

IMPLIED = [
    ([(X, ">")], X, "!=", True),
    ([(X, ">")], sympy.sqrt(X), ">", True),
    ([(X - 1, ">")], X, ">", True),
    ([(X + 1, ">"), (1 - X, ">")], (1 - X) * (X + 1), ">", True),
    ([(X + 1, "<")], X, "<", True),
    ([(X, ">"), (Y, "<")], X * Y, "<", True),
    ([], sympy.exp(X) + 1, "!=", True),
    ([(Y - 2, "==")], Y - 1 - 1, "==", True),
    ([(X, "!=")], X, ">", False),
    ([(X + 1, ">")], X, ">", False),
    ([(X - 1, "<")], X, ">", False),
    ([(1 - X, ">")], X, "<", False),
    ([(X, ">")], X - 1, "!=", False),
    ([(X * Y, ">")], X, ">", False),
]


@pytest.mark.parametrize(("known", "quantity", "relation", "follows"), IMPLIED)
def test_only_what_follows_is_left_out(
    known: list[tuple[Any, str]], quantity: Any, relation: str, follows: bool
) -> None:
    facts = Facts()
    for each, how in known:
        facts.add(each, how)
    assert facts.imply(quantity, relation) is follows


def test_conditions_too_long_to_show_are_counted() -> None:
    source = "log(" + " + ".join(f"x**{n}*sin(x)**{n}" for n in range(2, 12)) + ")"
    verification = checked(job(source, {"x": 1.0}))
    assert verification.verdict == "proved"
    assert verification.side_conditions == ("conditions too long to show: 1",)
