"""Reverse rules are right to fifteen digits, where differences of floats see seven."""

from __future__ import annotations

from gradcli.ops import OPS
from tests.grouped import by_row

from .digits import digits
from .draw import draw, ident, spots

NO_FORMULA = {
    "matrix_exp": "its rule is an exponential of a matrix of twice the size",
}
"""Rows whose reverse rule has no formula in exact numbers, and why."""


@by_row("at", [at for at in spots() if at[0] not in NO_FORMULA], ident)
def test_vjp_is_the_slope_in_many_digits(at: tuple[str, int]) -> None:
    spot = draw(OPS[at[0]], at[1])
    assert spot.free, "the case draws no input that carries a gradient"
    assert digits(spot) <= 1
