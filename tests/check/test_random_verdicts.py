"""No right gradient of a random program of the whole table is refuted.

Invariant: a gradient is right here if the engine gave it, with the table as it stands.
What can refute a right gradient are its numbers, so SymPy's proofs are left out.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from gradcli.check.process.job import CERTIFIED, PROVED, REFUTED, SAMPLED
from gradcli.engine.errors import GradError
from gradcli.lang.errors import ProgramError
from gradcli.ops.checks import KindError
from tests.grouped import nightly
from tests.random.generate import random_program
from tests.random.program import Program

from .jobs import checked, job, no_proofs

SHOWN = (PROVED, CERTIFIED, SAMPLED)

PART = 60
"""Programs of one test."""

KINDS = {"tame": 0.6, "wild": 0.4}
"""Kinds of programs, and the share of their gradients that is shown to be right; in
``wild`` ones values are infinite, huge and tiny as well."""

WITHOUT_DERIVATIVE = {
    "as_type_of": "it makes numbers of masks and indices, which carry no derivative",
    "ctc_loss": "its slope is that after log_softmax, as it is in PyTorch",
    "as_strided": "it reads memory beside its operand, whose derivative is lost, as it "
                  "is in PyTorch",
}  # fmt: skip
"""Functions of right values whose gradients are not those of the program."""


def has_derivative(name: str, method: bool) -> bool:
    return name not in WITHOUT_DERIVATIVE


def values(program: Program) -> dict[str, Any]:
    return {
        name: np.reshape([float(v) for v in np.ravel(np.array(given, object))],
                         np.shape(given))
        for name, given in program.inputs.items()
    }  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", [0, *nightly(range(PART, 2_400, PART))])
def test_no_right_gradient_of_a_random_program_is_refuted(
    kind: str, first: int
) -> None:
    verdicts: Counter[str] = Counter()
    refuted = []
    for seed in range(first, first + PART):
        program = random_program(seed, wild=kind == "wild", has=has_derivative)
        with np.errstate(all="ignore"), no_proofs():
            try:
                given = job(program.text, values(program), dtype=program.dtype)
            except (ProgramError, KindError, GradError):
                # Nothing is differentiated.
                continue
            verification = checked(given)
        verdicts[verification.verdict] += 1
        if verification.verdict == REFUTED:
            refuted.append((seed, program.command, verification.inputs))
    assert refuted == []
    assert sum(verdicts[shown] for shown in SHOWN) >= KINDS[kind] * verdicts.total() > 0
