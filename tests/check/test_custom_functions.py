"""Custom Functions: no right one is refuted, each wrong one is, with the mistake.

`custom/table.md` has PyTorch's `gradcheck` beside it.
"""

from __future__ import annotations

import pytest

import gradcli
from gradcli.autograd import verify

from .custom.cases import Case, load
from .custom.table import TABLE

RIGHT, WRONG = load("right"), load("wrong")


def name(case: Case) -> str:
    return case.name


def recorded() -> dict[str, list[str]]:
    """The rows of the table by function, without the bars."""
    rows = [line.split("|") for line in TABLE.read_text().splitlines()]
    return {
        row[1].strip(): [cell.strip() for cell in row[2:-1]]
        for row in rows
        if len(row) > 6
    }


@pytest.mark.parametrize("case", RIGHT, ids=name)
def test_a_right_backward_is_certified(case: Case) -> None:
    proof = verify(case.value, case.inputs(gradcli), prove=False)
    assert proof.verdict == "certified", proof
    assert proof
    assert proof.mistake is None
    assert recorded()[case.name][1] == "passed"


@pytest.mark.parametrize("case", WRONG, ids=name)
def test_a_wrong_backward_is_refuted_and_its_mistake_named(case: Case) -> None:
    proof = verify(case.value, case.inputs(gradcli), prove=False, order=2)
    assert proof.asked == "refuted", proof
    if case.mistake == "double backward":
        assert proof.verdict == "certified", proof
        assert proof.second is not None
        assert "a constant to its graph" in str(proof.second.reason)
        return
    assert not proof
    assert proof.mistake is not None
    assert proof.mistake.cause == case.mistake
    _, _, _, verdict, cause = recorded()[case.name]
    assert (verdict, cause) == ("refuted", case.mistake)


def test_every_function_is_recorded_and_about_half_of_them_are_wrong() -> None:
    head = 2
    assert len(recorded()) == len(RIGHT) + len(WRONG) + head
    assert len(RIGHT) >= 15
    assert len(WRONG) == 27


@pytest.mark.parametrize("wanted", ["Cube", "Softmax", "MatMul"])
def test_a_small_right_backward_is_proved_for_all_cotangents(wanted: str) -> None:
    case = next(c for c in RIGHT if c.name == wanted)
    proof = verify(case.value, case.inputs(gradcli), seconds=600)
    assert proof.verdict == "proved", proof
