"""Outputs lie in the memory of inputs exactly where PyTorch's do, and as they do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli.engine import NUMPY, Tensor, function
from gradcli.engine.record import apply
from gradcli.engine.versions import owner
from gradcli.ops import Op

from .draw import handed
from .sharing import Trial, answer, load, trials

RECORDED = load()


def run(trial: Trial, inputs: list[Any]) -> Any:
    entry = trial.entry
    if isinstance(entry, Op):
        return apply(entry, tuple(inputs), trial.params)
    return function(trial.name)(*handed(entry, inputs), **trial.params)


def tensors(trial: Trial) -> list[Any]:
    return [
        Tensor(x, NUMPY) if isinstance(x, np.ndarray) else x for x in trial.inputs()
    ]


def memory(x: Any) -> int | None:
    held = isinstance(x, Tensor) and isinstance(x.raw, np.ndarray) and x.raw.size > 0
    return id(owner(x.raw)) if held else None


def test_every_case_of_every_row_is_recorded() -> None:
    assert [trial.ident for trial in trials()] == list(RECORDED)


@pytest.mark.parametrize("trial", list(trials()), ids=lambda trial: trial.ident)
def test_memory_is_shared_exactly_where_pytorch_shares_it(trial: Trial) -> None:
    inputs = tensors(trial)
    recorded = RECORDED[trial.ident]
    expected = [tuple(shared) for shared in recorded or []]
    try:
        outputs = run(trial, inputs)
    except (ValueError, RuntimeError):
        # PyTorch refuses it too: a view that the layout does not allow.
        assert recorded is None
        return
    assert answer(outputs, inputs, memory) == expected
