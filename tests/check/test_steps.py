"""Constants at a step, and branches that rounding takes the other way."""

from __future__ import annotations

import re
from fractions import Fraction
from math import inf
from typing import Any

import pytest

from gradcli.check import expressions as prove
from gradcli.check.decided import NUMERIC
from gradcli.check.nonsmooth import NOT_TOLD_APART
from gradcli.check.process.job import (
    CERTIFIED,
    PROVED,
    REFUTED,
    ROUNDED,
    UNKNOWN,
    InputVerdict,
)
from gradcli.ops import OPS, Op, parameters
from gradcli.ops.exact import decimal

from .claims.asking import X, ruled
from .jobs import checked, claiming, job, rows_job

OVER: dict[str, float] = {
    "floor(log(1000,10))*x": 3,
    "(0.6 // 0.2)*x": 3,
    "(1 // 0.1)*x": 10,
    "(2.3 % 0.1)*x": 0,
    "int(0.57*100)*x": 57,
    "floor(49*(1/49))*x": 1,
    "ceil(0.07*100)*x": 7,
    "floor(0.6/0.2)*x": 3,
    "fmod(1, 0.1)*x": 0,
    "remainder(0.6, 0.2)*x": 0,
    "trunc(-0.57*100)*x": -57,
    "round(2.675, 2)*x": 2.68,
    "frac(tensor(2.3)/0.1)*x": 0,
    "floor_divide(0.6, 0.2)*x": 3,
    "div(0.6, 0.2, rounding_mode='floor')*x": 3,
    "div(0.6, 0.2, rounding_mode='trunc')*x": 3,
    "sign(0.1 + 0.2 - 0.3)*x": 0,
    "sign(log(1000,10) - 3)*x": 0,
    "heaviside(log(1000,10) - 3, 0.5)*x": 0.5,
    "(0.1 + 0.2 == 0.3)*x": 1,
    "(log(1000,10) == 3)*x": 1,
    "where(0.1 + 0.2 == 0.3, x, 2*x)": 1,
    "x if 0.1 + 0.2 <= 0.3 else 2*x": 1,
    "if 0.1 + 0.2 - 0.3: y = x\nelse: y = 3*x\ny": 3,
    "argmax(tensor([0.3, 0.1 + 0.2]))*x": 0,
    "max(int(0.57*100), 3)*x": 57,
    "for i in range(int(0.57*100)): x = x*1.01\nx": 1.01**57,
    "floor(exp(log(5)))*x": 5,
    "(sqrt(3)*sqrt(3) // 1)*x": 3,
    "floor(1 - 10**(-2000))*x": 0,
    "floor(tensor([0.6, 0.3])/tensor([0.2, 0.1])).sum()*x": 6,
}
"""True derivatives of programs in which rounding carries a constant over a step."""

WITHIN: dict[str, float] = {
    "floor(log(100,10))*x": 2,
    "(0.7 // 0.2)*x": 3,
    "(sqrt(2)**2 % 2)*x + x": 1,
    "where(0.1 + 0.2 != 0.4, x, 2*x)": 1,
    "floor(2**0.5*2**0.5)*x": 2,
    "round(0.5)*x + round(1.5)*x": 2,
    "floor(5.5e17/1.1)*x": 5e17,
    "floor(pi*1e60)*1e-60*x": 3.141592653589793,
    "(0.1 + 0.2 - 0.3)*0 + x": 1,
}
"""True derivatives of programs whose floats lie on the side of the constants."""


def _verdict(source: str, x: Any = 2.0) -> InputVerdict:
    (found,) = checked(job(source, {"x": x})).inputs
    return found


@pytest.mark.parametrize("source", OVER)
def test_a_constant_that_rounding_carries_over_a_step_is_rounded(source: str) -> None:
    found = _verdict(source)
    assert found.verdict == ROUNDED
    told = re.search(r"the true value is ([-+.\de]+)", found.note or "")
    assert told is not None
    assert float(told[1].rstrip(".")) == pytest.approx(OVER[source], abs=1e-12)


@pytest.mark.parametrize("source", WITHIN)
def test_a_constant_on_the_side_of_its_float_is_proved(source: str) -> None:
    given = job(source, {"x": 2.0})
    assert given.inputs[0].claim is not None
    assert given.inputs[0].claim.values() == [pytest.approx(WITHIN[source])]
    assert _verdict(source).verdict in (PROVED, CERTIFIED)


@pytest.mark.parametrize("source", [*OVER, *WITHIN])
def test_a_number_of_neither_side_is_refuted(source: str) -> None:
    wrong = claiming(job(source, {"x": 2.0}), "x", lambda g: 1.1 * g + 0.37)
    assert checked(wrong).inputs[0].verdict == REFUTED


@pytest.mark.parametrize("source", [s for s in OVER if "\n" not in s])
def test_a_claim_is_judged_by_the_number_that_is_printed_as_true(source: str) -> None:
    true = repr(OVER[source])
    assert ruled(source, X, f"d/dx = {true}").verdict == PROVED
    assert ruled(source, X, f"d/dx = {true} + 1").verdict == REFUTED


def test_the_value_that_rounding_carries_over_a_step_is_told() -> None:
    found = _verdict("x + floor(0.6/0.2)")
    assert found.verdict == ROUNDED
    assert "the output: the engine gave 4.0, the true value is 5.0" in found.note  # type: ignore[operator]


def test_constants_that_nothing_shows_to_be_equal_leave_the_side_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prove, "are_equal", lambda evaluation, a, b: False)
    found = _verdict("floor(log(1000,10))*x")
    assert found.verdict == UNKNOWN
    assert NOT_TOLD_APART in (found.note or "")


JUMPING = [
    op for op in OPS.values() if op.jumps_at is not None or op.steps_at is not None
]

ONE = "(49*(1/tensor(49.)))"
"""A constant that is 1, and less in floats."""

AT_ONE = {"floor": 1, "ceil": 1, "trunc": 1, "frac": 0, "floor_divide": 1,
          "remainder": 0, "fmod": 0, "round": 2, "sign": 0}  # fmt: skip
"""Values at the jump next to 1, or at 0 for a row that jumps only there."""

FURTHER = {"b": "1", "other": "1", "decimals": "0"}
"""Further arguments of rows that jump, by the parameter's name."""


@pytest.mark.parametrize("op", JUMPING, ids=lambda op: op.name)
def test_every_row_that_jumps_is_decided_by_the_exact_constant(op: Op) -> None:
    at = f"{ONE} + {op.jumps_at}" if op.steps_at is None else f"{ONE} - 1"
    further = [FURTHER[name] for name in parameters(op) if name in FURTHER]
    found = _verdict(f"{op.base}({', '.join([at, *further])})*x")
    assert found.verdict in (PROVED, CERTIFIED, ROUNDED)
    assert found.closed_form == str(AT_ONE[op.base])


def test_plain_numbers_are_rounded_and_compared_exactly() -> None:
    a = decimal
    for found, exactly in (
        (a("0.6") // a("0.2"), 3), (1 // a("0.1"), 10), (int(a("0.57") * 100), 57),
        (round(a("2.675"), 2), Fraction(268, 100)), (round(a("1250"), -2), 1200),
        (a("-0.7") // a("0.2"), -4), (a("2.3") % a("0.1"), 0), (-7 % a("0.2"), 0),
        (a("0.1") + a("0.2") == a("0.3"), True), (a("0.1") + a("0.2") > 0.3, False),
        (bool(a("0.1") + a("0.2") - a("0.3")), False), (a("0.1") < 10**400, True),
        (max(a("0.1") + a("0.2"), a("0.3")) - a("0.3"), 0), (a("0.5") < inf, True),
        ((49 * (1 / a("49"))).is_integer(), True),
    ):  # fmt: skip
        number = found.args if hasattr(found, "args") else None
        assert (Fraction(*number) if number else found) == exactly


def test_a_constant_over_a_step_beside_a_tie_is_not_refuted() -> None:
    found = _verdict("sign((5**0.5*5**0.5) - 5)*where(x >= 3, x, x*x)", 3.0)
    assert found.verdict == UNKNOWN


# branches


BRANCHES = [
    ("where(x*x == 2, 5*x, x)", 1.4142135623730951, "x**2 != 2"),
    ("where(3*x == 0.3, x, 2*x)", 0.1, "3*x != 3/10"),
    ("where(x*x != 2, x, 5*x)", 1.4142135623730951, "x**2 != 2"),
    ("x if 3*x == 1 else x**2", 0.3333333333333333, None),
    ("where((x + 0.1) - 0.1 == x, 5*x, x)", 0.7, None),
    ("where(x*3 > 1, x, x + 0*x)", 0.3333333333333333, "3*x < 1"),
    ("where(3*x == 1, x*1, x + 0)", 0.3333333333333333, None),
]


@pytest.mark.parametrize(("source", "x", "condition"), BRANCHES)
def test_a_proof_has_the_condition_of_the_branch_that_ran_or_there_is_none(
    source: str, x: float, condition: str | None
) -> None:
    verification = checked(job(source, {"x": x}))
    if condition is not None:
        assert verification.verdict == PROVED
        assert verification.side_conditions == (condition,)
    else:
        assert verification.verdict in (UNKNOWN, CERTIFIED)
        assert verification.side_conditions == ()


def test_next_to_singular_a_determinant_is_not_zero() -> None:
    verification = checked(job("det(A)", {"A": [[1, 2], [2, 4.000000000000001]]}))
    assert verification.verdict == PROVED
    (condition,) = verification.side_conditions
    assert condition == "A[0,0]*A[1,1] - A[0,1]*A[1,0] != 0"


@pytest.mark.parametrize(
    "source",
    ["floor(y*3)*x", "where(3*y > 1, x, 2*x)", "(x if 3*y == 1 else 2*x)", "3*y//1*x"],
)
def test_rounding_of_another_input_over_a_step_leaves_the_derivative_open(
    source: str,
) -> None:
    found = checked(job(source, {"x": 2.0, "y": 0.3333333333333333}))
    assert {each.verdict for each in found.inputs} == {UNKNOWN}


def test_a_hessian_has_no_condition_that_is_false_at_the_point() -> None:
    given = rows_job(
        "where(x*x == 2, x**3, x**2)", {"x": 1.4142135623730951}, "hessian"
    )
    verification = checked(given)
    assert verification.verdict in (PROVED, UNKNOWN)
    assert set(verification.side_conditions) <= {"x**2 != 2"}


# decompositions


@pytest.mark.parametrize(
    ("matrix", "part"),
    [([[1, 2], [2, 4]], 0), ([[1, 2], [2, 4], [3, 6]], 1), ([[0, 1], [0, 2]], 0),
     ([[0.1, 0.2], [0.3, 0.6]], 1), ([[0, 0], [0, 0]], 1), ([[1, 2, 3], [2, 4, 6]], 0),
     ([[1, 2, 3], [4, 5, 6], [7, 8, 9]], 0)],
)  # fmt: skip
def test_orthogonal_factors_at_lower_rank_have_no_derivative(
    matrix: list[list[float]], part: int
) -> None:
    given = job(f"linalg.qr(A)[{part}].sum()", {"A": matrix})
    verification = checked(given)
    assert verification.verdict == UNKNOWN
    assert "linalg.qr has no derivative at a matrix of lower rank" in (
        verification.inputs[0].note or ""
    )


def test_the_check_decides_each_step_of_a_row() -> None:
    names = {op.base for op in OPS.values() if op.steps_at is not None}
    assert names
    assert names <= NUMERIC.keys()
