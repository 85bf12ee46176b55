"""A recorded forward pass is differentiable, and both orders of modes agree."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.engine import Tensor, enable_grad, grad
from gradcli.engine.forward import jvp
from gradcli.ops import OPS
from tests.grouped import by_row

from .draw import Spot, draw, ident, spots
from .measure import Arrays, cotangents, directions, outputs_of, push, tensors

TOLERANCE = 1e-9

pytestmark = pytest.mark.nightly


def paired(parts: list[Tensor], weights: Arrays) -> Tensor:
    """The sum of products of tensors with fixed weights: a scalar, recorded."""
    with enable_grad():
        terms = [
            (part * Tensor(w, part.xp)).sum()
            for part, w in zip(parts, weights, strict=True)
        ]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
    return total


def reverse_over_forward(spot: Spot, t: Arrays, v: Arrays) -> Arrays:
    """The gradient of ``v . (J t)`` by the inputs."""
    leaves, y = spot.run()
    pushed = jvp(outputs_of(y), leaves, tensors(t), create_graph=True)
    return gradient_of(paired(pushed, v), leaves)


def forward_over_reverse(spot: Spot, t: Arrays, v: Arrays) -> Arrays:
    """The tangent of ``(transpose of J) v`` along ``t``."""
    leaves, y = spot.run()
    pulled = grad(outputs_of(y), leaves, tensors(v), create_graph=True)
    known = [
        leaf * 0 if g is None else g for g, leaf in zip(pulled, leaves, strict=True)
    ]
    return [np.asarray(out.raw) for out in jvp(known, leaves, tensors(t))]


def gradient_of(total: Tensor, leaves: list[Tensor]) -> Arrays:
    found = [None] * len(leaves) if total.edge is None else grad([total], leaves)
    return [
        np.zeros(leaf.shape) if g is None else np.asarray(g.raw)
        for g, leaf in zip(found, leaves, strict=True)
    ]


@by_row("at", spots(), ident)
def test_recorded_pass_gives_the_same_tangent(at: tuple[str, int]) -> None:
    spot = draw(OPS[at[0]], at[1])
    t = directions(spot)
    leaves, y = spot.run()
    recorded = jvp(outputs_of(y), leaves, tensors(t), create_graph=True)
    for out, plain in zip(recorded, push(spot, t), strict=True):
        np.testing.assert_allclose(np.asarray(out.raw), plain, rtol=1e-14)


@by_row("at", spots(), ident)
def test_reverse_over_forward_is_forward_over_reverse(at: tuple[str, int]) -> None:
    spot = draw(OPS[at[0]], at[1])
    t, v = directions(spot), cotangents(spot)
    one, other = reverse_over_forward(spot, t, v), forward_over_reverse(spot, t, v)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE)
