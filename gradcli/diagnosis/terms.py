"""Mistakes in the terms of a sum: one with another sign or factor, one too many, one
that is missing.

Invariant: the constant in front of a term, or of what is missing, is the same at every
sample, and with it the claim is the derivative.

    wrong_term(evidence).repair     # "write diag(s) - outer(s, s)"
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from ..lang.syntax import Binary, Literal, Unary
from ..views.claims import Diagnosis
from .hypothesis import Evidence, rewritten
from .inner import UNSPOKEN, candidates
from .likeness import (
    CLOSE,
    Array,
    Pair,
    all_same,
    constant_factor,
    largest,
    number_text,
    simple_number,
)
from .subterms import Subterm, spliced, subterms

_SUMS = ("+", "-")
_PRODUCTS = ("*", "/", "@")
_POWERS = ("**", "^")


def wrong_term(evidence: Evidence) -> Diagnosis | None:
    """One term of a sum that has another factor than it should have."""
    for total, term in _terms(evidence.text):
        if not evidence.in_time():
            return None
        factor = _factor_of(evidence, term)
        found = None if factor is None else _mistake(total, term, factor)
        if found is not None:
            return found
    return None


def _terms(source: str) -> Iterator[tuple[Subterm, Subterm]]:
    """Every operand of a plus or a minus, after the sum that it stands in."""
    for subterm in subterms(source):
        node = subterm.node
        if isinstance(node, Binary) and node.operator in _SUMS:
            left = node.left
            # Of a flat sum the left part is a sum itself, whose terms come by.
            if not (isinstance(left, Binary) and left.operator in _SUMS):
                yield subterm, subterm.part(left)
            yield subterm, subterm.part(node.right)


def _factor_of(evidence: Evidence, term: Subterm) -> Fraction | None:
    """The constant in front of a term with which the claim is right; None: there is
    none, or the claim is no multiple of the term."""
    without, twice = (term.written(_scaled(n, term)) for n in ("0", "2"))
    pairs, rests = [], []
    for sample in evidence.samples:
        a, b = (evidence.said(text, sample) for text in (without, twice))
        if a is None or b is None or a.shape != sample.true.shape:
            return None
        size = max(largest(sample.claimed), largest(b))
        if largest((b - sample.claimed) - (sample.claimed - a)) > CLOSE * size:
            return None
        pairs.append((sample.true - a, sample.claimed - a))
        rests.append((sample.true, a))
    if all_same(rests):
        return Fraction(0)
    c = constant_factor(pairs)
    return None if c is None else simple_number(c)


def _mistake(total: Subterm, term: Subterm, factor: Fraction) -> Diagnosis | None:
    """What a constant in front of a term says of it."""
    before = term.source
    if factor == -1:
        text = f"the term {term.text} has the wrong sign"
        return rewritten("sign", text, before, _turned(total, term))
    if factor == 0:
        text = f"the term {term.text} does not belong there"
        return rewritten("term", text, before, _without(total, term))
    if factor < 0:
        return None
    if isinstance(term.node, Literal):
        meant = number_text(float(factor) * float(term.node.value))
        text = f"{term.text} stands where {meant} belongs"
        return rewritten("factor", text, before, term.written(meant))
    text = f"the term {term.text} lacks the factor {factor}"
    after = term.written(_scaled(str(factor), term))
    return rewritten("factor", text, before, after)


def _scaled(number: str, term: Subterm) -> str:
    return f"{number}*{_bare(term, _PRODUCTS)}"


def _bare(term: Subterm, operators: Sequence[str]) -> str:
    """A term's text, without parentheses if it is made by one of these operators."""
    product = isinstance(term.node, Binary) and term.node.operator in operators
    return term.text if product else term.factor


def _turned(total: Subterm, term: Subterm) -> str:
    """The claim with the other sign in front of a term."""
    node = total.node
    assert isinstance(node, Binary)
    if term.node is node.left:
        return term.written(_negative(term))
    sign = "-" if node.operator == "+" else "+"
    return spliced(total.source, node.op_span, sign)


def _negative(term: Subterm) -> str:
    if isinstance(term.node, Unary) and term.node.operator == "-":
        return term.part(term.node.operand).factor
    return f"-{_bare(term, (*_PRODUCTS, *_POWERS))}"


def _without(total: Subterm, term: Subterm) -> str:
    """The claim without a term."""
    node = total.node
    assert isinstance(node, Binary)
    if term.node is node.right:
        return total.written(total.part(node.left).text)
    kept = total.part(node.right)
    return total.written(_negative(kept) if node.operator == "-" else kept.text)


def lacking_term(evidence: Evidence) -> Diagnosis | None:
    """A constant, or a multiple of some part of the two texts, that is to be added."""
    if any(s.claimed.shape != s.true.shape for s in evidence.samples):
        return None
    gaps = [sample.true - sample.claimed for sample in evidence.samples]
    for text, values in _addable(evidence):
        if not evidence.in_time():
            return None
        c = constant_factor(_widened(gaps, values))
        if c is not None and simple_number(c) is not None:
            return _added(c, text)
    return None


def _addable(evidence: Evidence) -> Iterator[tuple[str, Sequence[Array]]]:
    """A number; the parts of the claim and of the program; local gradients."""
    texts = {"1": None}
    if evidence.claim.expression is not None:
        for source in (evidence.text, evidence.task.source):
            texts |= {subterm.factor: None for subterm in subterms(source)}
    for text in texts:
        said = [evidence.said(text, sample) for sample in evidence.samples]
        values = [value for value in said if value is not None]
        if len(values) == len(said):
            yield text, values
    for each in candidates(evidence):
        if each.factor != UNSPOKEN:
            yield each.factor, each.values


def _widened(gaps: Sequence[Array], values: Sequence[Array]) -> list[Pair]:
    pairs = zip(gaps, values, strict=True)
    try:
        return [(gap, np.broadcast_to(value, gap.shape)) for gap, value in pairs]
    except ValueError:
        return []


def _added(c: float, text: str) -> Diagnosis:
    number = number_text(abs(c))
    term = number if text == "1" else text if number == "1" else f"{number}*{text}"
    if c > 0:
        return Diagnosis("term", f"the term {term} is missing", f"add {term}")
    return Diagnosis("term", f"{term} is added too much", f"subtract {term}")
