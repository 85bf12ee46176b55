"""Every row against SymPy.

A row's forward formula is run on symbols and SymPy differentiates what comes out; the
row's own reverse rule, run on the same symbols, must be the same function: that is
proved. Where a rule is written with a series no proof is possible, and the
certified number must do: those rows are listed.
"""

from __future__ import annotations

from functools import partial
from math import inf
from typing import Any

import numpy as np
import pytest

from gradcli.check import whole
from gradcli.check.process.budget import Budget
from gradcli.check.process.job import (
    CERTIFIED,
    PROVED,
    ROUNDED,
    Job,
    JobInput,
    NumberBlock,
)
from gradcli.check.verify import Check
from gradcli.engine import NUMPY, Tensor
from gradcli.ops import OPS, Op
from tests.grouped import by_row

from .draw import Spot, draw, generator, spots
from .measure import flat_output, flattened

ONLY_NUMBERS = {
    **dict.fromkeys(
        ("sinc", "i1", "i1e", "modified_bessel_i1", "bessel_j1", "spherical_bessel_j0",
         "Shi", "polylog.order"),
        "its rule is a Taylor polynomial near 0",
    ),
    "linalg_svd.default": "roots of roots, and a formula up to two singular values",
    "linalg_eigh.default": "roots of roots, and a formula up to two eigenvalues",
    "linalg_qr.default": "roots of roots, of reflections one after the other",
    "linalg_pinv.atol_rtol_tensor": "it is made of singular values",
    "linalg_lstsq.default": "it is made of a pseudoinverse",
    "matrix_exp": "a formula up to two eigenvalues",
}  # fmt: skip
"""Rows whose partials are certified at a point in some case, and why."""

DRAWN = 3
"""Entries per input that are given to SymPy: all entries obey one formula."""

NO_FORMULAS = 0
"""Entries up to which formulas are looked for; a proof needs none."""

SHARE = 6
"""One row of so many is proved in every run: the balls of `digits` know all."""

CASES = [(OPS[name], number) for name, number in spots()]


def job_of(spot: Spot) -> Job:
    """The row at this point as a job: what NumPy's engine says of it."""
    leaves, y = spot.run()
    out = flattened(y)
    rng = generator(spot.op.name, "cotangent")
    cotangent = np.round(rng.uniform(0.5, 1.5, out.shape), 1)
    out.backward(Tensor(cotangent, NUMPY))
    inputs = []
    for position, leaf in zip(spot.free, leaves, strict=True):
        grad = np.zeros(leaf.shape) if leaf.grad is None else leaf.grad.raw
        inputs.append(JobInput(f"x{position}", block(leaf.raw), block(grad)))
    return Job(
        spot.op.name, tuple(inputs), block(out.raw),
        cotangent=block(cotangent), seconds=inf,
    )  # fmt: skip


def block(array: Any) -> NumberBlock:
    return NumberBlock.of(np.shape(array), np.ravel(array))


def check_of(spot: Spot) -> Check:
    evaluate = partial(flat_output, spot)
    job = job_of(spot)
    return Check(job, evaluate, lambda told: None, Budget(job.seconds), tape=False)


@by_row("op, number", CASES, lambda case: f"{case[0].name}-{case[1]}", share=SHARE)
def test_reverse_rule_is_sympys_derivative(
    op: Op, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole, "MAX_PROVED_ENTRIES", DRAWN)
    monkeypatch.setattr(whole, "MAX_SHOWN_FORMULAS", NO_FORMULAS)
    spot = draw(op, number)
    assert spot.free, "the case draws no input that carries a gradient"
    check = check_of(spot)
    check.numbers()
    verification = check.proved()
    notes = [v.note for v in verification.inputs]
    # Of a number that underflows the rule is proved, and the number is not shown.
    proved = (PROVED, ROUNDED)
    wanted = (*proved, CERTIFIED) if op.name in ONLY_NUMBERS else proved
    for report in check.reports.values():
        assert report.verdict().verdict not in ("refuted", "unknown"), notes
        shown = [e.verdict for e in report.entries if e.verdict in wanted]
        assert len(shown) >= min(DRAWN, len(report.entries)), notes
