"""Results have PyTorch's types, whatever the operands' type; recorded from PyTorch."""

from __future__ import annotations

from operator import attrgetter

import pytest

from gradcli.ops import OPS
from tests.grouped import by_row

from .dtypes import Recorded, found, load

RECORDED = load()
FEWEST_ROWS = 250


@by_row("each", RECORDED, attrgetter("ident"))
def test_results_have_the_types_of_pytorchs(each: Recorded) -> None:
    for dtype, types in each.gives.items():
        ours = found(each.row, each.case, dtype)
        # Of pooling PyTorch's public function leaves out where the entries stand.
        assert ours[: len(types)] == types, dtype


@by_row("each", [each for each in RECORDED if each.refuses], attrgetter("ident"))
def test_types_that_pytorch_refuses_are_refused(each: Recorded) -> None:
    for dtype in each.refuses:
        with pytest.raises((RuntimeError, TypeError, IndexError)):
            found(each.row, each.case, dtype)


def test_nearly_every_row_is_recorded() -> None:
    assert len({each.row for each in RECORDED} & OPS.keys()) >= FEWEST_ROWS
