"""Random programs beside PyTorch: values, graphs, gradients, refusals.

A difference that no departure explains fails, and is shown with its program.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")

from gradcli.engine import jacobian as blocks
from tests.grouped import nightly
from tests.laws.mutants import TWICE, Mutant, planted
from tests.random import compare
from tests.random.compare import Difference, difference, near
from tests.random.departures import departure
from tests.random.outcome import Outcome, outcome
from tests.random.program import Line, Program
from tests.random.theirs import THEIRS
from tests.random.trial import drawn, report, trial

pytestmark = pytest.mark.peers

PART = 50
FIRST_OF_MAIN, FIRST_OF_NIGHTLY = range(0, 250, PART), range(250, 5_000, PART)


@pytest.mark.parametrize("first", [*FIRST_OF_MAIN, *nightly(FIRST_OF_NIGHTLY)])
def test_programs_do_what_pytorch_does(first: int) -> None:
    found, seconds = trial(first, PART, 1)
    wrong = [each for each in found if each.reason is None]
    assert not wrong, report(wrong, PART, seconds, PART)


PROGRAM = Program(
    (Line("v0 = sin(x)*x", "v0"), Line("(v0*v0).sum()")), {"x": [0.3, 1.7]}, "float64"
)


VECTOR = replace(PROGRAM, statements=(Line("v0 = sin(x)*x", "v0"), Line("v0 @ A")),
                 inputs={"x": [0.3, 1.7], "A": [[1.0, 2.0], [-1.0, 0.5]]})  # fmt: skip


def beside(
    monkeypatch: pytest.MonkeyPatch, program: Program = PROGRAM, **other: Any
) -> Difference | None:
    """What differs, where PyTorch is made to have given something else."""

    def spoiled(side: Any, program: Program, orders: int = 2) -> Outcome:
        found = outcome(side, program, orders)
        if side is THEIRS:
            for name, change in other.items():
                setattr(found, name, change(getattr(found, name)))
        return found

    monkeypatch.setattr(compare, "outcome", spoiled)
    return difference(program)


def test_a_program_that_is_the_same_has_no_difference() -> None:
    assert difference(PROGRAM) is None


@pytest.mark.parametrize(
    ("field", "what"), [("gradients", "gradient"), ("seconds", "second derivative")]
)
def test_an_error_of_a_part_in_a_thousand_million_is_seen(
    monkeypatch: pytest.MonkeyPatch, field: str, what: str
) -> None:
    found = beside(monkeypatch, **{field: lambda gs: [g * (1 + 1e-9) for g in gs]})
    assert found is not None
    assert found.what == what
    assert found.relative == pytest.approx(1e-9, rel=1e-3)


def test_an_error_of_a_jacobian_alone_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert difference(VECTOR) is None
    found = beside(
        monkeypatch, VECTOR, jacobians=lambda blocks: [b * (1 + 1e-9) for b in blocks]
    )
    assert found is not None
    assert found.what == "Jacobian"


@pytest.mark.parametrize("sparse", [True, False])
def test_a_fault_of_sparse_or_of_dense_batches_alone_is_seen(
    monkeypatch: pytest.MonkeyPatch, sparse: bool
) -> None:
    made = blocks._seed

    def off(value: Any, rows: range, plain: bool) -> Any:
        found = made(value, rows, plain)
        return found * (1 + 1e-9) if found.sparse == sparse else found

    monkeypatch.setattr(blocks, "_seed", off)
    found = difference(VECTOR)
    assert found is not None
    assert found.what == "Jacobian"


def test_another_value_graph_type_and_shape_are_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changes: dict[str, Any] = {
        "value": lambda v: v + 1e-9,
        "graph": lambda lines: lines[:-1],
        "dtype": lambda _: "float32",
        "shape": lambda v: v[None],
    }
    for what, change in changes.items():
        name = "value" if what == "shape" else what
        found = beside(monkeypatch, **{name: change})
        assert found is not None
        assert found.what == what


def test_a_refusal_on_one_side_is_seen() -> None:
    alone = Program((Line("sin(2)"),), {}, "float64")
    found = difference(alone)
    assert found is not None
    assert found.what == "PyTorch alone refuses the value"
    other = replace(alone, statements=(Line("~zeros(2)"),))
    assert difference(other) is None


def test_nan_equals_nan_and_infinities_have_a_sign() -> None:
    a = np.array([np.nan, np.inf, np.inf, 1.0, 0.0])
    b = np.array([np.nan, np.inf, -np.inf, 1.0 + 1e-15, -0.0])
    assert near(a, b).tolist() == [True, True, False, True, True]


FAULTS = {
    "tan": Mutant("tan", "partials", 0, TWICE),
    "log_softmax": Mutant("log_softmax", "vjp", 0, TWICE),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_one_row_is_found_among_random_programs(name: str) -> None:
    for seed in range(400_000, 403_000):
        program = drawn(seed)
        if re.search(rf"\b{name}\b", program.text) is None:
            continue
        with planted(FAULTS[name]):
            found = difference(program)
        if found is not None and departure(program, found) is None:
            assert difference(program) is None
            return
    pytest.fail("nothing is found")
