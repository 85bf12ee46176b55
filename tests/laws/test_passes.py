"""A second pass is refused exactly where PyTorch refuses it, and the gradient of a
recorded pass is connected to the inputs that PyTorch connects it to; recorded."""

from __future__ import annotations

from typing import Any

import gradcli
from gradcli.engine import function
from gradcli.engine.record import apply
from gradcli.ops import Op
from tests.grouped import by_row

from .draw import handed
from .passes import Seen, Trial, load, trials, witness
from .sharing import name_of

RECORDED = load()
TRIALS = {trial.ident: trial for trial in trials()}
FEWEST = 1500


def run(trial: Trial, inputs: list[Any]) -> Any:
    entry = trial.entry
    if isinstance(entry, Op):
        return apply(entry, tuple(inputs), trial.params)
    return function(trial.name)(*handed(entry, inputs), **trial.params)


def ours(trial: Trial) -> Seen | None:
    return witness(
        gradcli, lambda inputs: run(trial, inputs), trial.arrays(), trial.leaves
    )


def test_every_case_of_every_row_is_recorded() -> None:
    RECORDED.demand(TRIALS)
    assert sum(seen is not None for seen in RECORDED.values()) >= FEWEST


@by_row("at", [at for at, seen in RECORDED.items() if seen], str, name_of)
def test_a_pass_leaves_what_pytorchs_leaves(at: str) -> None:
    here = ours(TRIALS[at])
    assert here == RECORDED[at], f"{here} here, {RECORDED[at]} in PyTorch"
