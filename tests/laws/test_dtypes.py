"""Results have PyTorch's types, whatever the operands' type; recorded from PyTorch."""

from __future__ import annotations

from operator import attrgetter

import pytest

from gradcli.ops import OPS
from tests.grouped import by_row

from .draw import spots
from .dtypes import UNTOLD, Recorded, found, load
from .own import OWN

RECORDED = load()


@by_row("each", RECORDED.values(), attrgetter("ident"))
def test_results_have_the_types_of_pytorchs(each: Recorded) -> None:
    for dtype, types in each.gives.items():
        ours = found(each.row, each.case, dtype)
        # Of pooling PyTorch's public function leaves out where the entries stand.
        assert ours[: len(types)] == types, f"{ours} of {dtype}, {types} in PyTorch"


@by_row(
    "each", [each for each in RECORDED.values() if each.refuses], attrgetter("ident")
)
def test_types_that_pytorch_refuses_are_refused(each: Recorded) -> None:
    for dtype in each.refuses:
        with pytest.raises((RuntimeError, TypeError, IndexError)):
            found(each.row, each.case, dtype)


def test_every_case_of_a_row_that_pytorch_has_is_recorded() -> None:
    silent = OWN.keys() | UNTOLD.keys() | {op.name for op in OPS.values() if op.query}
    every = spots(differentiable=False)
    RECORDED.demand(f"{row}-{case}" for row, case in every if row not in silent)
