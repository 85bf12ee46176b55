"""Shapes and number types: a gradient is of its input's, an output of its inputs'."""

from __future__ import annotations

import numpy as np

from gradcli.engine import NUMPY, Tensor, grad
from gradcli.engine.forward import jvp
from gradcli.ops import OPS
from tests.grouped import by_row

from .draw import Spot, draw, ident, spots
from .measure import cotangents, directions, misfit, outputs_of, tensors


def narrowed(spot: Spot) -> Spot:
    return spot.as_kind(lambda a: a.astype(np.float32) if a.dtype.kind == "f" else a)


@by_row("at", spots(), ident)
def test_gradient_has_the_shape_of_its_input(at: tuple[str, int]) -> None:
    assert misfit(draw(OPS[at[0]], at[1])) == 0


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
def test_forward_does_not_change_its_inputs(at: tuple[str, int]) -> None:
    spot = draw(OPS[at[0]], at[1])
    before = [np.array(a) if hasattr(a, "dtype") else a for a in spot.arrays]
    leaves, y = spot.run()
    outputs = outputs_of(y)
    if outputs:
        grad(outputs, leaves, tensors(cotangents(spot)))
    for held, now in zip(before, spot.arrays, strict=True):
        assert np.array_equal(held, now) if hasattr(held, "dtype") else held is now
