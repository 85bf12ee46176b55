"""Derivatives of higher order: beyond the range of floats, and at kinks."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from gradcli.check.orders import verified
from gradcli.check.process.job import InputVerdict
from gradcli.engine import NUMPY, Tensor
from gradcli.lang.run import evaluate
from gradcli.large.blocks import of_order

from .jobs import checked, job, rows_job

LOST = [
    ("x**200", 1e3, 2, float("inf"), "rounded", "the true value is 3.98e+598"),
    ("exp(x) - exp(x)", 800.0, 2, float("nan"), "rounded", "the true value is 0.0"),
    ("x*1e-200*x*x*1e-200", 1.0, 2, 0.0, "rounded", "the true value is 6.0e-400"),
    ("x**3", 2.0, 2, float("inf"), "unknown", "the true value is 12.0"),
    ("x**3", 2.0, 2, float("nan"), "unknown", "the true value is 12.0"),
    ("x**3", 2.0, 2, 12.0, "certified", ""),
    ("x**3", 2.0, 4, 0.0, "certified", ""),
]


@pytest.mark.parametrize(("program", "at", "order", "number", "verdict", "said"), LOST)
def test_a_number_that_left_its_range_is_rounded_with_the_true_value(
    program: str, at: float, order: int, number: float, verdict: str, said: str
) -> None:
    (found,) = verified(job(program, {"x": at}), order, {"x": number}).inputs
    assert found.verdict == verdict
    assert said in (found.note or "")


def of(program: str, at: float, order: int) -> InputVerdict:
    """The verdict on the engine's derivative of an order, which may be the first."""
    if order == 1:
        return checked(job(program, {"x": at})).inputs[0]
    x = Tensor(np.array(at), NUMPY, True)
    number = float(of_order(evaluate(program, {"x": x})[0], x, order).item())
    return verified(job(program, {"x": at}), order, {"x": number}).inputs[0]


KINKS = {
    "relu(x)": (0.0, 0), "elu(x)": (0.0, 0), "leaky_relu(x)": (0.0, 0),
    "hardswish(x)": (3.0, 0), "clamp(x, 0, 1)": (1.0, 0), "abs(x)": (0.0, 0),
    "where(x > 0, x, 1)": (0.0, -1), "where(x > 0, x**2, 0)": (0.0, 1),
    "where(x >= 0, x**2, 0)": (0.0, 1), "where(x == 0, 1, x)": (0.0, -1),
    "(x**2 if x > 0 else -x**2)": (0.0, 1), "(x if 0 < x <= 1 else 2*x)": (1.0, -1),
    "(x if x < 0 or x > 1 else x**2)": (0.0, 0), "maximum(x, x**2)": (1.0, 0),
    "where(x < 0, cos(x), 1 - x**2/2)": (0.0, 3), "floor(x)": (1.0, -1),
    "int(x)*x": (1.0, -1), "(where(x > 0, x, 0) + where(-x > 0, -x, 0))": (0.0, 0),
    "where(x**9 > 0, x, 0)": (0.0, 0), "sort(stack([x, x**2]))[0][0]": (1.0, 0),
}  # fmt: skip
"""Programs with a point, and the highest order of a derivative that exists there, by
hand: 0 for a value without a slope, -1 for a jump."""

AROUND = ("{}", "({}) + cos(x)", "({0}) - ({0}) + 3*({0})", "-2*({})")
"""Programs made of those, which have as many derivatives."""


@pytest.mark.parametrize(("program", "around"), [*product(KINKS, AROUND)])
def test_no_order_is_certified_that_does_not_exist(program: str, around: str) -> None:
    at, most = KINKS[program]
    for order in range(max(most, 0) + 1, 4):
        found = of(around.format(program), at, order)
        assert found.verdict == "unknown", order
        assert "convention" in (found.note or "")


@pytest.mark.parametrize(
    ("program", "most"),
    [("relu(x)**4", 3), ("leaky_relu(x)*x**3", 3), ("x**2*elu(x)", 3),
     ("where(x < 0, sin(x), x - x**3/6)", 4)],
)  # fmt: skip
def test_an_order_at_which_the_branches_agree_is_certified(
    program: str, most: int
) -> None:
    for order in range(2, most + 1):
        assert of(program, 0.0, order).verdict == "certified"
    assert of(program, 0.0, most + 1).verdict == "unknown"


@pytest.mark.parametrize(
    ("program", "verdict"),
    [("where(x > 0, x**2, 0)", "unknown"), ("relu(x)**2", "unknown"),
     ("relu(x)**4", "certified"), ("where(x > 0, x**3, x**3)", "proved")],
)  # fmt: skip
def test_a_hessian_of_a_number_is_the_second_order(program: str, verdict: str) -> None:
    found = checked(rows_job(program, {"x": 0.0}, "hessian")).inputs[0]
    assert found.verdict == verdict


def test_ties_of_several_entries_are_decided_as_they_move() -> None:
    both = "where(x > 0, x, 0) + where(-y > 0, -y, 0) + where(x > y, x - y, 0)"
    found = checked(job(both, {"x": 0.0, "y": 0.0})).inputs
    assert [each.verdict for each in found] == ["unknown", "unknown"]
    large = {"x": [0.0, *[1.0] * 3000]}
    many = checked(job("sum(where(x > 0, x, 0) + where(-x > 0, -x, 0))", large))
    assert many.inputs[0].verdict == "unknown"
