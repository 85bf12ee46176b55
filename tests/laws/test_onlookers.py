"""Packed values and anomaly mode, on every case of every row."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.autograd import set_detect_anomaly
from gradcli.engine import Tensor, grad
from gradcli.engine.forward import jvp
from gradcli.engine.saved import Packing
from gradcli.ops import OPS
from tests.grouped import by_row

from .draw import draw, ident, spots
from .measure import cotangents, directions, outputs_of, pull, push, tensors

SPOTS = list(spots())
GIVEN_BACK = Packing(lambda t: np.array(t.detach().raw), lambda a: boxed(a))


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


@by_row("at", SPOTS, ident)
def test_anomaly_mode_changes_no_gradient(at: tuple[str, int]) -> None:
    spot = draw(OPS[at[0]], at[1])
    v = cotangents(spot)
    expected = pull(spot, v)
    with set_detect_anomaly(True):
        found = pull(spot, v)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
