"""A node shows what PyTorch's node of the same shows as saved: names and values."""

from __future__ import annotations

import gradcli
from tests.grouped import by_row

from .recorded import Records, name_of
from .saved_names import alike, before_and_after, is_tensor, trials

RECORDED = Records("saved_names")
TRIALS = {trial.ident: trial for trial in trials()}
FEWEST = 400

COMPUTED = {
    "LU", "buffer", "noise", "pivots", "result1", "result2", "result3", "total_weight",
}  # fmt: skip
"""Values that PyTorch's kernels keep beside inputs and results, and rules here do not
need."""


def test_nodes_with_every_choice_of_leaves_are_recorded() -> None:
    RECORDED.demand(TRIALS.values())
    assert len(RECORDED.told) >= FEWEST, RECORDED.way_out


@by_row("at", RECORDED.told, str, name_of)
def test_a_node_saves_what_pytorchs_node_saves(at: str) -> None:
    trial, expected = TRIALS[at], RECORDED[at]
    y = trial.run(trial.inputs(gradcli))
    here = before_and_after(gradcli, trial, y if isinstance(y, tuple) else (y,))
    found, saves = here["saves"], expected["saves"]
    theirs = {name for name, value in saves.items() if is_tensor(value)} - COMPUTED
    if trial.name == "linalg_lu_solve.default":
        theirs -= {"pivots"}
    assert theirs <= {*found}
    assert not [name for name in theirs if not alike(found[name], saves[name])]
    assert {*expected["freed"]} & theirs == {*here["freed"]} & theirs
