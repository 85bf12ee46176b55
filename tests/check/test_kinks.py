"""Kinks are found where they are, and their sides are the program's own slopes."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

from gradcli.check.balls import ball
from gradcli.check.kinks import KinkReport, OutputFunction, kinks_of, slope
from gradcli.check.subject import unit
from gradcli.ops import FUNCTIONS

from .jobs import claiming, job


def report(source: str, values: dict[str, Any], radius: float = 0.0) -> KinkReport:
    return kinks_of(job(source, values), radius)


@pytest.mark.parametrize("name", ["abs", "relu", "maximum", "clamp at a bound"])
def test_rule_is_the_tables_own_word(name: str) -> None:
    sources = {
        "abs": ("abs(x)", "abs"), "relu": ("relu(x)", "relu"),
        "maximum": ("maximum(x, 0*x)", "maximum"),
        "clamp at a bound": ("clamp(x, 0, 1)", "clamp"),
    }  # fmt: skip
    source, function = sources[name]
    (kink,) = report(source, {"x": 0.0}).kinks
    assert kink.function == function
    assert kink.rule == FUNCTIONS[function].kink != ""


# Worked out by hand: the slopes of the whole, not the sum of the parts' conventions.


def test_each_kink_has_its_own_text() -> None:
    source = "relu(x) - relu(-x)"
    texts = [source[slice(*k.span)] for k in report(source, {"x": 0.0}).kinks if k.span]
    assert texts == ["relu(x)", "relu(-x)"]


def test_float_that_rounds_onto_the_kink_is_at_it() -> None:
    (kink,) = (found := report("abs(x - 0.1)", {"x": 0.1})).kinks
    assert 0 < kink.distance < 1e-17
    assert found.places[0].here


def test_point_that_floats_can_tell_from_the_kink_is_not_at_it() -> None:
    assert report("sqrt(sum(x**2))", {"x": [0.0, 1e-20]}).kinks == ()


def test_number_between_the_sides_in_each_entry_can_still_be_no_subgradient() -> None:
    given = job("maximum(x, y)", {"x": 1.0, "y": 1.0})
    both = claiming(claiming(given, "x", lambda g: 1.0), "y", lambda g: 1.0)
    (place,) = kinks_of(both, 0.0).places
    assert [side.verdict for side in place.sides] == ["neither", "neither"]


def test_many_equal_kinks_of_one_row_are_one_line() -> None:
    (kink,) = report("sum(relu(x))", {"x": [0.0] * 5 + [1.0]}).kinks
    assert kink.more == 4


@pytest.mark.parametrize(
    ("source", "at", "expected"),
    [("x*sqrt(x)", 0.0, 0.0), ("sin(x)/x", 0.0, 0.0), ("exp(2*x)", 0.0, 2.0),
     ("x*log(x)", 0.0, -inf), ("abs(x)**1.5", 0.0, 0.0)],
)  # fmt: skip
def test_slope_above_is_the_one_sided_derivative(
    source: str, at: float, expected: float
) -> None:
    field = OutputFunction(job(source, {"x": at}))
    found = float(slope(field, [ball(at)], unit(1, 0), 1)[0])
    assert found == expected
