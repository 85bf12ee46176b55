"""Where a proof holds is said, and nothing that does not matter."""

from __future__ import annotations

from typing import Any

import pytest
import sympy

from gradcli.verify.implied import Facts

from .jobs import by_name, checked, claiming, job, rows_job

CONDITIONS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "log(x)": (2.0, ("x > 0",)),
    "log2(x) + log10(x)": (2.0, ("x > 0",)),
    "log1p(x)": (0.5, ("x > -1",)),
    "sqrt(x)": (2.0, ("x > 0",)),
    "asin(x) * acos(x)": (0.3, ("x > -1", "x < 1")),
    "acosh(x) + log(x)": (3.0, ("x > 1",)),
    "atanh(x)": (0.3, ("x > -1", "x < 1")),
    "x**0.5": (2.0, ("x > 0",)),
    "x**2.5 + x**3": (2.0, ("x > 0",)),
    "x**3": (-2.0, ()),
    "x**-2": (-2.0, ("x != 0",)),
    "1/x": (-2.0, ("x != 0",)),
    "1/(x**2 + 1)": (2.0, ()),
    "relu(x)": (2.0, ("x > 0",)),
    "abs(x)": (-2.0, ("x != 0",)),
    "log(x)/sqrt(x)": (2.0, ("x > 0",)),
    "log(sqrt(x))": (2.0, ("x > 0",)),
    "norm(x)": ([3.0, 4.0], ("x[0]**2 + x[1]**2 > 0",)),
    "z = log(x); y = x**2; y": (2.0, ()),
    "floor(x)*x": (1.5, ("x >= 1", "x < 2")),
    "round(x)*x": (2.2, ("x >= 3/2", "x <= 5/2")),
    "trunc(x)*x": (0.5, ("x > -1", "x < 1")),
    "ceil(x)*x": (-1.5, ("x > -2", "x <= -1")),
}


@pytest.mark.parametrize("source", CONDITIONS)
def test_conditions_are_the_domains_of_what_the_output_is_made_of(source: str) -> None:
    value, conditions = CONDITIONS[source]
    verification = checked(job(source, {"x": value}))
    assert verification.verdict == "proved"
    assert verification.side_conditions == conditions


STABLE = {
    "softmax(x, dim=0)[0]": (),
    "logsumexp(x, dim=0)": (),
    "log_softmax(x, dim=0)[1]": (),
    "logsumexp(softmax(x, dim=0), dim=0)": (),
    "logsumexp(x, dim=0) * log(x[0])": ("x[0] > 0",),
}


@pytest.mark.parametrize("source", STABLE)
def test_what_is_subtracted_for_stability_is_no_condition(source: str) -> None:
    verification = checked(job(source, {"x": [1.0, 2.0, 3.0]}))
    assert verification.verdict == "proved"
    assert verification.side_conditions == STABLE[source]


DECIDED = {
    "amax(x, dim=0)": "x[0] < x[1]",
    "y = x[0]\nif amax(x, dim=0) < 3: y = x[0]**2": "x[0] < x[1]",
    "y = x[0]\nif logsumexp(x, dim=0) < 3: y = x[0]**2": "x[0] < x[1]",
    "e = exp(x - amax(x, dim=0)); e[0]/sum(e)": "x[0] < x[1]",
}


@pytest.mark.parametrize("source", DECIDED)
def test_choice_that_something_depends_on_is_a_condition(source: str) -> None:
    verification = checked(job(source, {"x": [1.0, 2.0]}))
    assert verification.verdict == "proved"
    assert DECIDED[source] in verification.side_conditions


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


def test_formula_with_a_variable_exponent_holds_for_positive_bases() -> None:
    verification = checked(job("x**y", {"x": 2.0, "y": 3.0}))
    assert verification.verdict == "proved"
    assert "x > 0" in verification.side_conditions


def test_negative_base_holds_its_variable_exponent() -> None:
    verification = checked(job("x**y", {"x": -2.0, "y": 2.0}))
    assert by_name(verification)["x"].verdict == "proved"
    assert by_name(verification)["y"].verdict == "unknown"
    assert "y == 2" in verification.side_conditions
    assert "x > 0" not in verification.side_conditions


OUTSIDE = {
    "log(x)": (-1.0, "log needs x > 0"),
    "log2(x)": (-1.0, "log2 needs x > 0"),
    "log10(x)": (-1.0, "log10 needs x > 0"),
    "log1p(x)": (-2.0, "log1p needs x > -1"),
    "sqrt(x)": (-1.0, "sqrt needs x > 0"),
    "asin(x)": (2.0, "asin needs x < 1"),
    "acos(x)": (-2.0, "acos needs x > -1"),
    "acosh(x)": (0.5, "acosh needs x > 1"),
    "atanh(x)": (2.0, "atanh needs x < 1"),
    "x**0.5": (-1.0, "a power needs x > 0"),
    "(x - x)/(x - x)": (2.0, "a quotient needs an argument != 0"),
    "x + 1": (float("nan"), "the input x is nan"),
}


@pytest.mark.parametrize("source", OUTSIDE)
def test_point_outside_the_domain_is_unknown_and_says_what_is_needed(
    source: str,
) -> None:
    value, needed = OUTSIDE[source]
    verification = checked(job(source, {"x": value}))
    (verdict,) = verification.inputs
    assert (verification.verdict, verdict.closed_form) == ("unknown", None)
    assert verdict.note == f"the program's value is nan at this point ({needed})"
    assert verification.side_conditions == ()


def test_nan_by_overflow_is_rounded_with_the_true_value() -> None:
    (verdict,) = checked(job("exp(x) - exp(x) + x", {"x": 1000.0})).inputs
    assert verdict.verdict == "rounded"
    assert "x: the engine gave nan, the true value is 1.0;" in (verdict.note or "")
    assert "the output: the engine gave nan, the true value is 1000.0" in (
        verdict.note or ""
    )


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


def test_kink_is_the_programs_own() -> None:
    verification = checked(job("sqrt(x)", {"x": 0.0}))
    assert verification.kinks == ("sqrt has no derivative at 0: x = 0.0",)


@pytest.mark.parametrize(
    ("source", "kinks"),
    [
        ("abs(x) + abs(2*x)", ("abs has no derivative at 0: x = 0.0",)),
        ("relu(x) + sqrt(x)", ("sqrt has no derivative at 0: x = 0.0",)),
        ("maximum(x, y) + abs(y)", ("abs has no derivative at 0: y = 0.0", "x == y")),
    ],
)
def test_a_kink_that_follows_from_another_is_not_told(
    source: str, kinks: tuple[str, ...]
) -> None:
    given = {"x": 0.0, "y": 0.0} if "y" in source else {"x": 0.0}
    assert checked(job(source, given)).kinks == kinks
