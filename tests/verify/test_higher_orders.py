"""Numbers of derivatives of higher order that are beyond the range of floats."""

from __future__ import annotations

import pytest

from gradcli.verify.orders import verified

from .jobs import job

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
