"""The table of mistakes in numbers: nothing is told of right ones, nor of zeros."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.answers import evidence as known
from gradcli.answers.evidence import Array

RIGHT = np.random.default_rng(3).uniform(0.5, 2, (3, 3))
SHARED = (known.SIGN, known.OFF_DIAGONAL, *known.transpositions(2))
ROWS = (
    *SHARED, known.UPSIDE_DOWN, *known.DIAGONALS, *known.sums(RIGHT.shape, True),
    *known.sums(RIGHT.shape, False),
)  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.text)
@pytest.mark.parametrize("numbers", [RIGHT, 0 * RIGHT], ids=["right", "zeros"])
def test_no_mistake_is_told(numbers: Array, row: known.Hypothesis) -> None:
    pairs = [(numbers, numbers)]
    assert row.of_claim(pairs) is row.of_backward(pairs, "it") is None


@pytest.mark.parametrize("row", SHARED, ids=lambda row: row.cause)
def test_a_claim_and_a_backward_show_the_same_mistake(row: known.Hypothesis) -> None:
    wrong = {"sign": -RIGHT, "diagonal": RIGHT * np.eye(3), "transpose": RIGHT.T}
    pairs = [(RIGHT, wrong[row.cause])]
    told = [row.of_claim(pairs), row.of_backward(pairs, "it")]
    assert [each and each.cause for each in told] == [row.cause, row.of_gradient[0]]
