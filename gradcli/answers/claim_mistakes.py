"""What is wrong with a false claim, and what is right in its place.

Invariant: with the repair that a diagnosis proposes, the claim agrees with the
derivative at every sampled point, or differs by rounding. Hypotheses are tested in a
fixed order, simple mistakes first, and the first that fits is the diagnosis. A right
formula is SymPy's own derivative of the program, with the conditions that it holds
under; there is none if it cannot be found or is too long to read.

    diagnose(task, claim, seconds=2).repair      # "multiply by 2"
    right_derivative(task, claim, seconds=2)        # (Piece("2*x*cos(x**2)", ()),)
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from itertools import combinations, islice
from math import prod
from time import thread_time
from typing import Final

import numpy as np

from ..check.claims.proof import derivatives
from ..check.claims.text import (
    Claim,
    ClaimsTask,
    Counterexample,
    about_a_point,
    random_points,
)
from ..check.claims.truth import Visit, are_finite, terms_of, values_of
from ..check.formulas import full_form, indifferent, side_conditions
from ..check.process.budget import Budget, OutOfTime
from ..check.system import NoMeaning
from ..check.whole import independent, off_jumps
from ..lang.errors import ProgramError
from ..lang.nested import bracketed
from .chain_rule import (
    inner_derivative,
    passed_over,
    stops_short,
    taken_for_constant,
    wrong_path,
)
from .claim_text import lacking_term, wrong_subterm, wrong_term
from .claim_views import Diagnosis, FormulaPiece
from .evidence import (
    MIN_SAMPLES,
    POINTS_PER_SAMPLE,
    Evidence,
    Test,
    derivative,
    gather,
    typed_sample,
)
from .hypotheses import (
    DIAGONALS,
    SIGN,
    UPSIDE_DOWN,
    alike,
    constant_factor,
    first_of,
    number_text,
    simple_number,
    speaking,
    sums,
    transpositions,
)
from .survey import largest

ROUNDED = 2e-3
"""Largest relative distance that is put down to rounded constants."""

MAX_NAME_PAIRS = 20
"""Largest number of pairs of names that are tried as swapped."""

SAMPLES = 12
"""Number of samples wanted; a hypothesis must fit all of them."""


def wrong_sign(evidence: Evidence) -> Diagnosis | None:
    return SIGN.of_claim(evidence.sides)


def rounded(evidence: Evidence) -> Diagnosis | None:
    pairs = evidence.sides
    if not speaking(pairs):
        return None
    worst = max(largest(a - b) / (largest(a) or 1.0) for a, b in pairs)
    if worst > ROUNDED:
        return None
    if not worst and evidence.differs_at_example:
        text = "the two differ at single points only, such as a jump"
        return Diagnosis("point", text, "mend the value there")
    share = f"{worst:.1g} of their size at most" if worst else "less than floats tell"
    text = f"the two differ by {share}"
    return Diagnosis("rounding", text, "write the constants in full")


def constant(evidence: Evidence) -> Diagnosis | None:
    c = constant_factor(evidence.sides)
    if c is None:
        return None
    mean = _mean(evidence, c)
    if mean is not None:
        return mean
    inverse = simple_number(1 / c)
    if inverse is not None and inverse.denominator == 1 and abs(inverse) > 1:
        text = f"there is a factor {inverse} too much"
        return Diagnosis("factor", text, f"divide by {inverse}")
    text = f"the factor {number_text(c)} is missing"
    return Diagnosis("factor", text, f"multiply by {number_text(c)}")


def _mean(evidence: Evidence, c: float) -> Diagnosis | None:
    """Return the diagnosis of a mean taken for a sum, or of a sum taken for a mean."""
    shapes = [(x.numel(), *x.shape) for x in evidence.samples[0].variables.values()]
    counts = {n for shape in shapes for n in shape if n > 1}
    n = simple_number(1 / c)
    if n in counts and "mean" in evidence.task.source:
        text = f"the program takes a mean, the claim a sum: 1/{n} is missing"
        return Diagnosis("mean", text, f"divide by {n}")
    n = simple_number(c)
    if n in counts and "mean" in evidence.text:
        text = "the claim takes a mean, the derivative a sum"
        return Diagnosis("mean", text, f"multiply by {n}, or use sum")
    return None


def transposed(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of dimensions in another order, perhaps with a factor."""
    return first_of(transpositions(evidence.samples[0].true.ndim), evidence.pairs)


def shaped_otherwise(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a diagonal, sum or mean that is taken or left out."""
    first = evidence.samples[0]
    left, taken = sums(first.claimed.shape, True), sums(first.true.shape, False)
    return first_of((*DIAGONALS, *left, *taken), evidence.pairs)


def swapped(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of another input's derivative, or of swapped names."""
    claim, samples = evidence.claim, evidence.samples
    for name in samples[0].inputs if len(claim.by) == 1 else ():
        instead = replace(claim, by=(name,), at=())
        pairs = [(derivative(instead, s.target, s.inputs), s.claimed) for s in samples]
        if name != claim.by[0] and alike(pairs):
            text = f"this is the derivative by {name}, not by {claim.by[0]}"
            return Diagnosis("swapped", text, f"swap {claim.by[0]} and {name}")
    known = samples[0].variables
    several = combinations(known, 2) if claim.expression is not None else ()
    alike_ones = ((a, b) for a, b in several if known[a].shape == known[b].shape)
    for a, b in islice(alike_ones, MAX_NAME_PAIRS):
        if evidence.is_right(evidence.text, {a: b, b: a}):
            text = f"{a} and {b} are swapped"
            return Diagnosis("swapped", text, f"write {a} for {b} and {b} for {a}")
    return None


HYPOTHESES: tuple[Test, ...] = (
    wrong_sign,
    rounded,
    constant,
    transposed,
    shaped_otherwise,
    wrong_term,
    wrong_path,
    taken_for_constant,
    inner_derivative,
    passed_over,
    stops_short,
    lambda evidence: UPSIDE_DOWN.of_claim(evidence.sides),
    swapped,
    wrong_subterm,
    lacking_term,
)

POINTED: tuple[Test, ...] = (wrong_sign, rounded, transposed)
"""Hypotheses that can be tested on numbers for one point alone."""


def diagnose(
    task: ClaimsTask, claim: Claim, seconds: float,
    example: Counterexample | None = None,
) -> Diagnosis | None:  # fmt: skip
    """Return the simplest mistake that explains a claim; None if none does.

    ``seconds`` is a limit on this thread's processor time; ``example`` is a point at
    which the claim is false.
    """
    sides = () if example is None else zip(example.claimed, example.true, strict=False)
    differs = any(abs(a - b) > ROUNDED * abs(b) for a, b in sides)
    until = thread_time() + seconds
    if about_a_point(task, claim):
        samples, hypotheses = typed_sample(task, claim), POINTED
    else:
        samples, hypotheses = gather(task, claim, SAMPLES, until), HYPOTHESES
        if len(samples) < MIN_SAMPLES:
            return None
    evidence = Evidence(task, claim, samples, until, differs)
    with np.errstate(all="ignore"), suppress(OutOfTime):
        for hypothesis in hypotheses if samples else ():
            evidence.check()
            found = hypothesis(evidence)
            if found is not None:
                return found
    return None


# the right derivative

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


def _piece(visit: Visit, claim: Claim, budget: Budget) -> FormulaPiece | None:
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
    return None if written is None else FormulaPiece(written, where)


def _written(texts: Sequence[str | None], shape: tuple[int, ...]) -> str | None:
    """Return the formulas in brackets, as a claim is written; None if too long."""
    known = [text for text in texts if text is not None]
    if not texts or len(known) < len(texts):
        return None
    text = bracketed(known, shape)
    return text if len(text) <= MAX_ANSWER_CHARACTERS else None
