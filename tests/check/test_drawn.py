"""Large programs are checked as far as time allows, and the share is said."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
import pytest

from gradcli.check import graph
from gradcli.check import verify as verifying
from gradcli.check.graph import Evaluation
from gradcli.check.process import budget
from gradcli.check.process.job import Verification
from gradcli.check.tape import Tape

from .jobs import by_name, checked, claiming, job, rows_job

NORMAL = np.random.default_rng(3).normal

PROGRAMS: dict[str, tuple[str, dict[str, Any]]] = {
    "loop": ("y = x\nfor i in range(6): y = r*y*(1 - y)", {"x": 0.3, "r": 3.2}),
    "inverse": ("sum(inverse(A))", {"A": NORMAL(size=(5, 5))}),
    "det": ("det(A)", {"A": NORMAL(size=(5, 5))}),
    "cholesky": ("cholesky(A @ A.T + eye(4)).sum()", {"A": NORMAL(size=(4, 4))}),
    "softmax": ("(softmax(x, 0)*c).sum()", {"x": NORMAL(size=20),
                                             "c": NORMAL(size=20)}),
    "sort": ("(sort(x)[0]*c).sum()", {"x": NORMAL(size=9), "c": NORMAL(size=9)}),
    "cumprod": ("(cumprod(x, 0)*c).sum()", {"x": NORMAL(size=9),
                                             "c": NORMAL(size=9)}),
    "indices": ("(x[1:]*x[:-1]).sum() + x[[0, 0, 2]].sum()", {"x": NORMAL(size=9)}),
    "einsum": ("einsum('ij,kj->ik', A, B).sum()", {"A": NORMAL(size=(3, 4)),
                                                   "B": NORMAL(size=(2, 4))}),
    "batches": ("(A @ B).sum()", {"A": NORMAL(size=(2, 3, 4)),
                                  "B": NORMAL(size=(2, 4, 2))}),
    "layer": ("tanh(A @ x).sum()", {"A": NORMAL(size=(3, 4)), "x": NORMAL(size=4)}),
    "no_grad": ("with no_grad(): k = x*x\ny = (k*x + x.detach()*x).sum()",
                {"x": NORMAL(size=3)}),
    "branch": ("y = x.sum()\nif y > 0: y = y**2\nelse: y = exp(y)",
               {"x": NORMAL(size=3)}),
    "powers": ("sum(x**3 + abs(x)**y + 2**x)", {"x": NORMAL(size=3),
                                                "y": NORMAL(size=3)}),
    "clamp": ("sum(clamp(x, -0.5, 0.5)*x)", {"x": NORMAL(size=6)}),
    "classes": ("cross_entropy(A, [1, 0, 2])", {"A": NORMAL(size=(3, 4))}),
    "seeded": ("(x*randn(5)).sum()", {"x": NORMAL(size=5)}),
    "tie": ("logsumexp(x, dim=0)", {"x": [1.0, 1.0]}),
    "normalised": ("(layer_norm(x, [5])*c).sum()", {"x": NORMAL(size=(2, 5)),
                                                    "c": NORMAL(size=(2, 5))}),
}  # fmt: skip

TURNINGS: dict[str, Any] = {
    "amax(x, dim=0)": [1.0, 1.0, 0.0],
    "amax(x)": [1.0, 1.0, 1.0, 0.0],
    "median(x)": [1.0, 1.0, 1.0],
    "norm(x, inf)": [1.0, -1.0, 1.0],
    "sum(relu(x))": [0.0, 1.0, -1.0],
    "sum(abs(x))": [0.0, 1.0, -1.0],
    "sum(sqrt(x))": [0.0, 1.0, 2.0],
    "sum(floor(x)*x)": [1.5, 2.0],
    "sum(maximum(x, x*x))": [1.0, 3.0],
}


@pytest.fixture
def taped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every program counts as large."""
    monkeypatch.setattr(verifying, "MAX_ENTRIES_ON_TERMS", 0)


@pytest.mark.usefixtures("taped")
@pytest.mark.parametrize("name", PROGRAMS)
def test_right_gradient_is_shown_node_by_node_and_a_wrong_one_refuted(
    name: str,
) -> None:
    source, values = PROGRAMS[name]
    given = job(source, values)
    found = checked(given)
    assert {v.verdict for v in found.inputs} == {"certified"}
    assert all(v.checked == v.of for v in found.inputs)
    first = next(iter(values))
    wrong = checked(claiming(given, first, lambda g: g * 1.001 + 1e-3))
    verdict = by_name(wrong)[first]
    assert verdict.verdict == "refuted"
    assert "the engine gave" in (verdict.note or "")


@pytest.mark.parametrize("source", TURNINGS)
def test_turnings_are_the_same_entries_as_on_terms(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = job(source, {"x": TURNINGS[source]})
    (expected,) = checked(given).inputs
    monkeypatch.setattr(verifying, "MAX_ENTRIES_ON_TERMS", 0)
    (found,) = checked(given).inputs
    assert (found.verdict, found.checked) == (expected.verdict, expected.checked)
    assert found.verdict == "unknown"
    assert (found.note or "").split(";")[0] == (expected.note or "").split(" (")[0]


@pytest.mark.usefixtures("taped")
def test_no_value_no_verdict() -> None:
    (verdict,) = checked(job("(0/x).sum()", {"x": [0.0, 1.0]})).inputs
    assert (verdict.verdict, verdict.checked) == ("unknown", 0)
    assert "nan" in (verdict.note or "")


@pytest.mark.usefixtures("taped")
def test_wrong_output_is_refuted() -> None:
    given = job("sum(x**2)", {"x": [3.0, 1.0]})
    other = job("sum(x**2) + 1", {"x": [3.0, 1.0]})
    assert checked(replace(given, output=other.output)).verdict == "refuted"


@pytest.mark.usefixtures("taped")
def test_jacobians_are_shown_row_by_row_and_faults_refuted() -> None:
    values = {"x": NORMAL(size=3), "y": NORMAL(size=3), "A": NORMAL(size=(3, 2))}
    given = rows_job("sin(x)*y @ A", values, "jacobian")
    found = checked(given)
    assert (found.verdict, found.checked, found.of) == ("certified", 24, 24)
    wrong = checked(claiming(given, "y", lambda v: v * 1.001))
    assert by_name(wrong)["y"].verdict == "refuted"
    assert (by_name(wrong)["y"].note or "").startswith("row ")


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> float:
    """A clock that goes on by a second whenever it is looked at, and the seconds in
    which some rounds are drawn by it, but not the last."""
    ticks = count()

    def read(clock: object) -> tuple[float, float]:
        now = float(next(ticks))
        return now, now

    monkeypatch.setattr(budget._Clock, "read", read)
    return 200.0


def test_of_very_many_entries_a_share_is_shown_and_said(ticking: float) -> None:
    values = {"x": NORMAL(size=(400, 400))}
    (verdict,) = checked(job("(x**2).sum()", values, seconds=ticking)).inputs
    assert verdict.verdict == "sampled"
    assert 32 <= verdict.checked < verdict.of == 160_000
    share = f"{verdict.checked} of 160000 entries, drawn with seed 0"
    assert share in (verdict.note or "")


def test_one_wrong_entry_that_was_not_drawn_is_refuted_by_the_pass_in_floats(
    ticking: float,
) -> None:
    given = job("(x**2).sum()", {"x": np.full(40_000, 2.0)}, seconds=ticking)
    numbers = iter(range(40_000))
    one = claiming(given, "x", lambda g: -g if next(numbers) == 27_777 else g)
    (verdict,) = checked(one).inputs
    assert verdict.verdict == "refuted"
    assert "x[27777]" in (verdict.note or "")


def test_draw_depends_on_the_seed_alone(ticking: float) -> None:
    numbers = np.arange(40_000) % 2
    given = job("(x**2).sum()", {"x": np.full(40_000, 2.0)}, seconds=ticking)
    places = iter(numbers)
    half = claiming(given, "x", lambda g: g + 1 if next(places) else g)
    notes = [
        (checked(replace(half, seed=seed)).inputs[0].note or "").split(":")[0]
        for seed in (1, 1, 2)
    ]
    assert notes[0] == notes[1] != notes[2]


def test_large_sums_of_few_steps_are_shown_whole() -> None:
    (verdict,) = checked(job("sum(x)", {"x": np.ones(10_000)})).inputs
    assert (verdict.verdict, verdict.checked) == ("certified", 10_000)
    assert "too many entries" in (verdict.note or "")


def test_time_out_before_the_first_round_is_unknown_with_the_reason() -> None:
    given = job("softmax(x, 0)[0]", {"x": np.zeros(30_000)}, seconds=0.1)
    (verdict,) = checked(given).inputs
    assert (verdict.verdict, verdict.checked) == ("unknown", 0)
    assert "time-out" in (verdict.note or "")


@pytest.mark.usefixtures("taped")
def test_memory_that_runs_out_is_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(self: Tape, rows: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(Tape, "totals", none)
    found: Verification = checked(job("sum(x)", {"x": [1.0, 2.0]}))
    assert found.verdict == "unknown"
    assert "memory" in (found.inputs[0].note or "")


def test_of_many_rows_only_those_drawn_are_computed_as_balls(
    ticking: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = 200_000
    values = {"a": 0.5, "x": NORMAL(size=rows), "y": NORMAL(size=rows)}
    given = job("mean((a*x - y)**2)", values, seconds=ticking)
    made = count()

    def counted(compute: Any) -> Any:
        return lambda *args: (next(made), compute(*args))[1]

    monkeypatch.setattr(Evaluation, "_applied", counted(Evaluation._applied))
    monkeypatch.setattr(graph, "leaf_ball", counted(graph.leaf_ball))
    verification = checked(given)
    assert verification.verdict == "sampled"
    assert next(made) < rows // 2
