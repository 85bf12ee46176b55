"""Claims worked out by hand, some of them wrong in the ways people mistake."""

from __future__ import annotations

import json
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

import pytest

from gradcli.answers.claim_mistakes import diagnose
from gradcli.answers.evidence import Diagnosis
from gradcli.check.claim_judge import judge
from gradcli.check.claims import ClaimInput, ClaimsTask, Ruling, read_claim

LINES = (Path(__file__).parent / "claims.jsonl").read_text().splitlines()
CLAIMS: list[dict[str, Any]] = [json.loads(line) for line in LINES]
WRONG = [k for k, claim in enumerate(CLAIMS) if not claim["right"]]


def task_of(told: dict[str, Any], **more: Any) -> ClaimsTask:
    from gradcli.lang.parser import parse
    from gradcli.lang.run import input_names

    names = input_names(parse(told["program"]))
    inputs = tuple(ClaimInput(n, tuple(told["shapes"].get(n, ()))) for n in names)
    claim = read_claim(told["claim"])
    return ClaimsTask(told["program"], inputs, (claim,), seconds=inf, **more)


@cache
def ruling(k: int) -> Ruling:
    return judge(task_of(CLAIMS[k])).rulings[0]


@cache
def mistake(k: int) -> Diagnosis | None:
    task = task_of(CLAIMS[k])
    return diagnose(task, task.claims[0], 10.0)


def test_there_are_claims_of_both_kinds() -> None:
    assert (len(CLAIMS), len(WRONG)) == (120, 70)


@pytest.mark.parametrize("k", range(len(CLAIMS)), ids=lambda k: CLAIMS[k]["claim"])
def test_every_claim_is_judged_rightly(k: int) -> None:
    assert ruling(k).verdict == ("proved" if CLAIMS[k]["right"] else "refuted")


@pytest.mark.parametrize("k", WRONG, ids=lambda k: CLAIMS[k]["claim"])
def test_a_wrong_claim_has_a_counterexample_where_the_two_differ(k: int) -> None:
    found = ruling(k).counterexample
    assert found is not None
    assert (found.claimed, found.claimed_shape) != (found.true, found.true_shape)


@pytest.mark.parametrize("k", WRONG, ids=lambda k: CLAIMS[k]["claim"])
def test_counterexamples_are_made_of_small_round_numbers(k: int) -> None:
    found = ruling(k).counterexample
    assert found is not None
    numbers = [value for _, _, values in found.inputs for value in values]
    size = len(numbers)
    assert all(2 * n == int(2 * n) and abs(n) <= max(5, size) for n in numbers)


def test_most_wrong_claims_get_the_right_diagnosis() -> None:
    """Half of the claims, among them one of every cause."""
    firsts = {CLAIMS[k]["cause"]: k for k in reversed(WRONG)}
    found = {k: mistake(k) for k in sorted({*WRONG[::2], *firsts.values()})}
    right = [k for k, d in found.items() if d and d.cause == CLAIMS[k]["cause"]]
    missed = {
        CLAIMS[k]["claim"]: (CLAIMS[k]["cause"], d and d.cause)
        for k, d in found.items()
        if k not in right
    }
    print(f"\n{len(right)} of {len(found)} diagnoses are right; others: {missed}")
    assert len(right) >= 0.95 * len(found), missed
