"""Saved-tensor hooks, dual levels and anomaly mode, on every case of every row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli.autograd import forward_ad, set_detect_anomaly
from gradcli.autograd.graph import saved_tensors_hooks
from gradcli.engine import Tensor, grad
from gradcli.engine.forward import jvp
from gradcli.engine.record import apply
from gradcli.ops import OPS
from tests.grouped import by_row

from .draw import draw, ident, spots
from .measure import cotangents, directions, outputs_of, pull, push, tensors

SPOTS = list(spots())
GIVEN_BACK = saved_tensors_hooks(lambda t: np.array(t.detach().raw), lambda a: boxed(a))


def boxed(array: Any) -> Tensor:
    from gradcli.engine import NUMPY

    return Tensor(array, NUMPY)


@by_row("at", SPOTS, ident)
def test_values_that_were_packed_and_unpacked_give_the_same_gradient(
    at: tuple[str, int],
) -> None:
    spot = draw(OPS[at[0]], at[1])
    v = cotangents(spot)
    with GIVEN_BACK:
        leaves, y = spot.run()
    recorded = grad(outputs_of(y), leaves, tensors(v), create_graph=True)
    plain = grad(outputs_of(y), leaves, tensors(v))
    for a, b, expected in zip(recorded, plain, pull(spot, v), strict=True):
        assert a is not None
        assert b is not None
        np.testing.assert_array_equal(np.asarray(a.raw), expected)
        np.testing.assert_array_equal(np.asarray(b.raw), expected)


@by_row("at", SPOTS, ident)
def test_values_that_were_packed_serve_forward_mode(at: tuple[str, int]) -> None:
    spot = draw(OPS[at[0]], at[1])
    t = directions(spot)
    with GIVEN_BACK:
        leaves, y = spot.run()
    pushed = jvp(outputs_of(y), leaves, tensors(t))
    for out, expected in zip(pushed, push(spot, t), strict=True):
        np.testing.assert_array_equal(np.asarray(out.raw), expected)


@pytest.mark.parametrize("recorded", [False, True])
@by_row("at", SPOTS, ident)
def test_a_dual_level_pushes_what_forward_mode_pushes(
    at: tuple[str, int], recorded: bool
) -> None:
    spot = draw(OPS[at[0]], at[1])
    t = directions(spot)
    leaves, plain = spot.run()
    expected = push(spot, t)
    with forward_ad.dual_level():
        given = [x if recorded else x.detach() for x in leaves]
        duals = map(forward_ad.make_dual, given, tensors(t))
        chosen = dict(zip(spot.free, duals, strict=True))
        inputs = tuple(chosen.get(i, spot._fixed(i)) for i in range(len(spot.arrays)))
        y = apply(spot.op, inputs, dict(spot.case.params))
        parts = y if isinstance(y, tuple) else (y,)
        tangents = [
            forward_ad.unpack_dual(part).tangent
            for part, before in zip(parts, _parts(plain), strict=True)
            if before.edge is not None
        ]
    for tangent, out in zip(tangents, expected, strict=True):
        assert tangent is not None
        np.testing.assert_allclose(np.asarray(tangent.raw), out, rtol=1e-14)


@by_row("at", SPOTS, ident)
def test_anomaly_mode_changes_no_gradient(at: tuple[str, int]) -> None:
    spot = draw(OPS[at[0]], at[1])
    v = cotangents(spot)
    expected = pull(spot, v)
    with set_detect_anomaly(True):
        found = pull(spot, v)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def _parts(y: Any) -> tuple[Tensor, ...]:
    return y if isinstance(y, tuple) else (y,)
