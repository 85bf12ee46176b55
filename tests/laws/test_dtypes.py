"""Results have PyTorch's types, whatever the operands' type; recorded from PyTorch."""

from __future__ import annotations

import pytest

from tests.grouped import by_row

from .dtypes import found, trials
from .recorded import Records

RECORDED = Records("dtypes")
TRIALS = {trial.ident: trial for trial in trials()}


@by_row("at", RECORDED.told, str)
def test_results_have_the_types_of_pytorchs(at: str) -> None:
    for dtype, types in RECORDED[at]["gives"].items():
        ours = found(TRIALS[at], dtype)
        # Of pooling PyTorch's public function leaves out where the entries stand.
        assert ours[: len(types)] == types, f"{ours} of {dtype}, {types} in PyTorch"


@by_row("at", [at for at, seen in RECORDED.told.items() if seen["refuses"]], str)
def test_types_that_pytorch_refuses_are_refused(at: str) -> None:
    for dtype in RECORDED[at]["refuses"]:
        with pytest.raises((RuntimeError, TypeError, IndexError)):
            found(TRIALS[at], dtype)


def test_every_case_of_every_row_is_recorded() -> None:
    RECORDED.demand(TRIALS.values())
