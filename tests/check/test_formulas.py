"""Every entry as a formula: it reads back as a program with the engine's numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradcli.check import whole
from gradcli.check.process.budget import OutOfTime
from gradcli.check.process.job import InputVerdict, Job, Verification
from gradcli.lang.run import evaluate

from .jobs import checked, job, leaves, rows_job

POINT: dict[str, Any] = {"x": [0.7, 1.9], "y": 0.4, "A": [[1.1, 0.3], [0.2, 0.8]]}

PROGRAMS = {
    "gradient": [
        "sum(softmax(x, dim=0)**2)",
        "sum(tanh(x)) * y",
        "(x[0]*x[1])**1.5 / y",
        "logsumexp(2*x, dim=0)",
        "sum(sigmoid(A) * 0.1) / 3",
        "with no_grad(): k = x*x\nsum(k*x)",
        "lgamma(y) + erf(x[0])",
        "det(A) * y",
    ],
    "jacobian": ["A @ x", "sin(x) * y", "softmax(x, dim=0)", "stack([y*y, x[0]])"],
    "hessian": ["x[0]**2 * y * x[1]", "exp(y)*sin(x[1])*A[0,1]", "logsumexp(x, dim=0)"],
}

CASES = [(kind, source) for kind, sources in PROGRAMS.items() for source in sources]


def asked(kind: str, source: str) -> Job:
    values = {n: v for n, v in POINT.items() if n in source}
    given = (
        job(source, values) if kind == "gradient" else rows_job(source, values, kind)
    )
    return replace(given, formulas=True)


def value_of(formula: str, source: str) -> float:
    values = {n: v for n, v in POINT.items() if n in source}
    return float(evaluate(formula, leaves(values, "float64"))[0].item())


@pytest.mark.parametrize(("kind", "source"), CASES)
def test_every_formula_reads_back_as_a_program_with_the_engines_number(
    kind: str, source: str
) -> None:
    given = asked(kind, source)
    verification = checked(given)
    assert verification.verdict == "proved"
    for verdict, told in zip(verification.inputs, given.inputs, strict=True):
        assert told.claim is not None
        assert verdict.missing is None
        numbers = [value_of(str(text), source) for text in verdict.formulas]
        np.testing.assert_allclose(numbers, told.claim.values(), rtol=1e-9, atol=1e-12)


def test_formulas_survive_the_way_between_processes() -> None:
    verdicts = [InputVerdict("x", "proved", formulas=("2*x", None), missing="why")]
    told = Verification.about(verdicts, 0.5)
    assert Verification.from_json(told.to_json()) == told
    given = asked("jacobian", "A @ x")
    assert Job.from_json(given.to_json()) == given


def test_running_out_of_time_is_said_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(self: whole.SymbolicCheck, *anything: object) -> None:
        raise OutOfTime

    monkeypatch.setattr(whole.SymbolicCheck, "_derive", slow)
    (verdict,) = checked(asked("gradient", "sum(tanh(x))")).inputs
    assert verdict.formulas == (None, None)
    assert verdict.missing is not None
    assert verdict.missing.startswith("SymPy ran out of time")
    assert verdict.missing.endswith("0 of 2 formulas were found")


def test_rewriting_that_takes_too_long_leaves_the_formula_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def slow(expression: object) -> None:
        raise OutOfTime

    for rewrite in ("factor", "expand", "simplify"):
        monkeypatch.setattr(f"gradcli.check.formulas.sympy.{rewrite}", slow)
    (verdict,) = checked(asked("gradient", "sum(x*x)")).inputs
    assert verdict.formulas == ("2*x[0]", "2*x[1]")


def test_more_entries_than_are_written_out_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(whole, "MAX_FORMULAS", 3)
    given = replace(rows_job("x*x", {"x": [1.0, 2.0]}, "jacobian"), formulas=True)
    (verdict,) = checked(given).inputs
    assert len([f for f in verdict.formulas if f is not None]) == 3
    assert "3 of 4 entries" in (verdict.missing or "")
