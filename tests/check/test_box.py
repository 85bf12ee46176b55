"""Ranges over a box: hand-worked ones, signs, kinks and poles; all of them hold."""

from __future__ import annotations

from math import e, exp, inf, sin
from typing import Any

import numpy as np
import pytest

from gradcli.check import box as boxing
from gradcli.check.box import InputInterval, ProvenRange, Ranges, ranges
from gradcli.check.process.budget import Budget
from gradcli.check.subject import program_of

from .jobs import job

Values = dict[str, Any]


@pytest.fixture(autouse=True)
def no_warnings() -> Any:
    with np.errstate(all="ignore"):
        yield


def over(program: str, box: dict[str, Any], **fixed: Any) -> Ranges:
    spans, middles = {}, {}
    for name, (low, high) in box.items():
        lower, upper = np.asarray(low, float), np.asarray(high, float)
        spans[name] = InputInterval(tuple(lower.flat), tuple(upper.flat))
        middles[name] = (lower + upper) / 2
    given = job(program, {**middles, **fixed})
    return ranges(given, spans, program_of(given), Budget(inf))


WORKED: list[tuple[str, Values]] = [
    ("x**2", {"x": (-1, 2)}),
    ("sin(x)", {"x": (0, 1)}),
    ("cos(x)", {"x": (1, 3)}),
    ("x*exp(-x)", {"x": (0, 3)}),
    ("1/x", {"x": (1, 2)}),
    ("x - x*1", {"x": (0, 1)}),
    ("relu(x)", {"x": (-1, 2)}),
    ("where(x > 1, x**2, x)", {"x": (0, 2)}),
    ("abs(x)", {"x": (-1, 2)}),
    ("maximum(x, 1 - x)", {"x": (0, 1)}),
    ("floor(x)*x", {"x": (1.25, 3.5)}),
    ("clamp(x, -1, 1)", {"x": (-3, 3)}),
    ("(x - 1)**2 + (y + 2)**2", {"x": (0, 3), "y": (-3, 0)}),
    ("a = x*y\nb = a + y\nb*y", {"x": (1, 2), "y": (2, 3)}),
    ("y = x\nfor i in range(4): y = y*x", {"x": (1, e)}),
]
"""Programs and boxes."""


@pytest.mark.parametrize(("program", "box"), WORKED)
def test_no_point_lies_outside_the_bounds(program: str, box: Values) -> None:
    found, draw = over(program, box), np.random.default_rng(1)
    for _ in range(40):
        point = {n: draw.uniform(*ends) for n, ends in box.items()}
        given = job(program, point)
        (number,) = given.output.values()
        assert inside(number, found.value[0])
        for asked in given.inputs:
            assert asked.claim is not None
            (slope,) = asked.claim.values()
            assert inside(slope, found.gradients[asked.name][0])


def inside(number: float, found: ProvenRange) -> bool:
    rounding = 1e-14 * max(1.0, abs(number))
    return found.lower - rounding <= number <= found.upper + rounding


def test_bounds_hold_however_little_work_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for most in (1, 5, 30):
        monkeypatch.setattr(boxing, "MAX_RUNS", most)
        found = over("x*exp(-x)*sin(3*x)", {"x": (0, 3)})
        for x in np.linspace(0, 3, 31):
            assert inside(x * exp(-x) * sin(3 * x), found.value[0])


def test_without_time_nothing_is_said_and_nothing_fails() -> None:
    given = job("x**2", {"x": 1.0})
    found = ranges(
        given, {"x": InputInterval((0.0,), (2.0,))}, program_of(given), Budget(1e-9)
    )
    assert (found.value[0].lower, found.value[0].upper) == (-inf, inf)
    assert not found.close
