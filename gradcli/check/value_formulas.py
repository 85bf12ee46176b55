"""The value of a program as formulas, by SymPy.

Invariant: a formula has the value that the engine computed at the job's point.

    value_formulas(job).texts         # ("2*x*y + 2*y",) of div([x^2*y, y^2])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ops.records import compared_record
from .expressions import Expressions, compiled
from .formulas import closed_form, formula, indifferent, side_conditions
from .namespace import ObjectNamespace
from .process.budget import Budget, OutOfTime
from .process.job import MAX_FORM_CHARACTERS, Job, timed_out, words_of
from .subject import program_of, run_of
from .terms import Terms

MAX_VALUE_FORMULAS = 256
"""Largest number of entries of a value that is written as formulas."""

CLOSE = 1e-9
"""Largest relative distance of a formula's value from the engine's."""


@compared_record
class ValueFormulas:
    """The formulas of a value's entries, in C order, and the conditions on which they
    hold.

    texts       the formulas; None: there is no short one
    conditions  the branches of the program that were taken
    missing     why there are none; None if there are
    """

    texts: tuple[str | None, ...]
    conditions: tuple[str, ...] = ()
    missing: str | None = None


def value_formulas(job: Job) -> ValueFormulas:
    """Return the formulas of a program's value."""
    budget = Budget(job.seconds)
    texts: list[str | None] = []
    try:
        with np.errstate(all="ignore"), budget.slice(job.seconds):
            terms = Terms(0, job.dtype)
            subject = run_of(job, program_of(job), ObjectNamespace(terms))
            book = Expressions()
            roots = subject.output_terms
            for root, number in zip(roots, job.output.values(), strict=True):
                texts.append(_text(book, book.of(root), number, budget))
            conditions = side_conditions(terms, roots, indifferent(terms, book.free))
    except OutOfTime:
        return ValueFormulas((), missing=timed_out(job.seconds))
    except RecursionError:
        return ValueFormulas((), missing="the program is nested too deeply for SymPy")
    except Exception as error:
        return ValueFormulas((), missing=words_of(error))
    return ValueFormulas(tuple(texts), conditions)


def _text(
    book: Expressions, expression: Any, number: float, budget: Budget
) -> str | None:
    """Return an entry as a formula; None if it is long, or has another value here."""
    released = book.released(expression)

    def holds(form: Any) -> bool:
        true = compiled(form).run(book.values)
        gap = abs(true - number)
        return bool(gap <= CLOSE * (1 + abs(number)))

    if not holds(released):
        return None
    short = None
    try:
        with budget.slice(budget.left / 4):
            short = closed_form(released, holds)
    except OutOfTime:
        budget.check()
    found = short or formula(released)
    return None if found is None or len(found) > MAX_FORM_CHARACTERS else found
