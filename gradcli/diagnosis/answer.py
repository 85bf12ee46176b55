"""The derivative that a false claim should have been, as a formula.

Invariant: the formula is SymPy's own derivative of the program; where there is none, or
one that is too long to be read, there is no answer.

    right_derivative(task, claim, seconds=2)        # "2*x*cos(x**2)"
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from itertools import islice
from math import prod
from typing import Final

from ..lang.errors import ProgramError
from ..lang.nested import bracketed
from ..numbers.system import NoMeaning
from ..verify.claims.points import random_points
from ..verify.claims.proof import derivatives
from ..verify.claims.task import ClaimsTask
from ..verify.claims.text import Claim
from ..verify.claims.truth import Visit, terms_of, values_of
from ..verify.closed import full_form
from ..verify.process.budget import Budget, OutOfTime
from ..verify.whole import independent, off_jumps
from .limits import (
    MAX_ANSWER_CHARACTERS,
    MAX_ANSWER_ENTRIES,
    MAX_ANSWER_NODES,
    POINTS_PER_SAMPLE,
)

GIVES_UP: Final = (
    ArithmeticError, NotImplementedError, RecursionError, TypeError, ValueError,
)  # fmt: skip
"""What SymPy raises where it finds no derivative."""


def right_derivative(task: ClaimsTask, claim: Claim, seconds: float) -> str | None:
    """The derivative that a claim is about; None where no short formula is found."""
    if not claim.by:
        return None
    budget = Budget(seconds)
    for point in islice(random_points(task.inputs, task.seed + 1), POINTS_PER_SAMPLE):
        try:
            visit = Visit(task, point)
            target = visit.target(claim)
        except (ProgramError, NoMeaning, KeyError):
            # A point that the program does not take tells nothing.
            continue
        if not visit.is_non_smooth() and values_of(target).finite():
            try:
                return _formula(visit, claim, budget)
            except (OutOfTime, *GIVES_UP):
                return None
    return None


def _formula(visit: Visit, claim: Claim, budget: Budget) -> str | None:
    target = terms_of(visit.target(claim))
    entries = len(target) * prod(len(visit.entries(name)) for name in claim.by)
    size = sum(term.size for term in target)
    if entries > MAX_ANSWER_ENTRIES or size > MAX_ANSWER_NODES:
        return None
    book = independent(visit.terms, target, budget)
    found = derivatives(book, target, visit, claim.by)

    def attempt() -> AbstractContextManager[None]:
        return budget.slice(budget.left / 8)

    at = visit.positions(claim)
    forms = [
        full_form(book.released(off_jumps(found[i])), attempt)
        for i in at.reshape(-1).tolist()
    ]
    return _written([None if form is None else form.text for form in forms], at.shape)


def _written(texts: Sequence[str | None], shape: tuple[int, ...]) -> str | None:
    """The formulas in brackets, as a claim has them."""
    known = [text for text in texts if text is not None]
    if not texts or len(known) < len(texts):
        return None
    text = bracketed(known, shape)
    return text if len(text) <= MAX_ANSWER_CHARACTERS else None
