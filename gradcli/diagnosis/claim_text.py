"""Mistakes in the text of a claim. In a sum: a term with a wrong sign or factor, a term
too many, a missing term. In a subterm: an operand transposed, a sum left out, a wrong
exponent, or one name in place of another.

Invariant: a repair makes the claim equal to the derivative at every sample, and changes
one term or one subterm.

    wrong_term(evidence).repair       # "write diag(s) - outer(s, s)"
    wrong_subterm(evidence).text      # "W2 should be transposed"
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from time import thread_time

import numpy as np

from ..engine.operators import TRANSPOSES
from ..lang.syntax import Attribute, Binary, Literal, MethodCall, Name, Unary
from ..verify.claims.text import Claim, ClaimsTask
from ..views.claims import Diagnosis
from .chain_rule import UNSPOKEN, candidates
from .evidence import MIN_SAMPLES, Evidence, gather, rewritten, said_in
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

_SIGNS = ("+", "-")
_PRODUCTS = ("*", "/", "@")
_POWERS = ("**", "^")


def wrong_term(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a term of a sum that has a wrong factor."""
    for total, term in _terms(evidence.text):
        if not evidence.in_time():
            return None
        factor = _factor_of(evidence, term)
        found = None if factor is None else _mistake(total, term, factor)
        if found is not None:
            return found
    return None


def _terms(source: str) -> Iterator[tuple[Subterm, Subterm]]:
    """Yield every operand of a plus or a minus, each with the sum it is in."""
    for subterm in subterms(source):
        node = subterm.node
        if isinstance(node, Binary) and node.operator in _SIGNS:
            left = node.left
            # In a + b + c the left operand is the sum a + b, which is visited later.
            if not (isinstance(left, Binary) and left.operator in _SIGNS):
                yield subterm, subterm.part(left)
            yield subterm, subterm.part(node.right)


def _factor_of(evidence: Evidence, term: Subterm) -> Fraction | None:
    """Return the factor of a term that makes the claim right; None if there is none, or
    the claim is not linear in the term."""
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
    """Return the diagnosis that follows from the factor a term should have."""
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
    """Return a term's text, without parentheses if one of ``operators`` made it."""
    product = isinstance(term.node, Binary) and term.node.operator in operators
    return term.text if product else term.factor


def _turned(total: Subterm, term: Subterm) -> str:
    """Return the claim's text with the other sign in front of a term."""
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
    """Return the claim's text without a term."""
    node = total.node
    assert isinstance(node, Binary)
    if term.node is node.right:
        return total.written(total.part(node.left).text)
    kept = total.part(node.right)
    return total.written(_negative(kept) if node.operator == "-" else kept.text)


def lacking_term(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a missing term: a constant or a multiple of a part."""
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
    """Yield texts with their values: 1, parts of claim and program, local gradients."""
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


_EXPONENTS = ("2", "3", "4", "(-1)", "(-2)", "0.5", "(-0.5)", "1")
_TRANSPOSES = ("t", *TRANSPOSES)
_REDUCTIONS = ("sum", "mean")
_ALONG = ("", "dim=0, keepdim=True", "dim=1, keepdim=True")


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A claim with one subterm changed, and the mistake that this corrects."""

    text: str
    mistake: str


def wrong_subterm(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a wrong transpose, sum, exponent or name in a subterm."""
    for cause, rewritings in _KINDS.items():
        for found in rewritings(evidence):
            if not evidence.in_time():
                return None
            if evidence.is_right(found.text):
                return rewritten(cause, found.mistake, evidence.text, found.text)
    return None


def fitting_transpose(task: ClaimsTask, claim: Claim, seconds: float) -> str | None:
    """Return the text with one operand transposed that is the derivative, for a claim
    whose shapes do not fit; None if there is none."""
    until = thread_time() + seconds
    for found in _transposed(said_in(task, claim)):
        written = replace(claim, expression=found.text)
        samples = gather(task, written, MIN_SAMPLES, until)
        pairs = [(s.true, s.claimed) for s in samples]
        if len(pairs) == MIN_SAMPLES and all_same(pairs):
            return found.text.strip()
    return None


def _transposed(source: str) -> Iterator[Rewriting]:
    """Yield texts with a transpose added or removed, then with factors exchanged."""
    for subterm in subterms(source):
        yield from _transposes(subterm)
    for subterm in subterms(source):
        node = subterm.node
        if isinstance(node, Binary) and node.operator == "@":
            left, right = (
                subterm.part(part).factor for part in (node.left, node.right)
            )
            mistake = f"the factors of {subterm.text} are in the wrong order"
            yield Rewriting(subterm.written(f"{right} @ {left}"), mistake)


def _transposes(subterm: Subterm) -> Iterator[Rewriting]:
    node = subterm.node
    if isinstance(node, MethodCall) and node.method in _TRANSPOSES:
        bare = subterm.part(node.receiver).factor
    elif isinstance(node, Attribute) and node.name in _TRANSPOSES:
        bare = subterm.part(node.value).factor
    elif isinstance(node, Literal | Unary | Binary):
        return
    else:
        mistake = f"{subterm.text} should be transposed"
        yield Rewriting(subterm.written(f"{subterm.factor}.t()"), mistake)
        return
    yield Rewriting(subterm.written(bare), f"{subterm.text} should not be transposed")


def _sums(evidence: Evidence) -> Iterator[Rewriting]:
    """Yield texts with the sum or mean of a subterm added or removed."""
    for subterm in subterms(evidence.text):
        node = subterm.node
        if isinstance(node, Literal):
            continue
        if isinstance(node, MethodCall) and node.method in _REDUCTIONS:
            bare = subterm.part(node.receiver).factor
            mistake = f"the {node.method} of {bare} is too much"
            yield Rewriting(subterm.written(bare), mistake)
        for name in _REDUCTIONS:
            for how in _ALONG:
                text = f"{subterm.factor}.{name}({how})"
                mistake = f"{text} is meant, not {subterm.text}"
                yield Rewriting(subterm.written(text), mistake)


def _powers(evidence: Evidence) -> Iterator[Rewriting]:
    """Yield texts with the exponent of one subterm changed."""
    for subterm in subterms(evidence.text):
        node, base = subterm.node, subterm.factor
        if isinstance(node, Literal):
            continue
        if isinstance(node, Binary) and node.operator in _POWERS:
            base = subterm.part(node.left).factor
        for exponent in _EXPONENTS:
            mistake = f"{subterm.text} has the wrong exponent"
            yield Rewriting(subterm.written(f"{base}**{exponent}"), mistake)


def _names(evidence: Evidence) -> Iterator[Rewriting]:
    """Yield texts with one name replaced by that of a value of the same shape."""
    known = evidence.samples[0].variables
    for subterm in subterms(evidence.text):
        here = known.get(subterm.text) if isinstance(subterm.node, Name) else None
        if here is None:
            continue
        for name, value in known.items():
            if name != subterm.text and value.shape == here.shape:
                mistake = f"{subterm.text} stands where {name} belongs"
                yield Rewriting(subterm.written(name), mistake)


_KINDS: dict[str, Callable[[Evidence], Iterator[Rewriting]]] = {
    "transpose": lambda evidence: _transposed(evidence.text),
    "sum": _sums,
    "power": _powers,
    "name": _names,
}
"""Kinds of mistakes in a subterm, in the order in which they are tested."""
