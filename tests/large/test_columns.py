"""A row of the table on columns gives what it gives on each of their rows alone."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from gradcli.engine import NUMPY, Tensor, grad
from gradcli.large.columns import Column, Columns
from gradcli.ops import OPS
from tests.grouped import by_row
from tests.laws.draw import Spot, draw, draw_array, generator, ident, spots
from tests.laws.measure import cotangents, outputs_of, tensors

ROWS = 3


def drawn_again(spot: Spot, nr: int) -> list[Any]:
    """Values of the free inputs that are drawn for another row."""
    rng = generator(spot.op.name, spot.case, nr)
    return [draw_array(rng, a.shape, spot.case) for a in spot.values()]


def results(leaves: list[Tensor], y: Any, spot: Spot) -> list[Any]:
    """The outputs, and the gradients from cotangents that all rows share."""
    outputs = outputs_of(y)
    given = tensors(cotangents(spot), leaves[0].xp)
    found = grad(outputs, leaves, given)
    raws = [part.raw for part in (y if isinstance(y, tuple) else (y,))]
    return raws + [
        leaf.xp.zeros_like(leaf.raw) if g is None else g.raw
        for leaf, g in zip(leaves, found, strict=True)
    ]


@by_row("at", spots(), ident)
def test_rows_together_give_what_each_gives_alone(at: tuple[str, int]) -> None:
    spot = draw(OPS[at[0]], at[1])
    values = [drawn_again(spot, nr) for nr in range(ROWS)]
    alone = [results(*spot.run(each), spot) for each in values]
    xp = Columns(NUMPY)
    columns = [xp.column(np.stack(parts)) for parts in zip(*values, strict=True)]
    together = results(*spot.as_kind(lambda a: a, xp).run(columns), spot)
    for nr, each in enumerate(together):
        for row, found in enumerate(xp.spread(each, ROWS)):
            np.testing.assert_allclose(found, alone[row][nr], rtol=1e-13, atol=1e-14)


def test_columns_have_neighbouring_floats() -> None:
    data = np.array([1.0, 2.0])
    found = Columns(NUMPY).nextafter(Columns(NUMPY).column(data), 5.0)
    np.testing.assert_array_equal(found.data, np.nextafter(data, 5.0))


def test_a_column_that_a_signal_interrupted_is_freed_without_a_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lost: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lost.append)
    column = Column.__new__(Column)
    del column
    assert lost == []
