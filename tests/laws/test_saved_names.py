"""A node shows what PyTorch's node of the same shows as saved: names and values."""

from __future__ import annotations

import gradcli
from tests.grouped import by_row

from .recorded import Records, name_of
from .saved_names import alike, before_and_after, is_tensor, trials

RECORDED = Records("saved_names")
TRIALS = {trial.ident: trial for trial in trials()}
FEWEST = 400

OTHERWISE = {
    "elu": "alpha",
    "linalg_lu_solve.default": "pivots",
    "slice.Tensor": "end",
}
"""Values that PyTorch's operators show of what nobody gave them. Its functions give
them, and so it is here: ``F.elu(x)`` an alpha of 1.0, ``x[1:]`` the last position there
could be. Pivots are drawn as whole numbers of 64 bits; its functions, and those here,
take them of 32 bits alone."""


def test_nodes_with_every_choice_of_leaves_are_recorded() -> None:
    RECORDED.demand(TRIALS.values())
    assert len(RECORDED.told) >= FEWEST, RECORDED.way_out


@by_row("at", RECORDED.told, str, name_of)
def test_a_node_saves_what_pytorchs_node_saves(at: str) -> None:
    trial, expected = TRIALS[at], RECORDED[at]
    y = trial.run(trial.inputs(gradcli))
    here = before_and_after(gradcli, trial, y if isinstance(y, tuple) else (y,))
    found, saves = here["saves"], expected["saves"]
    assert list(found) == list(saves)
    wrong = [name for name in found if not alike(found[name], saves[name])]
    assert " ".join(wrong) == OTHERWISE.get(trial.name, "")
    # What follows from a shape or from a value is freed together with it.
    assert {*expected["freed"]} <= {*here["freed"]}
    beyond = {*here["freed"]} - {*expected["freed"]}
    assert not [name for name in beyond if is_tensor(saves[name])]
