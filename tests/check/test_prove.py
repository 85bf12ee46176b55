"""A proof is a proof: identities are found, and nothing else is."""

from __future__ import annotations

from typing import Any

import pytest
import sympy
from sympy import Abs, cos, cosh, exp, log, sign, sin, sinh, sqrt, tan, tanh

from gradcli.check.balls import ball
from gradcli.check.expressions import (
    PolynomialTooLarge,
    Quotients,
    compiled,
    vanishes,
    vanishes_here,
)
from gradcli.check.formulas import closed_form, formula
from gradcli.check.system import NoMeaning

X, Y = sympy.Dummy("x", real=True), sympy.Dummy("y", real=True)
POINT = {X: ball(0.7), Y: ball(-1.3)}

IDENTITIES: dict[str, Any] = {
    "binomial": (X + Y) ** 3 - X**3 - 3 * X**2 * Y - 3 * X * Y**2 - Y**3,
    "circle": sin(X) ** 2 + cos(X) ** 2 - 1,
    "tangent": 1 + tan(X) ** 2 - 1 / cos(X) ** 2,
    "hyperbola": cosh(X) ** 2 - sinh(X) ** 2 - 1,
    "tanh": 1 - tanh(X) ** 2 - 4 / (exp(X) + exp(-X)) ** 2,
    "sigmoid": exp(-X) / (1 + exp(-X)) ** 2
    - 1 / (1 + exp(-X)) * (1 - 1 / (1 + exp(-X))),
    "square root": 1 / (sqrt(1 + X**2) + X) - sqrt(1 + X**2) + X,
    "power of e": exp(2 * X + Y) - exp(X) ** 2 * exp(Y),
    "absolute": Abs(X) * sign(X) - X,
    "logarithm": exp(Y * log(1 + X**2)) - (1 + X**2) ** Y,
    "partial fractions": 1 / (X * Y) - (1 / X + 1 / Y) / (X + Y),
}
FALSE: dict[str, Any] = {
    "near": sin(X) - X + X**3 / 6,
    "sign": Abs(X) - X * sign(Y),
    "factor": exp(X) - 2 * exp(X),
    "tiny": X * sympy.Rational(1, 10**30),
    "roots": sqrt(X**2 * Y**2) - X * Y,
}


@pytest.mark.parametrize("name", IDENTITIES)
def test_identity_is_proved(name: str) -> None:
    assert vanishes(IDENTITIES[name], POINT)


@pytest.mark.parametrize("name", FALSE)
def test_what_is_not_zero_is_never_proved(name: str) -> None:
    assert not vanishes(FALSE[name], POINT)


def test_zero_for_the_signs_at_the_point_alone_names_them() -> None:
    difference = Abs(X) - X
    assert not vanishes(difference, POINT)
    assert vanishes_here(difference, POINT) == ((X, 1),)
    assert vanishes_here(difference, {X: ball(-1)}) is None


def test_value_of_a_deep_expression_needs_no_recursion() -> None:
    expression = X
    for _ in range(5000):
        expression = sympy.Add(1, sympy.Mul(2, expression, evaluate=False),
                               evaluate=False)  # fmt: skip
    assert compiled(expression).run({X: ball(-1)}) == -1


def test_expression_without_a_real_meaning_is_told() -> None:
    with pytest.raises(NoMeaning):
        compiled(sympy.Function("f")(X))
    with pytest.raises(NoMeaning):
        compiled(X + Y).run({X: ball(1)})


def test_formula_uses_the_languages_words() -> None:
    assert formula(sympy.Abs(X) + sympy.loggamma(Y)) == "abs(x) + lgamma(y)"
    assert formula(sympy.polygamma(0, X)) == "digamma(x)"
    assert formula(sympy.sinc(sympy.pi * X)) == "sinc(x)"
    assert formula(sympy.E * X) == "x*exp(1)"
    assert formula(sympy.zoo * X) is None
    assert formula(sympy.Function("f")(X)) is None


def test_long_formula_is_left_out() -> None:
    assert closed_form(sum((sin(X) ** k * Y for k in range(2, 14)), X)) is None


# rational functions are zero exactly when their numerators are

R = sympy.Dummy("r", real=True)

ZERO = [
    1 / X - Y / (X * Y),
    1 / (X - 1) - 1 / (X + 1) - 2 / (X**2 - 1),
    (X + Y) ** 3 - X**3 - 3 * X**2 * Y - 3 * X * Y**2 - Y**3,
    X / (1 - X) + X / (X - 1),
    sympy.Rational(1, 3) * X - X / 3,
    1 / (1 / X + 1 / Y) - X * Y / (X + Y),
]
NOT_ZERO = [X - Y, 1 / X - 1 / Y, (X + Y) ** 2 - X**2 - Y**2, X / (X - 1) - 1]


@pytest.mark.parametrize("expression", ZERO)
def test_zero_has_a_zero_numerator(expression: sympy.Expr) -> None:
    assert not Quotients([X, Y]).of(expression)[0]


@pytest.mark.parametrize("expression", NOT_ZERO)
def test_another_function_has_not(expression: sympy.Expr) -> None:
    assert Quotients([X, Y]).of(expression)[0]


def test_relation_of_a_symbol_is_used_where_its_power_occurs() -> None:
    quotients = Quotients([X, R])
    numerator = quotients.of(R**5 - R * (1 + X) ** 2)[0]
    assert numerator
    assert not quotients.reduced(numerator, R, 2, 1 + X)
    other = quotients.of(R**5 - R * (1 + X))[0]
    assert quotients.reduced(other, R, 2, 1 + X)


def test_relation_to_a_quotient_is_multiplied_through() -> None:
    quotients = Quotients([X, R])
    numerator = quotients.of(R**2 * X - 1)[0]
    assert not quotients.reduced(numerator, R, 2, 1 / X)


def test_denominator_that_is_zero_everywhere_is_refused() -> None:
    with pytest.raises(ZeroDivisionError):
        Quotients([X, Y]).of(1 / ((X + Y) ** 2 - X**2 - 2 * X * Y - Y**2))


def test_too_large_a_product_is_refused_before_it_is_made() -> None:
    symbols = sympy.symbols("a:12", real=True)
    with pytest.raises(PolynomialTooLarge):
        Quotients(symbols).of(sympy.Add(*symbols) ** 20)
