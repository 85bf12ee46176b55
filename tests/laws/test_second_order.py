"""A recorded reverse pass is differentiable, and its derivatives are right."""

from __future__ import annotations

import numpy as np

from gradcli.engine import grad
from gradcli.ops import OPS
from tests.grouped import by_row

from .draw import draw, ident, spots
from .measure import (
    cotangent_gradient,
    cotangents,
    outputs_of,
    pull,
    second_difference,
    tensors,
)


@by_row("at", spots(), ident)
def test_gradient_of_vjp_is_the_central_difference(at: tuple[str, int]) -> None:
    assert second_difference(draw(OPS[at[0]], at[1])) <= 1


@by_row("at", spots(), ident)
def test_gradient_of_vjp_by_the_cotangent_is_jvp(at: tuple[str, int]) -> None:
    assert cotangent_gradient(draw(OPS[at[0]], at[1])) <= 1


@by_row("at", spots(), ident)
def test_recorded_pass_gives_the_same_gradient(at: tuple[str, int]) -> None:
    spot = draw(OPS[at[0]], at[1])
    v = cotangents(spot)
    leaves, y = spot.run()
    recorded = grad(outputs_of(y), leaves, tensors(v), create_graph=True)
    for g, plain in zip(recorded, pull(spot, v), strict=True):
        assert g is not None
        assert np.array_equal(np.asarray(g.raw), plain)
