"""Coefficients of a Taylor polynomial as exact formulas, and their verdicts.

The program's expression is differentiated by SymPy, and 0 is put in the place of the
steps away from the point; the engine's numbers are compared with that on balls.

Invariant: no coefficient is certified where the program has a kink.

    expanded(job, ["h"], {(1,): 1.0}).inputs[0].closed_form     # "1", of sin(h)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import factorial, isfinite, prod
from typing import Any, Final

import numpy as np
import sympy

from ..engine import Tensor
from ..lang.derivatives import derivative
from ..ops.records import compared_record
from .balls import START_BITS, is_known, text
from .box import InputInterval, ranges
from .decided import Way
from .expressions import Expressions, compiled, off_jumps
from .formulas import closed_form, formula
from .graph import ACCURATE_BITS
from .namespace import ObjectNamespace
from .nonsmooth import Equalities, NonSmooth
from .orders import MAX_RELATIVE_ERROR
from .process.budget import Budget, OutOfTime
from .process.job import (
    CERTIFIED,
    MAX_FORM_CHARACTERS,
    ROUNDED,
    InputVerdict,
    Job,
    Verification,
    timed_out,
    words_of,
)
from .subject import Subject, program_of, run_of
from .terms import Terms
from .whole import MAX_DERIVATIVE_BITS

Powers = tuple[int, ...]
"""Powers of a monomial, one for each input."""

_NOWHERE: Final = (sympy.nan, sympy.zoo, sympy.oo, -sympy.oo)
"""SymPy's numbers that are no values."""

_FORM_SECONDS: Final = 0.2
"""Time for the short form of one coefficient, in seconds."""


def lowered(powers: Powers) -> tuple[int, Powers]:
    """Return the place of the first power that is not 0, and the powers with that one
    less by 1."""
    at = next(k for k, power in enumerate(powers) if power)
    return at, (*powers[:at], powers[at] - 1, *powers[at + 1 :])


def expanded(
    job: Job, steps: Sequence[str], numbers: Mapping[Powers, float]
) -> Verification:
    """Return a verdict on each coefficient, with its formula.

    Args:
        job: the program at the point, as a function of ``steps`` away from it, which
            are all 0.
        steps: the names of these inputs.
        numbers: the engine's coefficients by their powers, lower ones first.
    """
    budget = Budget(job.seconds)

    def run(tie_break: int | Way = 0) -> Subject:
        terms = Terms(tie_break, job.dtype)
        return run_of(job, program_of(job), ObjectNamespace(terms))

    verdicts: dict[Powers, InputVerdict] = {}
    kinks: tuple[str, ...] = ()
    reason: str | None = None
    try:
        with np.errstate(all="ignore"), budget.slice(job.seconds):
            subject = run()
            order = max(map(sum, numbers))
            points = NonSmooth(subject, run)
            smooth = subject
            for name in steps if order else ():
                met = points.obstacle(subject.entries[name][0], order)
                if isinstance(met, Subject) and (met is subject or len(steps) == 1):
                    smooth = met
                    continue
                kink = points.any() if isinstance(met, Subject) else met
                assert kink is not None
                reason, kinks = points.named(*kink), points.shown()
            reason = reason or Equalities(subject, budget).doubt()
            if reason is None:
                _fill(verdicts, smooth, steps, numbers, budget)
    except OutOfTime:
        reason = timed_out(job.seconds)
    except RecursionError:
        reason = "the program is nested too deeply for SymPy's derivative"
    except Exception as error:
        reason = words_of(error)
    left = (
        verdicts.get(each, InputVerdict(str(each), note=reason, of=1))
        for each in numbers
    )
    return Verification.about([*left], budget.spent, kinks=kinks, done=True)


@compared_record
class RemainderBound:
    """A proven bound of what a polynomial leaves out, or the reason why there is
    none."""

    bound: float | None
    reason: str | None = None


ROUNDED_UP: Final = 1 + 1e-12
"""Factor that is more than the rounding of a bound."""


def remainder_bound(job: Job, step: str, order: int, radius: float) -> RemainderBound:
    """Return a bound of the remainder of a polynomial of an order, wherever ``step`` is
    at most ``radius``: that of Lagrange, by the range of the next derivative."""
    program = program_of(job)

    def next_derivative(inputs: dict[str, Tensor]) -> Tensor:
        y: Tensor = program(inputs)
        for _ in range(order + 1):
            y = derivative(y, inputs[step], step)
        return y

    box = {step: InputInterval((-radius,), (radius,))}
    try:
        found = ranges(job, box, next_derivative, Budget(job.seconds))
    except Exception as error:
        return RemainderBound(None, words_of(error))
    for place in (*found.holes, *found.kinks):
        return RemainderBound(None, place.what)
    largest = max(abs(found.value[0].lower), abs(found.value[0].upper))
    bound = largest * radius ** (order + 1) / factorial(order + 1) * ROUNDED_UP
    if not isfinite(bound):
        return RemainderBound(None, "the next derivative has no bound there")
    return RemainderBound(bound)


def _fill(
    verdicts: dict[Powers, InputVerdict],
    subject: Subject,
    steps: Sequence[str],
    numbers: Mapping[Powers, float],
    budget: Budget,
) -> None:
    """Put the verdict on each coefficient into ``verdicts``."""
    book = Expressions()
    (output,) = subject.output_terms
    symbols = [book.of(subject.terms.made[subject.entries[n][0]]) for n in steps]
    here = dict.fromkeys(symbols, sympy.S.Zero)
    derivatives = {(0,) * len(steps): book.of(output)}
    for done, (powers, number) in enumerate(numbers.items()):
        budget.check()
        if any(powers):
            at, before = lowered(powers)
            derived = sympy.diff(derivatives[before], symbols[at])
            derivatives[powers] = off_jumps(derived)
        exact = book.released(derivatives[powers]).xreplace(here)
        exact = exact / prod(map(factorial, powers))
        share = budget.left / (len(numbers) - done) / 2
        verdict = _judged(exact, str(powers), number, book)
        form = _form(exact, budget, min(_FORM_SECONDS, share))
        verdicts[powers] = replace(verdict, closed_form=form)


def _judged(exact: Any, name: str, number: float, book: Expressions) -> InputVerdict:
    """Return the verdict on the engine's number for an exact coefficient."""
    if exact.has(*_NOWHERE):
        note = "SymPy's derivative has no value there"
        return InputVerdict(name, note=note, of=1)
    program, bits = compiled(exact), START_BITS
    true = program.run(book.values, bits)
    while not is_known(true, ACCURATE_BITS) and bits < MAX_DERIVATIVE_BITS:
        bits *= 2
        true = program.run(book.values, bits)
    note = f"the engine gave {number!r}, the true value is {text(true)}"
    if not (true.is_finite() and isfinite(number)):
        return InputVerdict(name, note=note, of=1)
    gap, error = abs(true - number), None
    if gap.is_zero():
        error = 0.0
    elif not true.contains(0):
        error = float((gap / abs(true)).upper())
    good = error is not None and error <= MAX_RELATIVE_ERROR
    return InputVerdict(
        name,
        CERTIFIED if good else ROUNDED,
        error,
        note=None if good else note,
        checked=1,
        of=1,
    )


def _form(exact: Any, budget: Budget, seconds: float) -> str | None:
    """Return a coefficient as a formula; None if it is long, or has no value."""
    if exact.has(*_NOWHERE):
        return None
    if exact.is_Rational:
        return str(exact)
    short = None
    try:
        with budget.slice(seconds):
            short = closed_form(exact)
    except OutOfTime:
        budget.check()
    found = short or formula(exact)
    return None if found is None or len(found) > MAX_FORM_CHARACTERS else found
