"""No verdict is untrue: right gradients stand where rounding decides what is computed,
wrong ones fall, and what the program itself loses is told with both numbers.

Each point is given with what its verdict has to be. `proved` and its like say that the
number has digits of the true one; a point within rounding of a jump or a tie is a kink.
"""

from __future__ import annotations

from dataclasses import replace
from math import isnan, nan
from typing import Any

import mpmath
import numpy as np
import pytest

from gradcli.check import verify
from gradcli.check.kinks import kinks_of
from gradcli.check.process.job import (
    REFUTED,
    ROUNDED,
    UNKNOWN,
    NumberBlock,
    Verification,
)
from gradcli.lang.run import evaluate
from tests.laws.mutants import all_mutants, planted

from .excuses import Excuse, excuses
from .jobs import checked, claiming, job, leaves, rows_job
from .mutant_programs import programs

SHOWN = ("proved", "certified")

Values = dict[str, Any]

RIGHT: list[tuple[str, Values]] = [
    ("x.sum()", {"x": [0.1, 0.2, -0.3]}),
    ("x.mean()", {"x": [0.1, 0.2, -0.3]}),
    ("nansum(x)", {"x": [0.1, 0.2, -0.3]}),
    ("trace(A)", {"A": [[0.1, 1.0, 2.0], [1.0, 0.2, 3.0], [1.0, 2.0, -0.3]]}),
    ("stack([x, y, z]).sum()", {"x": 0.1, "y": 0.2, "z": -0.3}),
    ("x @ y", {"x": [0.1, 0.2, -0.3], "y": [1.0, 1.0, 1.0]}),
    ("x.expand(2, 3).sum()", {"x": [0.1, 0.2, -0.3]}),
    ("nanmedian(x)", {"x": [1.0, nan, 3.0, 2.0]}),
    ("nanmedian(x, 1)[0].sum()", {"x": [[1.0, nan, 3.0], [nan, 5.0, 4.0]]}),
    ("nanquantile(x, 0.4)", {"x": [1.0, nan, 3.0, 2.0]}),
    ("(x.sort()[0][:3]*tensor([1., 2., 3.])).sum()", {"x": [2.0, nan, 3.0, 1.0]}),
    ("sinc(x)", {"x": 0.0}),
    ("sinc(x*x)", {"x": 0.0}),
    ("0**x", {"x": 2.0}),
    ("x**y", {"x": 0.0, "y": 2.0}),
    ("v = x*1; v += x; v.sum()", {"x": [1.0, 2.0]}),
    ("v = x*1; v *= x; v.sum()", {"x": [1.0, 2.0]}),
    ("v = x*1; v -= x*x; v /= 2; v.sum()", {"x": [1.0, 2.0]}),
    ("v = x*1; v **= 2; v.sum()", {"x": [3.0, 4.0]}),
    ("s = zeros(2)\nfor i in range(3): s += x*i\ns.sum()", {"x": [1.0, 2.0]}),
    ("s = 0\nfor i in range(3): s += x[i]**2\ns", {"x": [1.0, 2.0, 3.0]}),
    ("s = x*1\nw = s[1:]\nw += 5*x[0]\n(s*s).sum()", {"x": [1.0, 2.0, 3.0]}),
    ("s = x*2\nw = s.T\nw -= 5*x\n(s*s).sum()", {"x": [[1.0, 2.0], [3.0, 4.0]]}),
    ("s = x*1\nw = s.view(4)\ns /= 5\n(w*w).sum()", {"x": [[1.0, 2.0], [3.0, 4.0]]}),
    ("y = x*x\nwhile y < 1: y = y + 0.1\ny", {"x": 0.1}),
    ("relu(x - 0.1)", {"x": 0.2}),
    ("atan2(x, y)", {"x": 1e-17, "y": -1.0}),
    ("atan2(x, y)", {"x": 0.0, "y": 1.0}),
    ("hypot(x, y)", {"x": 0.0, "y": 2.0}),
    ("x**1e17", {"x": 1.000000000000001}),
    ("x**(1/3)", {"x": 1e60}),
    ("x**(1/3)", {"x": 1e300}),
    ("x**0.1", {"x": 1e-200}),
    ("nextafter(x, y).sum()", {"x": [1.0, 2.0], "y": [3.0, -1.0]}),
    ("clamp(x, b, b).sum()", {"x": [-0.8, 0.3], "b": 0.2}),
]  # fmt: skip
"""Right gradients that are shown to be right."""


def named(table: list[tuple[str, Values]]) -> list[Any]:
    return [pytest.param(*case, id=f"{case[0]} at {case[1]}") for case in table]


@pytest.fixture(autouse=True)
def no_warnings() -> Any:
    with np.errstate(all="ignore"):
        yield


def notes(verification: Verification) -> str:
    return " ".join(v.note or "" for v in verification.inputs)


@pytest.mark.parametrize(("program", "values"), named(RIGHT))
def test_a_right_gradient_is_shown_to_be_right(program: str, values: Values) -> None:
    verification = checked(job(program, values))
    assert verification.verdict in SHOWN, notes(verification)


@pytest.mark.parametrize(("program", "values"), named(RIGHT))
def test_the_same_gradient_made_wrong_is_refuted(program: str, values: Values) -> None:
    given = job(program, values)
    name = next(iter(values))
    wrong = claiming(given, name, lambda g: 1.0009 * g + 1e-3)
    assert checked(wrong).verdict == REFUTED


@pytest.mark.parametrize("point", [{"x": 0.0, "y": 0.0}, {"x": 1e-200, "y": 1e-200}])
def test_a_length_has_a_kink_at_the_origin_alone(point: dict[str, float]) -> None:
    report = kinks_of(job("hypot(x, y)", point), 0.0)
    assert bool(report.kinks) == (point["x"] == 0)
    for place in report.places:
        assert [(s.below, s.above) for s in place.sides] == [(-1, 1), (-1, 1)]


# what a program loses

CANCELLING = {
    "((x+1)-1)/x": lambda x: 0,
    "expm1(x)/x": lambda x: (mpmath.exp(x) * (x - 1) + 1) / x**2,
    "(exp(x)-1)/x": lambda x: (mpmath.exp(x) * (x - 1) + 1) / x**2,
    "log1p(x)/x": lambda x: (x / (1 + x) - mpmath.log1p(x)) / x**2,
    "(1-cos(x))/x**2": lambda x: (x * mpmath.sin(x) + 2 * mpmath.cos(x) - 2) / x**3,
    "sigmoid(x)": lambda x: mpmath.exp(-x) / (1 + mpmath.exp(-x)) ** 2,
    "tanh(x)": lambda x: 1 / mpmath.cosh(x) ** 2,
    "logsigmoid(x)": lambda x: 1 / (1 + mpmath.exp(x)),
}
"""Programs that lose digits, and their derivatives."""

SMALL = [10.0**-k for k in (1, 5, 8, 16, 40, 61, 150, 300)]
LARGE = [float(x) for x in (10, 30, 37, 80, 150, 500, 740, 800)]
POINTS = [
    (program, x)
    for program in CANCELLING
    for x in (LARGE if program.endswith(("sigmoid(x)", "tanh(x)")) else SMALL)
]


def true(program: str, x: float) -> Any:
    with mpmath.workdps(2000):
        return +mpmath.mpf(CANCELLING[program](mpmath.mpf(x)))


def has_digits(number: float, program: str, x: float) -> bool:
    """Whether a number is the derivative, to six digits or to the last float."""
    exact = true(program, x)
    return bool(abs(number - exact) <= max(1e-6 * abs(exact), 4 * 2.0**-1074, 1e-12 * (
        not exact)))  # fmt: skip


@pytest.mark.parametrize(("program", "x"), POINTS)
def test_what_loses_its_digits_is_told_as_it_is(program: str, x: float) -> None:
    given = job(program, {"x": x})
    (number,) = given.inputs[0].claim.values()  # type: ignore[union-attr]
    verification = checked(given)
    if verification.verdict in SHOWN:
        assert has_digits(number, program, x)
    elif "is nan" in notes(verification):
        assert verification.verdict == UNKNOWN
    else:
        assert verification.verdict == ROUNDED
        assert "the true value is" in notes(verification)

    # The derivative itself is shown where the program keeps its value.
    right = checked(claiming(given, "x", lambda g: float(true(program, x))))
    if "is nan" in notes(right):
        assert right.verdict == UNKNOWN
    elif "the output" in notes(right) or "underflow" in notes(right):
        assert right.verdict == ROUNDED
    else:
        assert right.verdict in SHOWN, notes(right)

    # A number that rounding cannot make is never shown.
    wrong = claiming(given, "x", lambda g: 1.01 * float(true(program, x)) + 1e-3)
    assert checked(wrong).verdict in (REFUTED, ROUNDED, UNKNOWN)


@pytest.mark.parametrize("digits", [1e-61, 1e-70, 1e-200])
def test_a_second_derivative_needs_its_digits_too(digits: float) -> None:
    verification = checked(rows_job("expm1(x)/x", {"x": digits}, "hessian"))
    assert verification.verdict == ROUNDED


def test_a_wrong_output_is_refuted_beside_rounding() -> None:
    given = job("x.sum()", {"x": [0.1, 0.2, -0.3]})
    wrong = replace(given, output=NumberBlock.of((), [1e-9]))
    assert checked(wrong).verdict == REFUTED


# a rule does not excuse itself


@pytest.mark.parametrize("excuse", excuses(("sin", "exp", "mul")), ids=str)
def test_no_rule_excuses_itself(excuse: Excuse) -> None:
    for program in excuse.programs():
        with planted(excuse):
            verification = checked(program.job())
        assert verification.verdict in (REFUTED, UNKNOWN), notes(verification)
        if str(excuse) == "sin[0]: + and - 1e12":
            assert "exactly, the engine's rules give" in notes(verification)
    assert excuse.programs()


def test_a_wrong_rule_is_refuted_on_a_tape_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "MAX_ENTRIES_ON_TERMS", 0)
    with planted(Excuse("sin", 0, "+ and - 1e12")):
        given = job("sin(x).sum()", {"x": np.linspace(0.1, 1.0, 50)})
        assert checked(given).verdict == REFUTED


# what the bits that a program takes are found for


def test_four_thousand_steps_that_contract_are_certified() -> None:
    given = job("for i in range(4000): y = r*y*(1-y)\ny", {"r": 3.2, "y": 0.4})
    verification = checked(given)
    found = {v.name: v.verdict for v in verification.inputs}
    # By y the derivative is less than any float.
    assert found["r"] == "certified", notes(verification)
    assert found["y"] in ("certified", ROUNDED)
    fewer = job("for i in range(1000): y = r*y*(1-y)\ny", {"r": 3.2, "y": 0.4})
    wrong = claiming(fewer, "r", lambda g: g * (1 + 1e-9))
    assert {v.name: v.verdict for v in checked(wrong).inputs}["r"] == REFUTED


LARGE_PROGRAMS = {
    "mean((a*x - y)**2)": {"a": (), "x": (5_000,), "y": (5_000,)},
    "(softmax(x, 0)*c).sum()": {"x": (5_000,), "c": (5_000,)},
}


@pytest.mark.parametrize("program", LARGE_PROGRAMS)
def test_all_entries_of_a_large_program_are_held_against_a_pass_in_floats(
    program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify, "MAX_SAMPLED_STEPS", 2_000)
    normal = np.random.default_rng(5).normal
    values = {n: normal(size=s) for n, s in LARGE_PROGRAMS[program].items()}
    given = job(program, values)
    assert checked(given).verdict == "sampled", notes(checked(given))
    first = next(iter(values))
    wrong = claiming(given, first, lambda g: g * 1.001)
    assert checked(wrong).verdict == REFUTED


def test_a_rule_without_a_value_is_no_rounding() -> None:
    wrong = job("where(x > 0, sqrt(x), 0*x)", {"x": -1.0})
    assert [isnan(n) for n in wrong.inputs[0].claim.values()] == [True]
    found = checked(wrong)
    assert found.verdict == UNKNOWN
    assert "the engine gave nan, the true value is 0.0" in str(found.inputs[0].note)


ZERO_IN_TRUTH: list[tuple[str, Values]] = [
    ("x/(x*y)", {"x": 3.3, "y": 0.7}),
    ("x/(x*y)", {"x": 0.1, "y": 0.013}),
    ("x*sin(pi)", {"x": 2.0}),
    ("x*(0.1 + 0.2 - 0.3)", {"x": 2.0}),
]
"""Programs whose derivative by x is 0, and is not in floats."""


@pytest.mark.parametrize(("program", "values"), ZERO_IN_TRUTH)
def test_no_relative_error_is_shown_of_what_is_zero(
    program: str, values: Values
) -> None:
    given = job(program, values)
    asked, verdict = given.inputs[0], checked(given).inputs[0]
    assert asked.claim is not None
    (number,) = asked.claim.values()
    assert number != 0
    assert (verdict.max_error, verdict.max_ulps) == (None, None)
    said = (verdict.note or "").partition("an absolute error of at most ")[2]
    assert abs(number) <= float(said) <= 2 * abs(number)


def test_a_formula_has_its_value_at_the_point() -> None:
    values = {"x": -2.9, "y": 1.5}
    given = job("abs(x)**y", values)
    for asked, verdict in zip(given.inputs, checked(given).inputs, strict=True):
        assert asked.claim is not None
        (true,) = asked.claim.values()
        found = evaluate(verdict.closed_form or "", leaves(values, "float64"))[0]
        assert float(found.raw) == pytest.approx(true)


# rounding at a jump, zeros that are none in floats, and NaN


@pytest.mark.parametrize("row", ["acosh", "acos"])
def test_a_rule_that_makes_nan_of_numbers_is_refuted(row: str) -> None:
    (slip,) = [
        m for m in all_mutants() if m.row == row and str(m).endswith(" sub")
        and "left term missing" in str(m)
    ]  # fmt: skip
    for program in programs(row)[:1]:
        with planted(slip):
            verification = checked(program.job())
        assert verification.verdict == REFUTED, notes(verification)
        assert "the engine's rules give nan" in notes(verification)
