"""Both modes agree with a central difference of the forward formula.

What a difference may be off by is stated in `measure.slope`.
"""

from __future__ import annotations

import pytest

from gradcli.ops import OPS
from tests.grouped import by_row

from .draw import draw, ident, spots
from .measure import forward_difference, reverse_difference

pytestmark = pytest.mark.nightly


@by_row("at", spots(), ident)
def test_jvp_is_the_central_difference(at: tuple[str, int]) -> None:
    assert forward_difference(draw(OPS[at[0]], at[1])) <= 1


@by_row("at", spots(), ident)
def test_vjp_is_the_central_difference(at: tuple[str, int]) -> None:
    assert reverse_difference(draw(OPS[at[0]], at[1])) <= 1
