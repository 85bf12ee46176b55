"""Rational functions are zero exactly when their numerators are."""

from __future__ import annotations

import pytest
import sympy

from gradcli.verify.prove import Quotients, TooLarge

X, Y, R = sympy.symbols("x y r", real=True)

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
    with pytest.raises(TooLarge):
        Quotients(symbols).of(sympy.Add(*symbols) ** 20)
