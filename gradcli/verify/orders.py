"""Verification of derivatives of higher order by power series.

Invariant: the true derivative is a ball made by FLINT's power series of the program's
steps; the engine has no part in it.

    verified(job, 3, {"x": 24.0}).inputs[0].verdict      # "certified"
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from math import isfinite
from typing import Final

import numpy as np

from ..numbers.balls import text
from ..numbers.graph import derivative_of_order
from .process.budget import Budget, OutOfTime
from .process.job import (
    CERTIFIED,
    ROUNDED,
    InputVerdict,
    Job,
    Verification,
    timed_out,
    words_of,
)
from .subject import OnTerms, on_terms, program_of

MAX_RELATIVE_ERROR_OF_ORDERS: Final = 1e-6
"""Largest relative error of a derivative of higher order that is certified."""


def verified(job: Job, order: int, found: Mapping[str, float]) -> Verification:
    """Return the verification of derivatives of one order, by inputs of one number."""
    budget = Budget(job.seconds)
    try:
        with np.errstate(all="ignore"), budget.slice(job.seconds):
            subject = on_terms(job, program_of(job))
            if subject.kinks:
                return Verification.nothing(job, "a kink", budget.spent)
            verdicts = [
                _verdict(subject, name, order, number, budget)
                for name, number in found.items()
            ]
    except OutOfTime:
        return Verification.nothing(job, timed_out(job.seconds), budget.spent)
    except Exception as error:
        return Verification.nothing(job, words_of(error), budget.spent)
    return Verification.about(verdicts, budget.spent, done=True)


def _verdict(
    subject: OnTerms, name: str, order: int, number: float, budget: Budget
) -> InputVerdict:
    (output,), (entry,) = subject.outputs, subject.entries[name]
    true = derivative_of_order(subject.terms, output, entry, order, budget.check)
    if not true.is_finite():
        return InputVerdict(name, note="a value that is not finite", of=1)
    note = f"the engine gave {number!r}, the true value is {text(true)}"
    if not isfinite(number):
        roundings = subject.roundings
        left = not isfinite(roundings.rounded(output))
        if left or abs(true) > sys.float_info.max:
            return InputVerdict(name, ROUNDED, note=note, checked=1, of=1, digits=0)
        return InputVerdict(name, note=note, of=1)
    gap = abs(true - number)
    if gap.is_zero():
        return InputVerdict(name, CERTIFIED, 0.0, checked=1, of=1)
    # The comparison is done on balls: as floats, gap and size might both be 0.
    error = None if true.contains(0) else float((gap / abs(true)).upper())
    if error is not None and error <= MAX_RELATIVE_ERROR_OF_ORDERS:
        return InputVerdict(name, CERTIFIED, error, checked=1, of=1)
    return InputVerdict(name, ROUNDED, error, note=note, checked=1, of=1)
