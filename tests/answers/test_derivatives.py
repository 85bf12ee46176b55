"""Jacobians and Hessians: both modes agree, and a block's pattern is named right."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.autograd import blocks
from gradcli.autograd.blocks import TooManyEntries, jacobian
from gradcli.engine import NUMPY, Tensor, call
from gradcli.views.pattern import pattern_of


def leaf(values: object) -> Tensor:
    return Tensor(np.asarray(values, dtype=float), NUMPY, requires_grad=True)


def test_forward_and_reverse_mode_give_the_same_blocks() -> None:
    w, x = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), leaf([0.5, -1.0, 2.0])
    y = call("tanh", call("mv", w, x)) * x[0]
    rev, fwd = jacobian(y, [w, x], "rev"), jacobian(y, [w, x], "fwd")
    assert (rev.mode, rev.passes, fwd.mode, fwd.passes) == ("rev", 2, "fwd", 9)
    for a, b, shape in zip(rev.blocks, fwd.blocks, [(2, 2, 3), (2, 3)], strict=True):
        assert a.shape == b.shape == shape
        np.testing.assert_allclose(a.dense().raw, b.dense().raw, rtol=1e-14)


@pytest.mark.parametrize(("size", "mode"), [(3, "fwd"), (1, "rev")])
def test_auto_takes_fewer_passes(size: int, mode: str) -> None:
    x = leaf([2.0])
    assert jacobian(x * Tensor(np.ones(size), NUMPY), [x]).mode == mode


def test_blocks_beyond_the_limit_are_refused_before_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "MAX_ENTRIES", 3)
    w, x = leaf([[1.0, 2.0], [3.0, 4.0]]), leaf([1.0, 2.0])
    with pytest.raises(TooManyEntries, match="4 entries"):
        jacobian(call("mv", w, x), [x])


@pytest.mark.parametrize(
    ("block", "rows", "expected"),
    [
        ([[0.0, 0.0], [0.0, 0.0]], 2, "zero"),
        ([[1.0, 0.0], [0.0, 1.0]], 2, "identity"),
        ([[2.0, 0.0], [0.0, 1.0]], 2, "diagonal"),
        ([[2.0, 1.0], [0.0, 1.0]], 2, "upper triangular"),
        ([[2.0, 0.0], [3.0, 1.0]], 2, "lower triangular"),
        ([[2.0, 3.0], [3.0, 1.0]], 2, "symmetric"),
        ([[2.0, 3.0], [4.0, 1.0]], 2, "dense"),
        ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], 2, "dense"),
        ([[[1.0, 0.0], [0.0, 1.0]]], 1, "dense"),
        (5.0, 1, "scalar"),
        ([], 0, "zero"),
        ([[float("nan"), 0.0], [0.0, 1.0]], 2, "diagonal"),
    ],
)
def test_a_blocks_pattern_is_named(block: object, rows: int, expected: str) -> None:
    entries = np.asarray(block, dtype=np.float64)
    columns = entries.size // rows if rows else 0
    assert pattern_of(entries.reshape(rows, columns)).structure() == expected
