"""A second pass is refused exactly where PyTorch refuses it, and the gradient of a
recorded pass is connected to the inputs that PyTorch connects it to; recorded."""

from __future__ import annotations

import gradcli
from tests.grouped import by_row

from .passes import trials, witness
from .recorded import Records, name_of

RECORDED = Records("passes")
TRIALS = {trial.ident: trial for trial in trials()}
FEWEST = 1500


def test_every_case_of_every_row_is_recorded() -> None:
    RECORDED.demand(TRIALS.values())
    assert len(RECORDED.told) >= FEWEST


@by_row("at", RECORDED.told, str, name_of)
def test_a_pass_leaves_what_pytorchs_leaves(at: str) -> None:
    here = witness(gradcli, TRIALS[at], TRIALS[at].run)
    assert here == RECORDED[at], f"{here} here, {RECORDED[at]} in PyTorch"
