"""Cotangents pulled together are those pulled one by one, for every row and case."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.autograd.rows import rows_of
from gradcli.engine import Tensor
from gradcli.engine.jacobian import blocks, jacobian_of
from gradcli.engine.record import call
from gradcli.ops import OPS

from .draw import draw, ident, spots
from .measure import outputs_of

ALIKE = {"rtol": 1e-12, "atol": 1e-13}


def one_by_one(y: Tensor, leaves: list[Tensor]) -> list[np.ndarray]:
    """The Jacobian of ``y`` by each leaf from a pass for each entry."""
    rows = rows_of(y, leaves, create_graph=False)
    return [
        np.array([np.zeros(x.shape) if r[i] is None else r[i].raw for r in rows])
        .reshape((*y.shape, *x.shape))
        for i, x in enumerate(leaves)
    ]  # fmt: skip


def mixed(y: Tensor) -> Tensor:
    """A value whose entries depend on two neighbours each."""
    flat = call("reshape", y, (-1,))
    return flat * 0.5 + call("roll", flat, 1, 0)


@pytest.mark.parametrize("rows", [1, 10**9], ids=["sparse", "dense"])
@pytest.mark.parametrize("at", list(spots()), ids=ident)
def test_a_batch_of_cotangents_is_pulled_as_each_alone(
    at: tuple[str, int], rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "MIN_SPARSE_ROWS", rows)
    leaves, y = draw(OPS[at[0]], at[1]).run()
    for out in outputs_of(y):
        for value in (out, mixed(out)):
            found = jacobian_of(value, leaves)
            for block, slow in zip(found, one_by_one(value, leaves), strict=True):
                np.testing.assert_allclose(block.dense().raw, slow, **ALIKE)
