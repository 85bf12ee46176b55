"""Reverse rules are right to fifteen digits, where differences of floats see seven."""

from __future__ import annotations

from gradcli.ops import OPS
from tests.grouped import by_row

from .digits import digits
from .draw import draw, ident, spots


@by_row("at", spots(), ident)
def test_vjp_is_the_slope_in_many_digits(at: tuple[str, int]) -> None:
    spot = draw(OPS[at[0]], at[1])
    assert spot.free, "the case draws no input that carries a gradient"
    assert digits(spot) <= 1
