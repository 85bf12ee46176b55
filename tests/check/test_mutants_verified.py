"""A fault in an elementwise row is refuted by the check of `gradcli grad`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradcli.check.process.job import PROVED
from gradcli.engine.dtypes import default_dtype
from gradcli.ops import OPS
from tests.grouped import nightly
from tests.laws.draw import is_differentiated
from tests.laws.mutants import SIGN, SLICE, Mutant
from tests.processes import HANGS

from .jobs import checked
from .mutant_programs import Program, in_programs, programs, trial_of

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

SHARE = 120
"""One mutant of so many is tried in every run, and all are at night."""

ROOT = Path(__file__).resolve().parents[2]

ROWS = [
    op.name
    for op in OPS.values()
    if op.elementwise and op.node is not None and is_differentiated(op)
]


@pytest.fixture(autouse=True)
def double_precision() -> Iterator[None]:
    with default_dtype("float64"):
        yield


@pytest.mark.parametrize("share", [SHARE, *nightly([1])])
def test_every_mutant_of_an_elementwise_row_is_refuted_or_explained(share: int) -> None:
    trials = [trial_of(mutant) for mutant in in_programs()[::share]]
    assert [str(t.mutant) for t in trials if not t.explained] == []


def test_every_elementwise_row_has_a_program() -> None:
    assert [row for row in ROWS if not programs(row)] == []


PLANT = """
import json, os
from tests.laws.mutants import Mutant, planted
told = json.loads(os.environ["MUTANT"])
planting = planted(Mutant(**{**told, "pair": tuple(told["pair"])}))
planting.__enter__()
"""
"""Every Python process that is started here runs this first: both that of the command
and the checking process that it starts."""


@pytest.fixture
def faulty(tmp_path: Path) -> Any:
    """Runs `gradcli grad` on a program, with a fault in the table."""
    (tmp_path / "sitecustomize.py").write_text(PLANT)
    path = os.pathsep.join([str(tmp_path), str(ROOT)])

    def run(mutant: Mutant, program: Program) -> subprocess.CompletedProcess[str]:
        bindings = [f"{n}={np.asarray(v).tolist()}" for n, v in program.values.items()]
        fault = json.dumps(asdict(mutant))
        return subprocess.run(
            [sys.executable, "-m", "gradcli", "grad", program.text, *bindings,
             "--grad-output", str(program.weights.tolist()), "--json",
             "--verify-seconds", str(HANGS)],
            env={**os.environ, "PYTHONPATH": path, "MUTANT": fault},
            cwd=tmp_path, capture_output=True, text=True, timeout=HANGS,
        )  # fmt: skip

    return run


IN_A_PROCESS = [
    Mutant("tanh", "partials", 0, SIGN),
    Mutant("mul", "vjp", 1, SLICE),
]


@pytest.mark.parametrize("mutant", IN_A_PROCESS, ids=str)
def test_grad_command_refutes_a_fault_in_the_table(mutant: Mutant, faulty: Any) -> None:
    program = trial_of(mutant).program
    ended = faulty(mutant, program)
    assert ended.returncode == 1
    assert json.loads(ended.stdout)["verification"]["verdict"] == "refuted"
    assert "refuted: x" in ended.stderr


def test_the_same_programs_without_a_fault_are_proved() -> None:
    for mutant in IN_A_PROCESS:
        for program in programs(mutant.row):
            assert checked(program.job()).verdict == PROVED
