"""Of entries written to one place the last counts, and it alone has a gradient."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradcli.engine import jacobian as blocks
from gradcli.engine.jacobian import columns_of, rows_of
from gradcli.ops import OPS, Fixed
from gradcli.ops.op import case

from .draw import Spot, draw
from .measure import LAWS
from .test_batched_cotangents import by_columns, by_rows

WRITES = {
    "index_put.default": [
        case((3, 2), (4, 2), indices=([0, 2, 0, -1],)),
        case((3, 4), (3,), indices=([0, 2, 0], [1, 1, -3])),
        case((3,), (), indices=([1, 1],)),
    ],
    "index_copy.default": [case((3, 2), Fixed([2, 0, 2]), (3, 2), dim=0)],
    "scatter.src": [
        case((3, 2), Fixed([[1, 0], [1, 2], [2, 0]]), (3, 2), dim=0),
        case((3, 2), Fixed([[1, 1]]), (2, 3), dim=1),
    ],
    "index_put.positions": [
        case((2, 3), (3,), at=[5, 5, 5]),
        case((3,), (), at=[0, 0]),
    ],
}


def spots() -> list[Any]:
    return [
        pytest.param(name, place, id=f"{name}-{place}")
        for name, cases in WRITES.items()
        for place in range(len(cases))
    ]


@pytest.mark.parametrize("law", LAWS.values(), ids=list(LAWS))
@pytest.mark.parametrize(("name", "place"), spots())
def test_an_entry_that_was_overwritten_has_no_gradient(
    name: str, place: int, law: Any
) -> None:
    op = OPS[name]
    repeated = WRITES[name][place]
    drawn = draw(_with_case(op, repeated), 0)
    assert law(Spot(op, repeated, drawn.arrays)) <= 1


@pytest.mark.parametrize("fewest", [1, 10**9], ids=["sparse", "dense"])
@pytest.mark.parametrize(("name", "place"), spots())
def test_it_has_none_in_a_jacobian_either(
    name: str, place: int, fewest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "MIN_SPARSE_ROWS", fewest)
    op = OPS[name]
    leaves, y = draw(_with_case(op, WRITES[name][place]), 0).run()
    for block, slow in zip(rows_of(y, leaves), by_rows(y, leaves), strict=True):
        np.testing.assert_array_equal(block.dense().raw, slow)
    for x in leaves:
        (block,) = columns_of([y], x)
        np.testing.assert_array_equal(block.dense().raw, by_columns(y, x))


def _with_case(op: Any, repeated: Any) -> Any:
    return replace(op, cases=(repeated,))
