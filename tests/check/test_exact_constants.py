"""Constants stay exact from a program's text to every witness."""

from __future__ import annotations

from contextlib import suppress
from math import inf
from typing import Any

import mpmath
import numpy as np
import pytest

from gradcli.check.balls import Ball, working
from gradcli.check.namespace import ObjectNamespace
from gradcli.check.process.job import CERTIFIED, PROVED, REFUTED, ROUNDED
from gradcli.check.system import Balls
from gradcli.engine import Tensor, grad
from gradcli.engine.dtypes import default_dtype
from gradcli.engine.record import apply
from gradcli.lang.exactly import ExactFactory, ExactLibrary, exact_code
from gradcli.lang.machine import Machine
from gradcli.lang.parser import parse
from gradcli.ops import OPS, Op
from gradcli.ops.checks import KindError
from gradcli.ops.exact import decimal
from tests.grouped import by_row
from tests.laws.draw import draw

from .jobs import checked, claiming, job

RIGHT: dict[str, dict[str, float]] = {
    "log(x, 3)": {"x": 0.7},
    "1e9*(log(x, 3) - log(x)/log(3)) + x": {"x": 2.0},
    "1e8*x/3 - x*33333333": {"x": 1.0},
    "igamma(2.3, x)": {"x": 0.7},
    "root(x, 7)/7.3": {"x": 0.7},
    "x/3001 + pow(3, -7)*x": {"x": 1.7},
    "celu(x, 0.3) + elu(x, 0.7)": {"x": -0.4},
    "huber_loss(x, 0.3, delta=0.1)": {"x": 0.7},
    "norm(stack([x, x + 1.1]), 2.7)": {"x": 0.4},
    "log(8, x)*x.item()": {"x": 3.1},
    "x*linspace(0.1, 0.7, 9).sum()": {"x": 1.3},
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("source", RIGHT)
def test_a_gradient_with_constants_is_confirmed_in_either_type(
    source: str, dtype: str
) -> None:
    verification = checked(job(source, RIGHT[source], dtype=dtype))
    assert {v.verdict for v in verification.inputs} <= {PROVED, CERTIFIED, ROUNDED}


@pytest.mark.parametrize("source", RIGHT)
def test_a_gradient_that_no_rounding_gives_is_refuted_beside_constants(
    source: str,
) -> None:
    wrong = claiming(job(source, RIGHT[source]), "x", lambda g: g * (1 + 1e-4) + 1e-4)
    assert {v.verdict for v in checked(wrong).inputs} == {REFUTED}


def test_the_error_shown_is_that_of_the_real_number() -> None:
    x = 0.6298110708968229
    given = job("sin(ndtr(x)) - ndtr(sin(x))", {"x": x})
    (verdict,) = checked(given).inputs
    with mpmath.workdps(60):
        true = mpmath.diff(
            lambda t: mpmath.sin(mpmath.ncdf(t)) - mpmath.ncdf(mpmath.sin(t)),
            mpmath.mpf(x),
        )
        assert given.inputs[0].claim is not None
        (found,) = given.inputs[0].claim.values()
        error = abs(mpmath.mpf(found) / true - 1)
    assert verdict.max_error is not None
    assert error <= verdict.max_error <= 1.01 * error


def test_the_float_of_an_exact_number_is_that_of_the_engine() -> None:
    a, b = decimal("0.1"), decimal("0.7")
    for found, plain in (
        (a + b, 0.1 + 0.7), (a - 1, 0.1 - 1), (2 * b, 2 * 0.7), (1 / b, 1 / 0.7),
        (a**b, 0.1**0.7), (b % (2*a), 0.7 % 0.2), (-a, -0.1), (abs(-b), 0.7),
    ):  # fmt: skip
        assert float(found) == plain


def test_a_long_loop_of_constants_is_followed_without_recursion() -> None:
    source = "s = 0.3\nfor i in range(3000): s = 3.9*s*(1 - s)*0.25 + 0.1\nx*s"
    (verdict,) = checked(job(source, {"x": 1.0})).inputs
    assert verdict.verdict in (PROVED, CERTIFIED)


def _value(source: str) -> Ball:
    xp = ObjectNamespace(Balls())
    library = ExactLibrary(ExactFactory(xp, "float64", 0))
    with working(200), xp.taking_numbers():
        value: Any = Machine(exact_code(parse(source)), {}, library).run().value
        raw = value.raw if isinstance(value, Tensor) else value
        (found,) = xp.elements(raw).reshape(-1)
    return found


@pytest.mark.parametrize(
    ("source", "other"),
    [("2**0.5*8**0.5", "4"), ("8**(1/3)", "2"), ("(1/3)**-2", "9"),
     ("0.7 % 0.2", "0.1"),
     ("e**2", "exp(2)"), ("tau/2", "4*atan(1)"), ("log(10, 100)", "0.5"),
     ("sum([0.1, 0.2])", "0.3"), ("-(-0.1)", "1/10"), ("1_0.5", "21/2"),
     ("1e-300*1e300", "1"), ("max(0.1, 0.2)", "1/5"), ("float(1/3)*3", "1")],
)  # fmt: skip
def test_plain_numbers_are_computed_exactly(source: str, other: str) -> None:
    with working(200):
        assert (_value(source) - _value(other)).contains(0)
        assert abs(_value(source) - _value(other)) < 2.0**-150


class _Noting(Balls):
    """Balls that note floats which no person can have typed."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[float, None] = {}

    def lift(self, number: Any) -> Ball:
        if type(number) is float and abs(number) < inf:
            digits = repr(number).partition("e")[0].replace(".", "").strip("-0")
            if len(digits) > MAX_TYPED_DIGITS:
                self.seen[number] = None
        return super().lift(number)


MAX_TYPED_DIGITS = 9
"""Digits of a number that rows and their cases may write out."""

THRESHOLDS = {
    "linalg_pinv.atol_rtol_tensor", "linalg_matrix_rank.default",
    "linalg_lstsq.default",
}  # fmt: skip
"""Rows that hold numbers against the rounding of floats, no part of a value."""

CASES = [
    (op, number)
    for op in OPS.values()
    for number in range(len(op.cases))
    if not getattr(op, "query", False) and op.name not in THRESHOLDS
]


def _rounded_in(op: Op, number: int) -> list[float]:
    """The floats that a row makes of typed numbers by itself."""
    system = _Noting()
    xp = ObjectNamespace(system)
    spot = draw(op, number)
    inputs, leaves = [], []
    for position, array in enumerate(spot.arrays):
        floats = getattr(getattr(array, "dtype", None), "kind", "") == "f"
        if floats:
            free = position in spot.free
            leaves.append(Tensor(xp.exactly(array), xp, free))
        given = Tensor(array) if hasattr(array, "dtype") else array
        inputs.append(leaves[-1] if floats else given)
    params = {
        name: decimal(repr(value))
        if type(value) is float and abs(value) < inf
        else value
        for name, value in dict(spot.case.params).items()
    }
    quiet = default_dtype("float64"), np.errstate(all="ignore")
    with quiet[0], quiet[1], working(128), xp.taking_numbers():
        out = apply(op, tuple(inputs), params)
        first = out[0] if isinstance(out, tuple | list) else out
        if getattr(first, "edge", None) is not None:
            # By some inputs there is no derivative, as none is known.
            with suppress(KindError):
                asked = [leaf for leaf in leaves if leaf.requires_grad]
                grad([first], asked, [Tensor(xp.ones_like(first.raw), xp)])
    return list(system.seen)


@by_row("op, number", CASES, lambda case: f"{case[0].name}-{case[1]}")
def test_no_row_rounds_a_constant_for_the_witnesses(op: Op, number: int) -> None:
    assert _rounded_in(op, number) == []
