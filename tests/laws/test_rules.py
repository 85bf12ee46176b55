"""Every rule of every row, on every case: shapes and types, adjoints, second order, and
the slope in many digits, where differences of floats see seven."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.engine import NUMPY, Tensor, grad
from gradcli.engine.forward import jvp
from gradcli.ops import OPS
from tests.grouped import by_row

from .digits import digits
from .draw import NO_FORMULA, Spot, draw, ident, spots
from .measure import LAWS, cotangents, directions, outputs_of, pull, tensors

TRIED = ("shape", "adjoint", "second_difference", "cotangent_gradient")
"""Laws beside the differences of first order, in whose place `digits` stands."""


def narrowed(spot: Spot) -> Spot:
    return spot.as_kind(lambda a: a.astype(np.float32) if a.dtype.kind == "f" else a)


@pytest.mark.parametrize("law", TRIED)
@by_row("at", spots(), ident)
def test_every_case_obeys(at: tuple[str, int], law: str) -> None:
    assert LAWS[law](draw(OPS[at[0]], at[1])) <= 1


@by_row("at", [at for at in spots() if at[0] not in NO_FORMULA], ident)
def test_vjp_is_the_slope_in_many_digits(at: tuple[str, int]) -> None:
    spot = draw(OPS[at[0]], at[1])
    assert spot.free, "the case draws no input that carries a gradient"
    assert digits(spot) <= 1


@by_row("at", spots(), ident)
def test_recorded_pass_gives_the_same_gradient(at: tuple[str, int]) -> None:
    spot = draw(OPS[at[0]], at[1])
    v = cotangents(spot)
    leaves, y = spot.run()
    recorded = grad(outputs_of(y), leaves, tensors(v), create_graph=True)
    for g, plain in zip(recorded, pull(spot, v), strict=True):
        assert g is not None
        assert np.array_equal(np.asarray(g.raw), plain)


@by_row("at", spots(), ident)
def test_float32_stays_float32(at: tuple[str, int]) -> None:
    spot = narrowed(draw(OPS[at[0]], at[1]))
    leaves, y = spot.run()
    outputs = outputs_of(y)
    assert {o.raw.dtype for o in outputs} == {np.dtype(np.float32)}
    v = [Tensor(c.astype(np.float32), NUMPY) for c in cotangents(spot)]
    for create_graph in (True, False):
        for g in grad(outputs, leaves, v, True, create_graph):
            assert g is not None
            assert g.raw.dtype == np.float32
    t = [Tensor(d.astype(np.float32), NUMPY) for d in directions(spot)]
    for pushed in jvp(outputs, leaves, t):
        assert pushed.raw.dtype == np.float32


@by_row("at", spots(differentiable=False), ident)
def test_a_pass_does_not_change_the_inputs(at: tuple[str, int]) -> None:
    spot = draw(OPS[at[0]], at[1])
    before = [np.array(a) if hasattr(a, "dtype") else a for a in spot.arrays]
    leaves, y = spot.run()
    outputs = outputs_of(y)
    if outputs:
        grad(outputs, leaves, tensors(cotangents(spot)))
    for held, now in zip(before, spot.arrays, strict=True):
        assert np.array_equal(held, now) if hasattr(held, "dtype") else held is now
