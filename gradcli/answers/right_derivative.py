"""The derivative that a false claim should have been.

Invariant: a formula by entries is SymPy's own derivative of the program, with the
conditions that it holds under; one in matrix notation agrees with the derivative at
random points. There is none if it cannot be found or is too long to read.

    right_derivative(task, claim, seconds=2)        # (Piece("2*x*cos(x**2)", ()),)
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import islice
from math import prod
from time import thread_time
from typing import Final

from ..check.claim_sides import Visit, are_finite, terms_of, values_of
from ..check.claims import Claim, ClaimsTask, random_points
from ..check.expressions import off_jumps
from ..check.formulas import full_form, indifferent, side_conditions
from ..check.process.budget import Budget, OutOfTime
from ..check.process.job import LEFT_OUT
from ..check.system import NoMeaning
from ..check.whole import derivatives, independent
from ..engine.errors import EngineError
from ..formulas.matrix_notation import in_matrices
from ..formulas.tree import TooLong, Unwritable
from ..lang.errors import ProgramError
from ..lang.nested import bracketed
from ..lang.run import Session, prepare
from .evidence import MIN_SAMPLES, POINTS_PER_SAMPLE, FormulaPiece, all_same, gather
from .inferred_sizes import at_regular_point

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
) -> tuple[FormulaPiece, ...]:
    """Return the derivative that a claim is about, one piece for each part of the
    domain that points met; no pieces if one of them has no short formula."""
    if not claim.by:
        return ()
    matrix = _in_matrices(task, claim, seconds)
    pieces = _by_entries(task, claim, seconds, matrix is None)
    if matrix is not None and len(pieces) > 1:
        pieces = _by_entries(task, claim, seconds)
    if matrix is None or len(pieces) > 1:
        return pieces
    stated = [c for piece in pieces for c in piece.where if not c.startswith(LEFT_OUT)]
    return (replace(matrix, where=matrix.where or tuple(stated)),)


def _in_matrices(task: ClaimsTask, claim: Claim, seconds: float) -> FormulaPiece | None:
    """Return a gradient in matrix notation that agrees with the derivative at random
    points; None if there is none or the inputs are numbers."""
    if len(claim.by) != 1 or claim.at or not any(g.shape for g in task.inputs):
        return None
    shapes = {given.name: given.shape for given in task.inputs}
    try:
        prepared = prepare(task.source, (), wrt=claim.by, shapes=shapes)
        run = Session(at_regular_point(prepared), claim.output or task.of).run()
        kind = "jacobian" if run.output.shape else "gradient"
        formulas = in_matrices(run, kind=kind)
        text = formulas.texts[claim.by]
    except (Unwritable, TooLong, ProgramError, EngineError, KeyError):
        return None
    written = replace(claim, expression=text)
    samples = gather(task, written, MIN_SAMPLES, thread_time() + seconds)
    pairs = [(s.true, s.claimed) for s in samples]
    agrees = len(pairs) == MIN_SAMPLES and all_same(pairs)
    return FormulaPiece(text, formulas.holds) if agrees else None


def _by_entries(
    task: ClaimsTask, claim: Claim, seconds: float, formulas: bool = True
) -> tuple[FormulaPiece, ...]:
    """Return SymPy's derivative, one piece for each part of the domain; without
    ``formulas`` a piece has its conditions alone."""
    budget = Budget(seconds)
    pieces: dict[FormulaPiece, None] = {}
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
            piece = _piece(visit, claim, budget, formulas)
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


def _piece(
    visit: Visit, claim: Claim, budget: Budget, formulas: bool
) -> FormulaPiece | None:
    target = terms_of(visit.target(claim))
    entries = len(target) * prod(len(visit.entries(name)) for name in claim.by)
    size = sum(term.size for term in target)
    if entries > MAX_ANSWER_ENTRIES or size > MAX_ANSWER_NODES:
        return None
    book = independent(visit.terms, target, budget)
    if not formulas:
        settled = indifferent(visit.terms, book.free)
        return FormulaPiece("", side_conditions(visit.terms, target, settled))
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
    return None if written is None else FormulaPiece(written, where)


def _written(texts: Sequence[str | None], shape: tuple[int, ...]) -> str | None:
    """Return the formulas in brackets, as a claim is written; None if too long."""
    known = [text for text in texts if text is not None]
    if not texts or len(known) < len(texts):
        return None
    text = bracketed(known, shape)
    return text if len(text) <= MAX_ANSWER_CHARACTERS else None
