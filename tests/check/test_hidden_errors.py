"""Where numbers are lost, nothing wrong hides behind the loss.

In programs that lose their digits a wrong rule is still refuted, because on balls it
does not meet the true number; and a number farther off than any rounding carries it is
refuted, though the rules are right.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli.check.process.job import REFUTED, ROUNDED, UNKNOWN
from gradcli.engine import NUMPY, Tensor
from gradcli.engine.dtypes import default_dtype
from gradcli.lang.run import evaluate
from gradcli.ops import OPS
from tests.laws.mutant_trial import rows_below
from tests.laws.mutants import planted

from .excuses import excuses
from .jobs import checked, claiming, job

LOGISTIC = "for i in range(100): y = r*y*(1 - y)\ny"

LOSING: dict[str, dict[str, Any]] = {
    "expm1(x)/x": {"x": 1e-70},
    "(exp(x) - 1)/x": {"x": 1e-20},
    "log1p(x)/x": {"x": 1e-61},
    "((x + 1) - 1)/x": {"x": 1e-61},
}
"""Programs whose gradients have few digits, or none."""

STRIDE = 3
"""Of the rules that excuse themselves every so many-th is planted."""


@pytest.fixture(autouse=True)
def in_double_precision() -> Any:
    with default_dtype("float64"), np.errstate(all="ignore"):
        yield


def recorded(program: str) -> list[str]:
    values = LOSING[program]
    y = evaluate(program, {n: Tensor(np.array(v), NUMPY, True) for n, v in
                           values.items()})[0]  # fmt: skip
    return sorted({name for name in rows_below(y) if OPS[name].elementwise})


@pytest.mark.parametrize("program", LOSING)
def test_no_wrong_rule_is_explained_by_what_a_program_loses(program: str) -> None:
    right = job(program, LOSING[program])
    tried = 0
    for excuse in excuses(recorded(program))[::STRIDE]:
        with planted(excuse):
            try:
                wrong = job(program, LOSING[program])
            except AttributeError:
                # The row saves nothing that this form of excuse is made of.
                continue
            if wrong.inputs == right.inputs:
                continue
            verdicts = checked(wrong).inputs
        tried += 1
        pairs = zip(verdicts, wrong.inputs, right.inputs, strict=True)
        changed = {v.verdict for v, a, b in pairs if a.claim != b.claim}
        assert changed <= {REFUTED, UNKNOWN}, str(excuse)
    assert tried


@pytest.mark.parametrize("change", [1e8, -1e8])
def test_what_no_rounding_makes_is_refuted_among_lost_numbers(change: float) -> None:
    given = job(LOGISTIC, {"r": 3.7, "y": 0.4})
    assert {v.verdict for v in checked(given).inputs} == {ROUNDED}
    far = claiming(given, "r", lambda g: change * abs(g))
    assert {v.name: v.verdict for v in checked(far).inputs}["r"] == REFUTED
