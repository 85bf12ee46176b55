"""Derivatives that stand in a program are checked without the rules that made them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradcli.check.balls import START_BITS, is_known, working
from gradcli.check.chain import derivatives_of
from gradcli.check.subject import objects
from gradcli.check.terms import Terms
from tests.laws.mutants import SIGN, Mutant, planted

from .jobs import checked, claiming, job

PROVED: dict[str, tuple[str, dict[str, Any]]] = {
    "a cube": ("diff(x^3, x)", {"x": 2.0}),
    "twice": ("diff(diff(x^4, x), x)*b", {"x": 2.0, "b": 3.0}),
    "a quotient": ("diff(exp(sin(x))/x, x)", {"x": 2.0}),
    "a variable": ("z = x^2; diff(z^3*x, z)", {"x": 2.0}),
    "the same value": ("z = x; diff(z*x, z)", {"x": 2.0}),
    "a number": ("z = 3; diff(b*z^3, z)", {"b": 2.0}),
    "an array": ("diff(sum(v^3), v) @ v", {"v": [1.0, 2.0]}),
    "by a number": ("sum(diff(sin(x)*v, x))", {"x": 2.0, "v": [1.0, 2.0]}),
    "an inverse": ("diff(inverse([[x, 1], [1, 2]]).sum(), x)", {"x": 2.0}),
    "a branch": ("diff(relu(x)^2, x)*b", {"x": 2.0, "b": 1.0}),
    "a step": ("z = 1; z = z - 0.1*diff((z - a)^2, z); z*a", {"a": 2.0}),
}


@pytest.mark.parametrize("name", PROVED)
def test_it_is_proved_and_a_wrong_number_refuted(name: str) -> None:
    given = job(*PROVED[name])
    assert checked(given).verdict == "proved"
    first = given.inputs[0].name
    wrong = claiming(given, first, lambda g: np.asarray(g) * 1.5 + 1)
    assert checked(wrong).verdict == "refuted"


@pytest.mark.parametrize("row", ["sin", "exp", "tanh", "log"])
def test_a_wrong_rule_of_the_inner_pass_is_refuted(row: str) -> None:
    """The inner pass gives a wrong value, and the outer one its wrong derivative."""
    given = f"diff({row}(x), x)*b", {"x": 0.5, "b": 2.0}
    assert checked(job(*given)).verdict == "proved"
    with planted(Mutant(row, "partials", 0, SIGN)):
        assert checked(job(*given)).verdict == "refuted"


def test_a_kink_of_the_inner_derivative_is_named() -> None:
    found = checked(job("diff(abs(x), x)*x", {"x": 0.0}))
    assert found.verdict == "unknown"


def test_a_large_program_says_that_it_is_not_checked() -> None:
    given = job("diff(sum(sin(v)), v).sum()", {"v": np.ones(9000)})
    found = checked(replace(given, seconds=5.0))
    assert found.verdict == "unknown"
    assert any("not checked" in (i.note or "") for i in found.inputs)


def test_a_derivative_in_a_program_of_many_numbers_is_judged() -> None:
    given = job("diff(sum(v^3)*k, k)", {"k": 2.0, "v": np.linspace(0.5, 1, 2500)})
    assert checked(given).verdict == "certified"
    wrong = claiming(given, "k", lambda g: np.asarray(g) + 1)
    assert checked(wrong).verdict == "refuted"


SMOOTH = ["exp", "sin", "tan", "atan", "tanh", "erf", "gamma", "sqrt", "log", "asinh",
          "digamma", "expm1"]  # fmt: skip


@pytest.mark.parametrize("name", SMOOTH)
def test_slopes_of_terms_are_those_of_power_series(name: str) -> None:
    with working(START_BITS):
        terms = Terms()
        x = terms.symbol("x", 0.7)
        y = terms.apply(name, x)
        (slope,) = derivatives_of(terms, objects([y], ()), objects([x], ())).flat
        (true,) = terms.evaluation.gradient([y.serial], [1.0], [x.serial])
        assert is_known(slope.value, 64)
        assert (slope.value - true).contains(0)
