"""No program holds back its answer or its verdict, whatever it makes SymPy do."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from tests.processes import HANGS, ROOT

from .jobs import checked, job, no_proofs

NORMAL = np.random.default_rng(3).normal

WITHOUT_PROOF: dict[str, tuple[str, dict[str, Any]]] = {
    "a tower of swelling squares": (
        "y = x\nfor i in range(11): y = y*y*sin(y) + x", {"x": 0.4}),
    "high powers of nested sums": (
        "y = x\nfor i in range(8): y = (y + a)**7/(y*a + 2)**6 + y",
        {"x": 0.1, "a": 0.2}),
    "a trigonometric tower": (
        "y = x\nfor i in range(40): y = sin(cos(tan(y)))*y + cos(y)", {"x": 0.3}),
    "a tower of gamma functions": (
        "y = x\nfor i in range(9): y = log(digamma(y + 2)**2 + 1) + lgamma(y*y + 1)",
        {"x": 0.3}),
    "a large determinant": ("det(A @ A + A)", {"A": NORMAL(size=(12, 12))}),
    "a large inverse": ("inverse(A @ A).sum()", {"A": NORMAL(size=(7, 7))}),
    "powers of powers": (
        "y = x\nfor i in range(9): y = y**x + x**y", {"x": 0.7}),
    "absolute values in each other": (
        "y = x\nfor i in range(15): y = abs(y - 0.3)*abs(y + x) - abs(x)", {"x": 1.3}),
    "constants that double their digits": (
        "k = ones(1)*0.3\nfor i in range(1000): k = 3.2*k*(1 - k)\n(x*k).sum()",
        {"x": 1.3}),
    "layers": ("tanh(A @ tanh(A @ tanh(A @ x))).sum()",
               {"A": NORMAL(size=(9, 9)), "x": NORMAL(size=9)}),
}  # fmt: skip
"""Programs that SymPy takes minutes for, or for ever."""


@pytest.mark.parametrize("name", WITHOUT_PROOF)
def test_numbers_wait_for_no_proof(name: str) -> None:
    with no_proofs():
        verification = checked(job(*WITHOUT_PROOF[name]))
    assert verification.verdict in ("certified", "rounded")


ENDLESS = {
    "numbers": ["det(A*x)", "x=1.1", "A=randn(110,110)", "--wrt", "x"],
    "digits": ["sin(exp(exp(exp(x))))", "x=3.5"],
    "proofs": ["y = x\nfor i in range(11): y = y*y*sin(y) + x", "x=0.4"],
    "powers": ["(ones(1)*3)**(ones(1)*1e9)*0*x + x", "x=1.1"],
}
"""Programs of which something takes longer than there is time, and what."""


@pytest.mark.parametrize("what", ENDLESS)
def test_at_the_limit_there_is_an_answer_and_what_was_shown_by_then(what: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gradcli", "grad", *ENDLESS[what],
         "--verify-seconds", "1"],
        capture_output=True, text=True, check=False, timeout=HANGS,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert any(line.startswith("d") for line in lines[:-1])
    verdict = lines[-1].split(":")[0]
    assert verdict in ("unknown", "certified", "sampled", "rounded")
    if what == "numbers":
        assert verdict == "unknown"
        assert "time-out after 1 s" in done.stdout
