"""Verdicts on derivatives of higher order by numbers, from power series, in which the
engine has no part.

Invariant: none is certified at a kink: on both sides of the point, the value and all
derivatives up to that order are those at the point.

    verified(job, 2, {"x": 6.0}).inputs[0].verdict      # "certified"
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from math import isfinite
from typing import Final

import numpy as np

from .balls import text
from .decided import Way
from .graph import derivative_of_order
from .namespace import ObjectNamespace
from .nonsmooth import Equalities, NonSmooth
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
from .subject import Subject, program_of, run_of
from .terms import Terms

MAX_RELATIVE_ERROR: Final = 1e-6
"""Largest relative error of a derivative that is certified."""


def verified(job: Job, order: int, found: Mapping[str, float]) -> Verification:
    """Return the verification of derivatives of one order, by inputs of one number."""
    budget = Budget(job.seconds)
    kinks: tuple[str, ...] = ()

    def run(tie_break: int | Way = 0) -> Subject:
        terms = Terms(tie_break, job.dtype)
        return run_of(job, program_of(job), ObjectNamespace(terms))

    try:
        with np.errstate(all="ignore"), budget.slice(job.seconds):
            subject = run()
            points = NonSmooth(subject, run)
            verdicts = []
            for name, number in found.items():
                met = points.obstacle(subject.entries[name][0], order)
                if isinstance(met, Subject):
                    verdict = _judged(met, name, order, number, budget)
                    if met is subject or verdict.verdict == CERTIFIED:
                        verdicts.append(verdict)
                        continue
                kink = points.any() if isinstance(met, Subject) else met
                assert kink is not None
                note = f"{points.named(*kink)}; the engine's convention gave {number!r}"
                verdicts.append(InputVerdict(name, note=note, of=1))
                kinks = points.shown()
            doubt = Equalities(subject, budget).doubt()
            if doubt is not None:
                return Verification.nothing(job, doubt, budget.spent)
    except OutOfTime:
        return Verification.nothing(job, timed_out(job.seconds), budget.spent)
    except Exception as error:
        return Verification.nothing(job, words_of(error), budget.spent)
    return Verification.about(verdicts, budget.spent, kinks=kinks, done=True)


def _judged(
    subject: Subject, name: str, order: int, number: float, budget: Budget
) -> InputVerdict:
    (output,), (entry,) = subject.outputs, subject.entries[name]
    true = derivative_of_order(subject.terms, output, entry, order, budget.check)
    if not true.is_finite():
        return InputVerdict(name, note="a value that is not finite", of=1)
    note = f"the engine gave {number!r}, the true value is {text(true)}"
    if not isfinite(number):
        left = not isfinite(subject.roundings.rounded(output))
        if left or abs(true) > sys.float_info.max:
            return InputVerdict(name, ROUNDED, note=note, checked=1, of=1, digits=0)
        return InputVerdict(name, note=note, of=1)
    gap, error = abs(true - number), None
    if gap.is_zero():
        error = 0.0
    elif not true.contains(0):
        # The comparison is done on balls: as floats, gap and size might both be 0.
        error = float((gap / abs(true)).upper())
    if error is not None and error <= MAX_RELATIVE_ERROR:
        return InputVerdict(name, CERTIFIED, error, checked=1, of=1)
    return InputVerdict(name, ROUNDED, error, note=note, checked=1, of=1)
