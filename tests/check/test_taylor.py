"""Derivatives of any order by power series are those of SymPy."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import sympy
from flint import arb, arb_series

from gradcli.check.balls import (
    FUNCTIONS,
    START_BITS,
    STEPS,
    apply,
    ball,
    is_nan,
    to_float,
    working,
)
from gradcli.check.decided import bounds_of
from gradcli.check.graph import derivative_of_order
from gradcli.check.namespace import ObjectArray, ObjectNamespace, boxed
from gradcli.check.terms import Terms
from gradcli.engine import Tensor
from gradcli.lang.run import evaluate
from gradcli.ops import FUNCTIONS as ROWS
from gradcli.ops import parameters
from tests.grouped import by_row

X = sympy.symbols("x", real=True)

PROGRAMS = {
    "x^5 - 3x": X**5 - 3 * X,
    "sin(x²)*exp(-x)": sympy.sin(X**2) * sympy.exp(-X),
    "log(1 + x^2)/x": sympy.log(1 + X**2) / X,
    "tanh(x) + sigmoid(x)": sympy.tanh(X) + 1 / (1 + sympy.exp(-X)),
    "sec(x)*√x": sympy.sec(X) * sympy.sqrt(X),
    "root(x, 5) + π^x": X ** sympy.Rational(1, 5) + sympy.pi**X,
    "x.detach()*x^2": None,
}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("order", [1, 3, 6])
def test_a_derivative_of_any_order_is_that_of_sympy(program: str, order: int) -> None:
    terms = Terms()
    namespace = ObjectNamespace(terms)
    symbol = terms.symbol("x", 0.75)
    data = np.empty((), dtype=object)
    data[()] = symbol
    x = Tensor(ObjectArray(boxed(data), namespace), namespace, True)
    with working(START_BITS):
        y = evaluate(program, {"x": x})[0]
    (output,) = namespace.elements(y.raw).flat
    found = derivative_of_order(terms, output.serial, symbol.serial, order)
    meant = PROGRAMS[program]
    if meant is None:
        meant = sympy.Rational(3, 4) * X**2
    true = sympy.diff(meant, X, order).subs(X, sympy.Rational(3, 4)).evalf(30)
    assert to_float(found) == pytest.approx(float(true), rel=1e-14)
    assert found.rel_accuracy_bits() > 60 or found == 0


CURVES = [
    name for name, function in FUNCTIONS.items()
    if name not in STEPS and name in ROWS and len(parameters(ROWS[name])) == 1
]  # fmt: skip


@by_row("name, at", product(CURVES, [0.0, 0.375, -0.375, 1.25]), str, str)
def test_power_series_of_a_function_has_all_its_terms(name: str, at: float) -> None:
    if any(bound == at for _, _, bound in bounds_of(name, ())):
        return
    with working(START_BITS, 6):
        true = apply(name, ball(at) + ball(2) ** -20)
        try:
            series = FUNCTIONS[name].series(arb_series([at, 1]))
        except (ValueError, ZeroDivisionError):
            return
        if isinstance(series, arb_series) and series[1].is_finite():
            found = sum((series[k] * ball(2) ** (-20 * k) for k in range(6)), ball(0))
            assert not true.is_finite() or abs(found - true) < ball(2) ** -100


Pair = tuple[float, float]
INTERVALS: list[Pair] = [
    (-7.0, 6.5),
    (-0.75, 0.625),
    (1.5, 40.0),
    (-3.5, -2.25),
    (0.0, 2.0),
]


@by_row("name, ends", product([*CURVES, "igamma", "igammac"], INTERVALS), str, str)
def test_a_wide_ball_holds_the_values_at_all_its_points(name: str, ends: Pair) -> None:
    low, high = ends
    first = [ball(2.3)] if name not in CURVES else []
    with working(START_BITS):
        whole = apply(name, *first, arb(low).union(arb(high)))
        for point in np.linspace(low, high, 15):
            value = apply(name, *first, ball(float(point)))
            if not is_nan(value):
                assert not is_nan(whole)
                assert not whole.is_finite() or whole.overlaps(value)
