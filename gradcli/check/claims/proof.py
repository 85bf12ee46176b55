"""Proofs of claims by SymPy: the derivative of the program minus what is claimed is 0.

Invariant: a proof holds for the shapes of a visit, and under its conditions.

    prove(visit, claim, budget).conditions      # ("x > 0",)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

import sympy

from ...engine import Tensor
from ..expressions import Expressions
from ..formulas import indifferent, side_conditions
from ..process.budget import Budget
from ..prove import simplifies_away, vanishes
from ..subject import objects
from ..terms import Term
from ..whole import MAX_SYMPY_TREE_NODES, independent, off_jumps
from .text import Claim
from .truth import Visit, fitted_array, terms_of

MAX_CLAIM_PROOF_ENTRIES: Final = 64
"""Largest number of entries of a derivative that is proved."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The outcome of a proof, with the reason for a failure if it is known."""

    done: bool
    conditions: tuple[str, ...] = ()
    reason: str | None = None


def prove(visit: Visit, claim: Claim, budget: Budget) -> Proof:
    """Return the proof of a claim, for the shapes and the branches of a visit."""
    target, said = _sides(visit, claim)
    claimed = terms_of(said)
    roots = [*target, *claimed]
    sizes = [len(visit.entries(name)) for name in claim.by]
    entries = len(target) * prod(sizes)
    if entries > MAX_CLAIM_PROOF_ENTRIES:
        return Proof(False, reason=f"{entries} entries are too many for a proof")
    if sum(term.size for term in roots) > MAX_SYMPY_TREE_NODES:
        return Proof(False, reason="the expressions are too large for a proof")
    book = independent(visit.terms, roots, budget)
    true = derivatives(book, target, visit, claim.by)
    if claim.expression is None:
        said_to_be = derivatives(book, claimed, visit, claim.by)
    else:
        positions = visit.positions(claim)
        true = [true[k] for k in positions.reshape(-1).tolist()]
        given = objects([book.of(t) for t in claimed], said.shape)
        found = fitted_array(given, positions.shape)
        said_to_be = [] if found is None else list(found.flat)
    for a, b in zip(said_to_be, true, strict=True):
        with budget.slice(max(0.3, budget.left / 2)):
            gap = book.released(off_jumps(a - b))
            if not (vanishes(gap, book.values) or simplifies_away(gap, book.values)):
                return Proof(False)
    settled = indifferent(visit.terms, book.free)
    return Proof(True, side_conditions(visit.terms, roots, settled))


def branch(visit: Visit, claim: Claim) -> tuple[str, ...]:
    """Return the conditions of a visit's branch, by which two visits are compared."""
    target, said = _sides(visit, claim)
    return side_conditions(visit.terms, [*target, *terms_of(said)])


def _sides(visit: Visit, claim: Claim) -> tuple[list[Term], Tensor]:
    """Return the terms to differentiate, and the claimed or the compared tensor."""
    alone = claim.expression is None
    return terms_of(visit.target(claim)), (
        visit.other() if alone else visit.expression(claim)
    )


def derivatives(
    book: Expressions, outputs: Sequence[Term], visit: Visit, by: Sequence[str]
) -> list[sympy.Expr]:
    """Return SymPy's derivative of each output by each entry, in C order."""
    found = [book.of(term) for term in outputs]
    for name in by:
        symbols = [book.of(term) for term in visit.entries(name)]
        found = [sympy.diff(e, symbol) for e in found for symbol in symbols]
    return found
