"""A verdict says what was shown, and never more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gradcli.check.process.budget import OutOfTime
from gradcli.check.process.job import Verification
from gradcli.check.subject import Subject, program_of
from gradcli.check.verify import Check, verify

from .jobs import (
    NEURON_VALUES,
    NEURONS,
    by_name,
    checked,
    claiming,
    job,
    no_proofs,
    rows_job,
)  # fmt: skip

RNG = np.random.default_rng(7)

PROVABLE = {
    "five neurons": (NEURONS, NEURON_VALUES),
    "cubic": ("x**3 + b", {"x": 2.0, "b": 1.0}),
    "composed": ("sin(x**2) * tanh(y)", {"x": 0.3, "y": 1.2}),
    "tensors": ("sum(A @ A * B)", {"A": RNG.normal(size=(3, 3)),
                                   "B": RNG.normal(size=(3, 3))}),
    "softmax at a tie": ("sum(softmax(x, dim=0) * c)", {"x": [0.0, 0.0, 0.0],
                                                        "c": [1.0, 2.0, 3.0]}),
    "branch": ("y = x**2\nif x > 1: y = x**3", {"x": 2.0}),
    "loop": ("y = x\nfor i in range(4): y = y*x + c", {"x": 0.5, "c": 0.25}),
    "inverse": ("sum(inverse(A))", {"A": [[2.0, 1.0], [0.5, 3.0]]}),
}  # fmt: skip


@pytest.mark.parametrize("name", PROVABLE)
def test_right_gradient_is_proved(name: str) -> None:
    source, values = PROVABLE[name]
    assert checked(job(source, values)).verdict == "proved"


@pytest.mark.parametrize("name", PROVABLE)
def test_wrong_gradient_is_refuted_with_both_values(name: str) -> None:
    source, values = PROVABLE[name]
    first = next(iter(values))
    wrong = claiming(job(source, values), first, lambda g: g * (1.0 + 1e-8))
    verification = checked(wrong)
    verdict = by_name(verification)[first]
    assert verification.verdict == verdict.verdict == "refuted"
    assert verdict.note is not None
    assert "the engine gave" in verdict.note
    assert "the true value is" in verdict.note
    others = [v.verdict for v in verification.inputs if v.name != first]
    assert set(others) <= {"proved"}


def test_every_step_reported_is_at_least_as_strong_as_the_one_before() -> None:
    given = job(NEURONS, NEURON_VALUES)
    steps: list[Verification] = []
    last = verify(given, program_of(given), steps.append)
    strength = ["unknown", "certified", "proved"]
    ranks = [strength.index(step.verdict) for step in (*steps, last)]
    assert ranks == sorted(ranks)
    assert ranks[0] < ranks[-1] == strength.index("proved")
    assert [step.done for step in (*steps, last)] == [False] * len(steps) + [True]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_max_error_is_the_dtypes_rounding(dtype: str) -> None:
    values = {"x": RNG.normal(size=5).astype(dtype)}
    given = job("sum(exp(sin(x)) * x)", values, dtype=dtype)
    (verdict,) = checked(given).inputs
    assert verdict.verdict == "proved"
    assert verdict.max_error is not None
    assert verdict.max_error < 16 * np.finfo(dtype).eps
    (worse,) = checked(claiming(given, "x", lambda g: g + 1e-3)).inputs
    assert worse.verdict == "refuted"


def swell(steps: int) -> str:
    return f"y = x\nfor i in range({steps}): y = y*y*sin(y) + x"


@pytest.mark.parametrize(
    "source", [swell(12), "y = x\nfor i in range(300): y = sin(y) + x"],
    ids=["wide", "deep"],
)  # fmt: skip
def test_program_too_big_for_sympy_is_certified(source: str) -> None:
    given = job(source, {"x": 0.4})
    (verdict,) = checked(given).inputs
    assert verdict.verdict == "certified"
    assert verdict.note
    (wrong,) = checked(claiming(given, "x", lambda g: g * (1 + 1e-6))).inputs
    assert wrong.verdict == "refuted"


def test_without_time_nothing_is_shown_and_the_time_out_is_the_reason() -> None:
    values = {"A": RNG.normal(size=(14, 14)), "B": RNG.normal(size=(14, 14))}
    verification = checked(job("sum(tanh(A @ B) @ tanh(A))", values, seconds=0.0))
    assert verification.verdict == "unknown"
    assert all("time-out" in (v.note or "") for v in verification.inputs)


def test_program_without_a_meaning_on_symbols_is_unknown_with_the_reason() -> None:
    given = job("x**2", {"x": 3.0})
    verification = checked(replace(given, source="x**2 + missing"))
    (verdict,) = verification.inputs
    assert verdict.verdict == "unknown"
    assert verdict.note is not None
    assert "missing" in verdict.note


@pytest.mark.parametrize("kind", ["jacobian", "hessian"])
def test_second_order_and_jacobians_are_proved_and_their_faults_refuted(
    kind: str,
) -> None:
    sources = {"jacobian": "sin(x) * y", "hessian": "sum(sin(x) * y * x)"}
    given = rows_job(sources[kind], {"x": [1.0, 2.0], "y": [0.5, 3.0]}, kind)
    assert checked(given).verdict == "proved"
    wrong = claiming(given, "y", lambda v: v * 1.001)
    assert by_name(checked(wrong))["y"].verdict == "refuted"


def test_engines_rule_that_is_right_at_the_point_alone_is_not_proved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = Subject.engine_row

    def row(self: Subject, cotangent: list[float]) -> object:
        lift = self.terms.lift
        return {
            name: [lift(float(term.value)).serial for term in self.terms_of(steps)]
            for name, steps in real(self, cotangent).items()
        }

    monkeypatch.setattr(Subject, "engine_row", row)
    assert checked(job("x**2", {"x": 3.0})).verdict == "certified"


def test_sample_is_drawn_by_the_seed_and_said() -> None:
    given = job("sum(x**2)", {"x": RNG.normal(size=100)})
    (verdict,) = checked(given).inputs
    assert verdict.verdict == "certified"
    assert (verdict.checked, verdict.of) == (100, 100)
    assert "64 of 100" in (verdict.note or "")


@pytest.mark.parametrize("r", [2.5, 3.2])
@pytest.mark.parametrize("factor", [1 + 1e-10, -1.0])
def test_wrong_gradient_of_a_long_loop_is_refuted(r: float, factor: float) -> None:
    """The sum over the paths' magnitudes grows like r**200 here; rounding does not."""
    source = "for i in range(200): y = r*y*(1-y)\ny"
    right = job(source, {"r": r, "y": 0.3})
    wrong = claiming(right, "r", lambda g: g * factor)
    assert by_name(checked(right))["r"].verdict == "certified"
    assert by_name(checked(wrong))["r"].verdict == "refuted"


def test_a_chaotic_program_is_rounded_and_not_refuted() -> None:
    given = job("for i in range(200): y = r*y*(1 - y)\ny", {"r": 3.7, "y": 0.4})
    verification = checked(given)
    assert verification.verdict == "rounded"
    assert "the true value is -1.3446707214929286e+27" in (
        by_name(verification)["r"].note or "")  # fmt: skip


SYMMETRIC = [[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 5.0]]
MATRICES = {
    "product": "(A @ A @ A).sum()",
    "inverse": "inverse(A).sum()",
    "determinant": "det(A)",
    "logarithm of the determinant": "logdet(A)",
    "solution": "solve(A, A[:, :1]*2 + 1).sum()",
    "cholesky factor": "cholesky(A).sum()",
}


@pytest.mark.parametrize("name", MATRICES)
def test_matrix_operation_is_proved_at_small_shapes_and_computed_at_its_own(
    name: str,
) -> None:
    assert checked(job(MATRICES[name], {"A": SYMMETRIC})).verdict == "proved"
    root = RNG.normal(size=(6, 6))
    given = job(MATRICES[name], {"A": root @ root.T + 6 * np.eye(6)})
    with no_proofs():
        assert checked(given).verdict == "certified"
        wrong = claiming(given, "A", lambda g: g * 1.001 + 1e-3)
        assert checked(wrong).verdict == "refuted"


def test_numbers_of_all_that_take_too_long_leave_a_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = Check.numbers

    def endless(self: Check) -> None:
        raise OutOfTime

    monkeypatch.setattr(Check, "numbers", endless)
    given = job("sum(x**2)", {"x": RNG.normal(size=100)})
    (verdict,) = checked(given).inputs
    assert verdict.verdict == "certified"
    (single,) = checked(job("x**2", {"x": 3.0})).inputs
    assert single.verdict == "unknown"
    assert "time-out" in (single.note or "")
    assert real is not endless


BEYOND = {
    "log(exp(x))": 1000.0,
    "x**2/x": 1e200,
    "x*(1/(x*x))*x": 1e-200,
    "(x + 0.1)**500 * (x - 0.3)**500 / (x + 0.7)**999": 1.3,
}


@pytest.mark.parametrize("source", BEYOND)
def test_range_of_floats_that_explains_a_wrong_number_is_no_refutation(
    source: str,
) -> None:
    with np.errstate(all="ignore"):
        given = job(source, {"x": BEYOND[source]})
    with no_proofs():
        (verdict,) = checked(given).inputs
    lost = "is nan" in (verdict.note or "")
    assert verdict.verdict == ("unknown" if lost else "rounded")
    assert "the true value is" in (verdict.note or "")
