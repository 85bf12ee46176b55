"""No formula is shown without the region in which it holds."""

from __future__ import annotations

import pytest

from gradcli.diagnosis.answer import right_derivative
from gradcli.verify.claims.task import ClaimsTask, Given
from gradcli.verify.claims.text import read_claim

from .jobs import checked, job

REGIONS = {
    "int(x)*x": (2.5, "2", ("x >= 2", "x < 3")),
    "x.item()*x": (2.5, "x", ("x == 5/2",)),
    "x if int(x) == 2 else x^2": (2.5, "1", ("x >= 2", "x < 3")),
    "x if detach(x) > 0 else x^2": (2.0, "1", ("x > 0",)),
    "relu(x)**2": (0.0, "2*x", ("x == 0",)),
    "isnan(log(x))*x + x": (2.0, "1", ("x > 0",)),
    "s = 0\nfor i in range(int(x)):\n  s = s + x\ns": (3.0, "3", ("x >= 3", "x < 4")),
}


@pytest.mark.parametrize("source", REGIONS)
def test_number_that_leaves_the_symbols_is_a_condition(source: str) -> None:
    value, formula, conditions = REGIONS[source]
    verification = checked(job(source, {"x": value}))
    assert verification.inputs[0].closed_form == formula
    assert verification.side_conditions == conditions


@pytest.mark.parametrize(
    ("source", "x", "conditions"),
    [
        ("round(x)*y", 0.5, ("x >= -1/2", "x <= 1/2")),
        ("floor(x)*y", 1.0, ("x >= 1", "x < 2")),
        ("ceil(x)*y", 1.0, ("x > 0", "x <= 1")),
        ("trunc(x)*y", -1.0, ("x > -2", "x <= -1")),
    ],
)
def test_region_at_a_jump_is_that_of_the_value_there(
    source: str, x: float, conditions: tuple[str, ...]
) -> None:
    verification = checked(job(source, {"x": x, "y": 2.0}))
    assert verification.side_conditions == conditions


PIECES = {
    "where(x>0, x^2, x^3)": {("2*x", ("x > 0",)), ("3*x**2", ("x < 0",))},
    "max(x,y)": {("1", ("x > y",)), ("0", ("x < y",))},
}


@pytest.mark.parametrize("source", PIECES)
def test_right_derivative_is_told_piece_by_piece(source: str) -> None:
    inputs = tuple(
        Given(name, ()) for name in "xy" if name in source.replace("max", "")
    )
    claim = read_claim("d/dx = 7", {given.name for given in inputs})
    found = right_derivative(ClaimsTask(source, inputs, (claim,)), claim, 5.0)
    assert {(piece.formula, piece.where) for piece in found} == PIECES[source]
