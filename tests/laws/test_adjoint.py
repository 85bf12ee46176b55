"""Forward and reverse mode are transposes of each other, for every row and case."""

from __future__ import annotations

from gradcli.ops import OPS
from tests.grouped import by_row

from .draw import draw, ident, spots
from .measure import adjoint


@by_row("at", spots(), ident)
def test_vjp_is_adjoint_of_jvp(at: tuple[str, int]) -> None:
    assert adjoint(draw(OPS[at[0]], at[1])) <= 1
