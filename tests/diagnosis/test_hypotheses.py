"""The table of mistakes in numbers: nothing is told of right ones, nor of zeros."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.diagnosis.hypotheses import (
    DIAGONALS,
    OWN_ENTRY,
    SIGN,
    UPSIDE_DOWN,
    Hypothesis,
    first_of,
    sums_left_out,
    sums_too_much,
    transpositions,
)

RIGHT = np.random.default_rng(3).uniform(0.5, 2, (3, 3))
ROWS = [
    SIGN, OWN_ENTRY, UPSIDE_DOWN, *DIAGONALS, *transpositions(2),
    *sums_left_out(RIGHT.shape), *sums_too_much(RIGHT.shape),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.text)
def test_right_numbers_show_no_mistake(row: Hypothesis) -> None:
    assert row.of_claim([(RIGHT, RIGHT)]) is None
    assert row.of_backward([(RIGHT, RIGHT)], "it") is None


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.text)
def test_nothing_is_concluded_from_zeros(row: Hypothesis) -> None:
    assert row.of_claim([(RIGHT * 0, RIGHT * 0)]) is None
    assert row.of_backward([(RIGHT * 0, RIGHT * 0)], "it") is None


@pytest.mark.parametrize("row", [SIGN, OWN_ENTRY, *transpositions(2)])
def test_a_claim_and_a_backward_show_the_same_mistake(row: Hypothesis) -> None:
    wrong = {"sign": -RIGHT, "path": RIGHT * np.eye(3), "transpose": RIGHT.T}
    pairs = [(RIGHT, wrong[row.cause])]
    of_claim, of_backward = row.of_claim(pairs), row.of_backward(pairs, "it")
    assert of_claim is not None
    assert of_backward is not None
    assert of_claim.cause == of_backward.cause


def test_a_sum_by_the_number_of_its_entries_is_a_mean() -> None:
    found = first_of(sums_left_out((3, 3)), [(RIGHT.mean(axis=0), RIGHT)])
    assert found is not None
    assert (found.cause, found.repair) == ("mean", "take .mean(dim=0) of it")
