"""What is said of an input holds for all of its entries, or says for which.

Bounded by work: of 3,000 entries so few are drawn that the rest is left to the pass in
float64.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gradcli.check.verify as checking
from gradcli.check.floats import farthest, note_pass, suspects
from gradcli.check.judge import InputReport
from gradcli.check.process.job import REFUTED, SAMPLED, InputVerdict, Job, NumberBlock
from tests.grouped import nightly

from .jobs import checked, job

COUNT = 3000
PROGRAMS = (
    "conv1d(x.reshape(1,1,-1), ones(1,1,3)).square().sum()",
    "(x.exp()*x.cumsum(0)).sum()",
)


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "MAX_ROUND_STEPS", 1)


def given(program: str) -> Job:
    return job(program, {"x": np.random.default_rng(1).normal(size=COUNT)})


def altered(asked: Job, at: int, number: float) -> InputVerdict:
    (x,) = asked.inputs
    assert x.claim is not None
    numbers = list(x.claim.values())
    numbers[at] = number
    claim = NumberBlock.of(x.claim.shape, numbers)
    (verdict,) = checked(replace(asked, inputs=(replace(x, claim=claim),))).inputs
    return verdict


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("off", [1e-8, *nightly([float("nan"), float("inf")])])
def test_one_altered_entry_of_many_is_refuted(program: str, off: float) -> None:
    asked = given(program)
    (x,) = asked.inputs
    assert x.claim is not None
    number = x.claim.values()[2500] * (1 + off)
    verdict = altered(asked, 2500, number)
    told = f"x[2500]: the engine gave {number!r}"
    if np.isnan(number):
        assert verdict.verdict in (REFUTED, "unknown")
    else:
        assert verdict.verdict == REFUTED, verdict
    assert told in (verdict.note or "")


@pytest.mark.parametrize("program", PROGRAMS)
def test_it_is_said_of_which_entries_the_error_is(program: str) -> None:
    (verdict,) = checked(given(program)).inputs
    assert verdict.verdict == SAMPLED
    assert verdict.checked < COUNT / 10
    note = verdict.note or ""
    assert f"max_error is for these {verdict.checked} only" in note
    assert f"the other {COUNT - verdict.checked} agree" in note


def test_what_other_entries_agree_to_is_no_less_than_the_gap() -> None:
    numbers = np.array([1.0, 2.0, 4.0])
    found = np.array([1.0, 2.0 + 2e-9, 4.0])
    sizes = 8 * np.abs(found)
    assert farthest(numbers, found, sizes, 2).tolist() == [1]
    assert suspects(numbers, found, sizes, 2.0**-53).tolist() == []
    assert suspects(numbers, found, sizes, 2.0**-63).tolist() == [1]
    report = InputReport("x", [], unseen=3)
    note_pass(report, numbers, found, sizes, np.array([1, 2]))
    assert report.more is not None
    assert "the other 2 agree" in report.more
    assert report.more.endswith("to 1.3e-10 of what was added up to each")


def test_a_wrong_power_of_a_negative_number_is_not_explained_by_rounding() -> None:
    """The slope by an exponent that is exact plays no part in it."""
    asked = job("((x + y)**2)*1", {"x": -2.0, "y": -1.0})
    claim = NumberBlock.of((), [-6.0 * (1 + 1e-8)])
    inputs = tuple(replace(i, claim=claim) for i in asked.inputs)
    assert checked(replace(asked, inputs=inputs)).verdict == REFUTED
