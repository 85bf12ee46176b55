"""Programs print what they print under PyTorch: values, graphs, texts and refusals."""

from __future__ import annotations

import pytest

import gradcli
from tests.reference.torch_facts import align

from .program_records import Cell, cells, outcome, recorded

CELLS = cells()
RECORDED = recorded()


@pytest.mark.parametrize("cell", CELLS, ids=[cell.title for cell in CELLS])
def test_a_program_prints_what_it_prints_under_pytorch(cell: Cell) -> None:
    done = outcome(cell, gradcli)
    if done.error is not None:
        raise done.error
    printed = RECORDED[cell.title]
    assert align(done.printed, printed) == printed


def test_every_cell_is_recorded_and_prints_something() -> None:
    assert [cell.title for cell in CELLS] == list(RECORDED)
    assert [title for title, printed in RECORDED.items() if not printed] == []
