"""A verdict on a claim says what was shown, and rests on more than the engine."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from math import inf

import pytest

from gradcli.check.claim_judge import judge
from gradcli.check.claims import (
    SIMPLE,
    Claim,
    ClaimInput,
    ClaimsTask,
    Judgement,
    read_claim,
)
from gradcli.ops import OPS
from tests.check.claims.asking import X, ruled, task


def test_tasks_and_judgements_survive_their_journey() -> None:
    asked = task("log(x)", X, "d/dx = 1/x", "d/dx = x", "d2/dx2 = -1/x**2")
    assert ClaimsTask.from_json(asked.to_json()) == asked
    judgement = judge(asked)
    assert Judgement.from_json(judgement.to_json()) == judgement
    assert [r.verdict for r in judgement.rulings] == ["proved", "refuted", "proved"]


def test_the_truth_is_not_the_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = replace(OPS["sin"], partials=(lambda xp, y, x: 2 * xp.cos(x),))
    monkeypatch.setitem(OPS, "sin", broken)
    assert ruled("sin(x)", X, "d/dx = cos(x)").verdict == "proved"
    assert ruled("sin(x)", X, "d/dx = 2*cos(x)").verdict == "refuted"
    assert ruled("sin(x)", X, "d2/dx2 = -sin(x)").verdict == "proved"


def test_a_point_given_in_part_is_looked_at_first() -> None:
    given_x = ClaimInput("x", (), (0.5,))
    asked = ClaimsTask(
        "x*y", (given_x, ClaimInput("y", ())), (read_claim("d/dx = y"),),
        prove=False, points=3, seconds=inf,
    )  # fmt: skip
    assert judge(asked).rulings[0].points == 4


@pytest.mark.parametrize(
    ("program", "claim", "verdict"),
    [
        ("abs(x - 5)", "d/dx = -1", "refuted"),
        ("abs(x - 5)", "d/dx = sign(x - 5)", "proved"),
        ("maximum(x, 100)", "d/dx = 0", "refuted"),
        ("maximum(x, 100)", "d/dx = where(x > 100, 1, 0)", "proved"),
        ("where(x > 50, x**2, x**3)", "d/dx = 3*x**2", "refuted"),
        ("log(abs(x - 7))", "d/dx = 1/(x - 7)", "proved"),
    ],
)
def test_a_claim_is_compared_on_the_other_side_of_a_kink(
    program: str, claim: str, verdict: str
) -> None:
    assert ruled(program, X, claim).verdict == verdict


def test_a_claim_about_a_given_point_may_hold_on_one_side() -> None:
    given = (ClaimInput("x", (), (0.4,)),)
    asked = ClaimsTask("relu(2 - x)", given, (read_claim("d/dx = -1"),), seconds=inf)
    assert judge(asked).rulings[0].verdict == "proved"


def test_points_outside_the_domain_say_nothing() -> None:
    asked = ClaimsTask(
        "log(x)",
        (ClaimInput("x", (), (-1.0,)),),
        (read_claim("d/dx = 1/x"),),
        seconds=inf,
    )
    found = judge(asked).rulings[0]
    assert (found.verdict, found.side_conditions) == ("proved", ("x > 0",))
    assert "outside the domain" in (found.note or "")
    nowhere = ruled("sqrt(-x**2 - 1)", X, "d/dx = 1")
    assert (nowhere.verdict, nowhere.points) == ("unknown", 0)


def test_without_a_proof_the_number_of_points_is_what_was_shown() -> None:
    found = ruled("x**2", X, "d/dx = 2*x", prove=False, points=5)
    assert (found.verdict, found.points) == ("agrees", 5)


@pytest.mark.parametrize(
    ("program", "other", "said"),
    [
        ("log(x)", "log(abs(x))", "the second program has a value and the first"),
        ("log(abs(x))", "log(x)", "the first program has a value and the second"),
    ],
)
def test_programs_of_different_domains_are_told_apart(
    program: str, other: str, said: str
) -> None:
    given_x = (ClaimInput("x", ()),)
    asked = ClaimsTask(program, given_x, (Claim("value"),), other=other, seconds=inf)
    (found,) = judge(asked).rulings
    assert found.verdict == "agrees"
    assert said in (found.note or "")


def test_a_counterexample_of_many_entries_is_zero_but_for_a_few() -> None:
    inputs = {"X": (9, 5), "w": (5,), "y": (9,)}
    found = ruled("((X@w - y)**2).sum()", inputs, "d/dw = X.t() @ (X@w - y)")
    assert found.counterexample is not None
    numbers = [v for _, _, values in found.counterexample.inputs for v in values]
    assert sum(1 for v in numbers if v) <= 3


def test_a_task_without_time_ends_with_a_reason() -> None:
    asked = task(
        "y = X\nfor i in range(40): y = tanh(y @ X)\ny.sum()", {"X": (8, 8)},
        "d/dX = X", seconds=0.0,
    )  # fmt: skip
    judgement = judge(asked)
    assert judgement.rulings[0].verdict == "unknown"
    assert "time" in (judgement.rulings[0].note or "")


def test_indices_keep_the_values_they_were_given() -> None:
    inputs = (ClaimInput("x", (3,)), ClaimInput("i", (), (1.0,)))
    claims = (read_claim("d/dx = tensor([0, 2, 0]) * x"),)
    asked = ClaimsTask("x[i]**2", inputs, claims, seconds=inf)
    assert judge(asked).rulings[0].verdict == "proved"


def test_two_programs_are_compared_in_value_and_gradient() -> None:
    claims = (Claim("value"), Claim("d/dx", by=("x",)))
    alike = ClaimsTask(
        "sin(x)**2", (ClaimInput("x", ()),), claims, other="1 - cos(x)**2"
    )
    assert [r.verdict for r in judge(alike).rulings] == ["proved", "proved"]
    cut = replace(alike, source="x*x", other="x*x.detach()")
    assert [r.verdict for r in judge(cut).rulings] == ["proved", "refuted"]


def test_simple_numbers_are_exact() -> None:
    assert all(2 * n == round(2 * n) for n in SIMPLE)


SAME_BUT = {
    ("floor(x + 0.5)", "round(x)"): 0.5,
    ("x + where(x == 5, 1, 0)", "x"): 5.0,
    ("where(x > 0, x, 1)", "where(x >= 0, x, 1)"): 0.0,
    ("x if x != 3 else 0*x", "x"): 3.0,
    ("2*x - where(3*x == 12, 1, 0)", "2*x"): 4.0,
}
"""Pairs of programs that have the same value but at a point."""


@pytest.mark.parametrize("pair", SAME_BUT)
@pytest.mark.parametrize("given", [True, False])
def test_values_are_compared_where_programs_decide_otherwise(
    pair: tuple[str, str], given: bool
) -> None:
    at = SAME_BUT[pair]
    (program, other), x = pair, ClaimInput("x", (), (at,) if given else None)
    claims = (Claim("value"), Claim("d/dx", by=("x",)))
    value, slope = judge(
        ClaimsTask(program, (x,), claims, other=other, seconds=inf)
    ).rulings
    assert value.verdict == "refuted"
    assert value.counterexample is not None
    assert value.side_conditions == ()
    assert slope.verdict != "proved" or slope.side_conditions


@pytest.mark.parametrize(
    ("program", "other"),
    [("relu(x)", "max(x, 0)"), ("where(x > 0, x, 0)", "where(x >= 0, x, 0)")],
)
def test_equal_values_at_a_kink_keep_their_proof(program: str, other: str) -> None:
    x, claims = ClaimInput("x", (), (0.0,)), (Claim("value"),)
    asked = ClaimsTask(program, (x,), claims, other=other, seconds=inf)
    assert judge(asked).rulings[0].verdict == "proved"


def test_what_numbers_refute_is_refuted_without_sympy() -> None:
    code = (
        "import sys; from gradcli.check.claim_judge import judge; "
        "from gradcli.check.claims import ClaimsTask, ClaimInput, read_claim; "
        "claim = read_claim('d/dx = 3*x'); "
        "task = ClaimsTask('x**2', (ClaimInput('x', ()),), (claim,)); "
        "print(judge(task).rulings[0].verdict, 'sympy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["refuted", "False"]
