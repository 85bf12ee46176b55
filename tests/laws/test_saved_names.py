"""A node shows what PyTorch's node of the same shows as saved: names and values."""

from __future__ import annotations

from typing import Any

import pytest

import gradcli
from gradcli.engine.record import apply
from gradcli.ops import OPS

from .passes import Trial
from .saved_names import before_and_after, is_tensor, prepared, recorded

RECORDED = recorded()
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


def ours(trial: Trial) -> tuple[dict[str, Any], list[str]]:
    y = apply(OPS[trial.name], tuple(prepared(gradcli, trial)), trial.params)
    return before_and_after(gradcli, trial, y if isinstance(y, tuple) else (y,))


def alike(value: Any, expected: Any) -> bool:
    if isinstance(expected, list) and isinstance(value, list):
        pairs = zip(value, expected, strict=True)
        return len(value) == len(expected) and all(alike(a, b) for a, b in pairs)
    if isinstance(expected, dict) and isinstance(value, dict):
        near = pytest.approx(expected["digest"], rel=1e-9, abs=1e-9, nan_ok=True)
        return value | {"digest": 0} == expected | {"digest": 0} and (
            value["digest"] == near
        )
    return type(value) is type(expected) and bool(value == expected)


def test_nodes_with_every_choice_of_leaves_are_recorded() -> None:
    assert sum(map(len, RECORDED.values())) >= FEWEST, RECORDED.way_out


@pytest.mark.parametrize("row", RECORDED)
def test_a_node_saves_what_pytorchs_node_saves(row: str) -> None:
    assert row in OPS, f"there is no row {row} any more: {RECORDED.way_out}"
    for line in RECORDED[row]:
        found, freed = ours(Trial(row, 0, tuple(line["leaves"])))
        expected = line["saves"]
        assert list(found) == list(expected)
        wrong = [name for name in found if not alike(found[name], expected[name])]
        assert " ".join(wrong) == OTHERWISE.get(row, "")
        # What follows from a shape or from a value is freed together with it.
        assert set(line["freed"]) <= set(freed)
        beyond = set(freed) - set(line["freed"])
        assert not [name for name in beyond if is_tensor(expected[name])]
