"""Programs whose positions are floats, and changes in place of tensors without entries:
every stage runs, in both types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.random.ours import OURS
from tests.random.outcome import outcome
from tests.random.program import Line, Program

SQUARE = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]

AT_POSITIONS = (
    "index_copy(x*x, 0, tensor([2, 0]), x[:2]*x[:2])",
    "index_add(x*x, 0, tensor([2, 0]), x[:2]*x[:2])",
    "scatter(x*x, 0, tensor([[2, 0, 1]]), x[:2]*x[:2])",
    "scatter_add(x*x, 0, tensor([[2, 0, 1]]), x[:2]*x[:2])",
)


@pytest.mark.parametrize("text", AT_POSITIONS)
def test_typed_positions_meet_operands_of_either_type(text: str) -> None:
    found = {}
    for dtype in ("float32", "float64"):
        done = outcome(OURS, Program((Line(text),), {"x": SQUARE}, dtype))
        assert done.refusal is None
        assert done.dtype == dtype
        found[dtype] = [*done.gradients, *done.seconds]
    for a, b in zip(found["float32"], found["float64"], strict=True):
        assert np.allclose(a, b, rtol=1e-6)


@pytest.mark.parametrize("change", ["v *= w", "v **= w", "v /= w"])
@pytest.mark.parametrize("empty", [[], [[], [], []]])
def test_what_has_no_entries_is_changed_in_place(change: str, empty: Any) -> None:
    whole, cut = ("w = x[0:0] + 1", "v = sin(w)"), ("w = x[1:1, 0:-1]", "v = w.clone()")
    for texts, x in ((whole, empty), (cut, SQUARE)):
        lines = tuple(map(Line, (*texts, change, "v")))
        assert outcome(OURS, Program(lines, {"x": x}, "float64")).refusal is None
