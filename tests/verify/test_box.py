"""Ranges over a box: hand-worked ones, signs, kinks and poles; all of them hold."""

from __future__ import annotations

from math import cos, e, exp, inf, sin
from typing import Any

import numpy as np
import pytest

from gradcli.verify import box as boxing
from gradcli.verify.box import (
    CHANGES,
    NEGATIVE,
    NEVER_NEGATIVE,
    NO_BOUND,
    NO_VALUE,
    OPEN,
    POSITIVE,
    UNDECIDED,
    ZERO_THROUGHOUT,
    Range,
    Ranges,
    Span,
    ranges,
)
from gradcli.verify.process.budget import Budget
from gradcli.verify.process.runner import program_of

from .jobs import job

Ends = tuple[float, float]
Values = dict[str, Any]


@pytest.fixture(autouse=True)
def no_warnings() -> Any:
    with np.errstate(all="ignore"):
        yield


def over(program: str, box: dict[str, Any], **fixed: Any) -> Ranges:
    spans, middles = {}, {}
    for name, (low, high) in box.items():
        lower, upper = np.asarray(low, float), np.asarray(high, float)
        spans[name] = Span(tuple(lower.flat), tuple(upper.flat))
        middles[name] = (lower + upper) / 2
    given = job(program, {**middles, **fixed})
    return ranges(given, spans, program_of(given), Budget(inf))


def assert_is(found: Range, low: float, high: float) -> None:
    """The bounds hold, and lie close."""
    slack = 1e-7 * max(1.0, abs(low), abs(high))
    assert low - slack <= found.lower <= low + 1e-15 * abs(low)
    assert high - 1e-15 * abs(high) <= found.upper <= high + slack
    assert found.lower <= found.least <= found.most <= found.upper


E1 = exp(-1)

WORKED: list[tuple[str, Values, Ends, Ends, str]] = [
    ("x**2", {"x": (-1, 2)}, (0, 4), (-2, 4), CHANGES),
    ("x**2", {"x": (1, 2)}, (1, 4), (2, 4), POSITIVE),
    ("x*x", {"x": (-1, 2)}, (0, 4), (-2, 4), CHANGES),
    ("sin(x)", {"x": (0, 1)}, (0, sin(1)), (cos(1), 1), POSITIVE),
    ("cos(x)", {"x": (1, 3)}, (cos(3), cos(1)), (-1, -sin(3)), NEGATIVE),
    ("x*exp(-x)", {"x": (0, 3)}, (0, E1), (-exp(-2), 1), CHANGES),
    ("x*exp(-x)", {"x": (2, 3)}, (3*exp(-3), 2*exp(-2)), (-exp(-2), -2*exp(-3)),
     NEGATIVE),
    ("1/x", {"x": (1, 2)}, (0.5, 1), (-1, -0.25), NEGATIVE),
    ("x - x*1", {"x": (0, 1)}, (0, 0), (0, 0), ZERO_THROUGHOUT),
    ("relu(x)", {"x": (-1, 2)}, (0, 2), (0, 1), NEVER_NEGATIVE),
    ("where(x > 1, x**2, x)", {"x": (0, 2)}, (0, 4), (1, 4), POSITIVE),
    ("abs(x)", {"x": (-1, 2)}, (0, 2), (-1, 1), CHANGES),
    ("maximum(x, 1 - x)", {"x": (0, 1)}, (0.5, 1), (-1, 1), CHANGES),
    ("floor(x)*x", {"x": (1.25, 3.5)}, (1.25, 10.5), (1, 3), POSITIVE),
    ("clamp(x, -1, 1)", {"x": (-3, 3)}, (-1, 1), (0, 1), NEVER_NEGATIVE),
    ("(x - 1)**2 + (y + 2)**2", {"x": (0, 3), "y": (-3, 0)}, (0, 8), (-2, 4), CHANGES),
    ("a = x*y\nb = a + y\nb*y", {"x": (1, 2), "y": (2, 3)}, (8, 27), (4, 9), POSITIVE),
    ("y = x\nfor i in range(4): y = y*x", {"x": (1, e)}, (1, e**5), (5, 5*e**4),
     POSITIVE),
]  # fmt: skip
"""Programs, boxes, and the ranges of the value and of the gradient by x."""


@pytest.mark.parametrize(("program", "box", "value", "gradient", "sign"), WORKED)
def test_hand_worked_ranges_are_met_closely(
    program: str, box: Values, value: Ends, gradient: Ends, sign: str
) -> None:
    found = over(program, box)
    assert_is(found.value[0], *value)
    (slope,) = found.gradients["x"]
    assert_is(slope, *gradient)
    if sign in (NEVER_NEGATIVE,) and slope.lower < 0:
        sign = UNDECIDED
    assert slope.sign == sign
    assert found.holes == ()


@pytest.mark.parametrize(("program", "box", "value", "gradient", "sign"), WORKED)
def test_no_point_lies_outside_the_bounds(
    program: str, box: Values, value: Ends, gradient: Ends, sign: str
) -> None:
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


def inside(number: float, found: Range) -> bool:
    rounding = 1e-14 * max(1.0, abs(number))
    return found.lower - rounding <= number <= found.upper + rounding


def test_a_changing_sign_is_told_with_two_points() -> None:
    (slope,) = over("x**3 - x", {"x": (-1, 2)}).gradients["x"]
    below, above = (point["x"] for point in slope.at)
    assert 3 * below**2 - 1 < 0 < 3 * above**2 - 1


@pytest.mark.parametrize(
    ("program", "what", "at"),
    [
        ("relu(x)", OPEN, 0.0),
        ("abs(x - 0.25)", "abs has no derivative at 0", 0.25),
        ("where(x > 0.5, x**2, x)", OPEN, 0.5),
        ("floor(2*x)", OPEN, 0.5),
    ],
)
def test_a_kink_inside_is_named_with_its_place(
    program: str, what: str, at: float
) -> None:
    kinks = over(program, {"x": (-0.4, 0.9)}).kinks
    near = [k.near["x"] for k in kinks if k.what == what]
    assert any(low <= at <= high and high - low < 1e-5 for low, high in near)


def test_where_there_is_a_pole_there_is_no_bound() -> None:
    found = over("1/x", {"x": (-1, 1)})
    assert (found.value[0].lower, found.value[0].upper) == (-inf, inf)
    assert found.gradients["x"][0].sign == UNDECIDED
    (hole,) = found.holes
    low, high = hole.near["x"]
    assert hole.what == NO_BOUND
    assert low <= 0 <= high
    assert high - low < 1e-10


def test_where_there_is_no_value_it_is_said() -> None:
    holes = over("log(x)", {"x": (-2, 1)}).holes
    assert NO_VALUE in {hole.what for hole in holes}


def test_other_inputs_stay_where_they_are_and_their_gradients_have_ranges() -> None:
    found = over("x*w + w**2", {"x": (1, 2)}, w=3.0)
    assert_is(found.value[0], 12, 15)
    assert_is(found.gradients["w"][0], 7, 8)
    assert_is(found.gradients["x"][0], 3, 3)


def test_entries_of_arrays_have_ranges_of_their_own() -> None:
    found = over("(x*x).sum()", {"x": ([1.0, -2.0], [2.0, -1.0])})
    assert_is(found.value[0], 2, 8)
    first, second = found.gradients["x"]
    assert (first.sign, second.sign) == (POSITIVE, NEGATIVE)


def test_a_vector_output_has_ranges_of_its_entries() -> None:
    found = over("stack([x, x*x])", {"x": (1, 3)})
    assert_is(found.value[0], 1, 3)
    assert_is(found.value[1], 1, 9)


def test_an_order_that_is_open_leaves_the_box_without_bounds() -> None:
    found = over("sort(stack([x, 1 - x]))[0][0]", {"x": (0, 1)})
    assert (found.value[0].lower, found.value[0].upper) == (-inf, inf)
    closed = over("sort(stack([x, 1 - x]))[0][0]", {"x": (0.75, 1)})
    assert_is(closed.value[0], 0, 0.25)


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
    found = ranges(given, {"x": Span((0.0,), (2.0,))}, program_of(given), Budget(1e-9))
    assert (found.value[0].lower, found.value[0].upper) == (-inf, inf)
    assert not found.close
