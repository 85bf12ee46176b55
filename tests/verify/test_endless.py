"""No program holds back its answer or its verdict, whatever it makes SymPy do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

SURE = "certified", "proved", "sampled", "rounded"

A_SHARE = 10.0
"""Seconds in which a share is looked at many times over, and never all entries."""

LIMIT = 3
"""For starting a process on a machine that is busy; these programs take minutes."""

HANGS = 600.0
"""Seconds after which a process is taken to hang; no result depends on it."""

SHOWN = {
    "the sine of more than there are digits for":
        (["sin(exp(exp(exp(x))))", "x=3.5"], "unknown"),
    "a tower of swelling squares": (
        ["y = x\nfor i in range(11): y = y*y*sin(y) + x", "x=0.4"], "certified"),
    "high powers of nested sums": (
        ["y = x\nfor i in range(8): y = (y + a)**7/(y*a + 2)**6 + y", "x=0.1", "a=0.2"],
        "certified"),
    "a trigonometric tower": (
        ["y = x\nfor i in range(40): y = sin(cos(tan(y)))*y + cos(y)", "x=0.3"],
        "certified"),
    "a tower of gamma functions": (
        ["y = x\nfor i in range(9): y = log(digamma(y + 2)**2 + 1) + lgamma(y*y + 1)",
         "x=0.3"], "certified"),
    "a large determinant": (["det(A @ A + A)", "A=randn(12,12)"], "certified"),
    "a large inverse": (["inverse(A @ A).sum()", "A=randn(7,7)"], "certified"),
    "powers of powers": (
        ["y = x\nfor i in range(9): y = y**x + x**y", "x=0.7"], "certified"),
    "absolute values in each other": (
        ["y = x\nfor i in range(15): y = abs(y - 0.3)*abs(y + x) - abs(x)", "x=1.3"],
        "certified"),
    "a whole power with a billion digits": (
        ["(ones(1)*3)**(ones(1)*1e9)*0*x + x", "x=1.1"], None),
    "constants that double their digits": (
        ["k = ones(1)*0.3\nfor i in range(1000): k = 3.2*k*(1 - k)\n(x*k).sum()",
         "x=1.3"], "certified"),
    "layers": (["tanh(A @ tanh(A @ tanh(A @ x))).sum()", "A=randn(9,9)", "x=randn(9)"],
               "certified"),
}  # fmt: skip
"""Programs, and what is at least shown of them: there are numbers for all but one."""

HOPELESS = {
    "a very large determinant": ["det(A*x)", "x=1.1", "A=randn(110,110)", "--wrt", "x"],
}  # fmt: skip
"""Programs of which one number takes longer than there is time."""

REFUSED = {
    "9**9**9": ["x*9**9**9", "x=1.1"],
    "a factorial by hand": [
        "n = 1\nfor i in range(1, 9999): n = n*i\nx*n", "x=1.1"],
}  # fmt: skip


def ran(*arguments: str, seconds: float = LIMIT) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "gradcli", "grad", *arguments,
               "--verify-seconds", str(seconds)]  # fmt: skip
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=HANGS,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def verdict_of(out: str) -> Any:
    return out.splitlines()[-1].split(":")[0]


@pytest.mark.parametrize("name", SHOWN)
def test_at_the_limit_there_is_what_was_shown_by_then(name: str) -> None:
    arguments, expected = SHOWN[name]
    status, out, errors = ran(*arguments)
    assert status == 0, errors
    lines = out.splitlines()
    values = next(i for i, line in enumerate(lines) if line.startswith("d"))
    assert values < len(lines) - 1
    if expected is not None:
        assert verdict_of(out) in (
            expected,
            "certified",
            "proved",
            "sampled",
            "rounded",
        )


@pytest.mark.parametrize("name", HOPELESS)
def test_what_takes_too_long_is_unknown_for_its_time_and_has_its_values(
    name: str,
) -> None:
    status, out, errors = ran(*HOPELESS[name])
    assert status == 0, errors
    assert verdict_of(out) == "unknown"
    assert "time-out after 3 s" in out


@pytest.mark.parametrize("name", REFUSED)
def test_numbers_without_end_are_refused_before_anything_is_checked(name: str) -> None:
    status, out, errors = ran(*REFUSED[name])
    assert status == 4
    assert out == ""
    assert "E402" in errors


def test_share_of_a_large_tensor_is_told_in_text_and_in_json() -> None:
    arguments = ["(x**2).sum()", "x=randn(550,550)"]
    status, out, errors = ran(*arguments, seconds=A_SHARE)
    assert status == 0, errors
    assert verdict_of(out) == "sampled"
    assert "of 302500 entries, drawn with seed 0" in out
    status, out, errors = ran(*arguments, "--json", "--seed", "5", seconds=A_SHARE)
    assert status == 0, errors
    told = json.loads(out)
    verification, (given,) = told["verification"], told["inputs"]
    assert verification["verdict"] == given["verdict"] == "sampled"
    assert 4 <= verification["checked"] < verification["of"] == 302_500
    assert f"{verification['checked']} of 302500 entries" in given["note"]
    assert "seed 5" in given["note"]
