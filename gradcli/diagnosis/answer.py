"""Right derivatives for false claims, as formulas with the regions they hold in.

Invariant: a formula is SymPy's own derivative of the program, with the conditions that
it holds under; there is no answer if a formula cannot be found or is too long to read.


    right_derivative(task, claim, seconds=2)        # (Piece("2*x*cos(x**2)", ()),)
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
from ..verify.claims.judge import derivatives
from ..verify.claims.text import Claim, ClaimsTask, random_points
from ..verify.claims.truth import Visit, are_finite, terms_of, values_of
from ..verify.formulas import full_form, indifferent, side_conditions
from ..verify.process.budget import Budget, OutOfTime
from ..verify.whole import independent, off_jumps
from ..views.claims import Piece
from .evidence import POINTS_PER_SAMPLE

MAX_ANSWER_ENTRIES = 64
"""Largest number of entries of a derivative that is shown as formulas."""

MAX_ANSWER_CHARACTERS = 400
"""Largest length of a formula that is shown, in characters."""

MAX_ANSWER_NODES = 400
"""Largest size of a value, in nodes of its tree, whose derivative is shown."""

MAX_PIECES = 4
"""Largest number of parts of the domain for which a derivative is shown."""

PIECE_POINTS = 24
"""Number of random points at which those parts of the domain are looked for."""

GIVES_UP: Final = (
    ArithmeticError, NotImplementedError, RecursionError, TypeError, ValueError,
)  # fmt: skip
"""Errors that SymPy raises if it finds no derivative."""


def right_derivative(
    task: ClaimsTask, claim: Claim, seconds: float
) -> tuple[Piece, ...]:
    """Return the derivative that a claim is about, one piece for each part of the
    domain that points met; no pieces if one of them has no short formula."""
    if not claim.by:
        return ()
    budget = Budget(seconds)
    pieces: dict[Piece, None] = {}
    met: set[tuple[str, ...]] = set()
    points = random_points(task.inputs, task.seed + 1)
    for tried, point in enumerate(islice(points, PIECE_POINTS)):
        if tried == POINTS_PER_SAMPLE and not pieces:
            break
        try:
            visit = Visit(task, point)
            target = visit.target(claim)
        except (ProgramError, NoMeaning, KeyError):
            # A point at which the program fails tells nothing.
            continue
        if visit.is_non_smooth() or not are_finite(values_of(target)):
            continue
        branch = side_conditions(visit.terms, terms_of(target))
        if branch in met:
            continue
        met.add(branch)
        try:
            piece = _piece(visit, claim, budget)
        except (OutOfTime, *GIVES_UP):
            piece = None
        if piece is None:
            return ()
        if not piece.where:
            return (piece,)
        pieces[piece] = None
        if len(pieces) == MAX_PIECES:
            break
    return tuple(pieces)


def _piece(visit: Visit, claim: Claim, budget: Budget) -> Piece | None:
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
    texts = [None if form is None else form.text for form in forms]
    written = _written(texts, at.shape)
    settled = indifferent(visit.terms, book.free)
    where = side_conditions(visit.terms, target, settled)
    return None if written is None else Piece(written, where)


def _written(texts: Sequence[str | None], shape: tuple[int, ...]) -> str | None:
    """Return the formulas in brackets, as a claim is written; None if too long."""
    known = [text for text in texts if text is not None]
    if not texts or len(known) < len(texts):
        return None
    text = bracketed(known, shape)
    return text if len(text) <= MAX_ANSWER_CHARACTERS else None
