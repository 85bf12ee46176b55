"""Of entries written to one place the last counts, and it alone has a gradient."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gradcli.ops import OPS, Fixed
from gradcli.ops.op import case

from .draw import Spot, draw
from .measure import LAWS

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


def _with_case(op: Any, repeated: Any) -> Any:
    return replace(op, cases=(repeated,))
