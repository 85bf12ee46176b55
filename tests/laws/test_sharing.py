"""Outputs lie in the memory of inputs where PyTorch's do, and in the same order."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy as np

from gradcli.engine import Tensor
from gradcli.engine.versions import owner
from tests.grouped import by_row

from .recorded import Records, Trial, name_of, tensors
from .sharing import OWN_MEMORY, Answer, answer, laid_out, trials

RECORDED = Records("sharing")


def memory(x: Any) -> int | None:
    held = isinstance(x, Tensor) and isinstance(x.raw, np.ndarray) and x.raw.size > 0
    return id(owner(x.raw)) if held else None


def test_every_case_of_every_row_is_recorded() -> None:
    RECORDED.demand(trials())


@by_row("trial", trials(), attrgetter("ident"), name_of)
def test_entries_lie_in_memory_as_pytorchs_do(trial: Trial) -> None:
    inputs = tensors(laid_out(trial))
    recorded = RECORDED[trial.ident]
    expected = [tuple(shared) for shared in recorded or []]
    try:
        outputs = trial.run(inputs)
    except (ValueError, RuntimeError):
        # PyTorch refuses it too: a view that the layout does not allow.
        assert recorded is None
        return
    found = answer(outputs, inputs, memory)
    if recorded is None or trial.name in ELSEWHERE:
        found, expected = shared(found), shared(expected)
    assert found == expected, (
        f"(output, input or -1, strides, place): {found} here, {expected} in PyTorch"
    )


def shared(lies: Answer) -> Answer:
    return [each for each in lies if each[1] != OWN_MEMORY]


ELSEWHERE = {
    "index.Tensor": "entries read at positions lie in the order of their indices",
    "einsum.default": "one node here, products of matrices in PyTorch",
    "local_response_norm": "a quotient of operands of two orders follows the last",
}
"""Whose results lie in another order than PyTorch's, and why."""


def test_whoever_is_excused_does_differ() -> None:
    for name in ELSEWHERE:
        own = [trial for trial in trials() if trial.name == name]
        given = [(trial, tensors(laid_out(trial))) for trial in own]
        lies = [answer(trial.run(xs), xs, memory) for trial, xs in given]
        recorded = [[tuple(x) for x in RECORDED[t.ident] or []] for t in own]
        assert lies != recorded
