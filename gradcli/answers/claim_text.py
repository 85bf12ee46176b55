"""Mistakes in the text of a claim. In a sum: a term with a wrong sign or factor, a term
too many, a missing term. In a subterm: an operand transposed, a sum left out, a wrong
exponent, or one name in place of another.

Invariant: a repair makes the claim equal to the derivative at every sample, and changes
one term or one subterm.

    wrong_term(evidence).repair       # "write diag(s) - outer(s, s)"
    wrong_subterm(evidence).text      # "W2 should be transposed"
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import product
from time import thread_time

import numpy as np

from ..check.claims.text import Claim, ClaimsTask
from ..engine import Tensor
from ..engine.operators import TRANSPOSES
from ..lang.errors import Span
from ..lang.parser import parse
from ..lang.syntax import (
    Attribute,
    Binary,
    Call,
    Expression,
    Index,
    Keyword,
    Literal,
    MethodCall,
    Name,
    SyntaxNode,
    Unary,
    children,
)
from .chain_rule import UNSPOKEN, candidates, times
from .claim_views import Diagnosis
from .evidence import MIN_SAMPLES, Evidence, claimed_text, gather, rewritten
from .hypotheses import (
    CLOSE,
    Array,
    all_same,
    constant_factor,
    number_text,
    simple_number,
)
from .survey import largest

MAX_SUBTERMS = 60
"""Largest number of subterms of a text that are tried."""

_TIGHT = (Name, Literal, Call, MethodCall, Attribute, Index)


@dataclass(frozen=True, slots=True)
class Subterm:
    """An expression inside a text, by its syntax node."""

    source: str
    node: Expression

    @property
    def text(self) -> str:
        """Return the expression's text, without parentheses around it."""
        return self.source[self.node.span.start : self.node.span.end]

    @property
    def factor(self) -> str:
        """Return the expression's text so that it may stand beside any operator."""
        return self.text if isinstance(self.node, _TIGHT) else f"({self.text})"

    def part(self, node: Expression) -> Subterm:
        """Return a part of the expression as a subterm of the same text."""
        return Subterm(self.source, node)

    def written(self, new: str) -> str:
        """Return the whole text with ``new`` in place of the expression."""
        return spliced(self.source, self.node.span, new)


def subterms(source: str) -> Iterator[Subterm]:
    """Yield the subterms of a text that stand for values, each before its parts."""
    waiting: list[SyntaxNode] = [parse(source)]
    left = MAX_SUBTERMS
    while waiting and left:
        node = waiting.pop()
        if isinstance(node, Keyword):
            continue
        if isinstance(node, Expression):
            left -= 1
            yield Subterm(source, node)
        parts = children(node)
        waiting += reversed(parts[:1] if isinstance(node, Index) else parts)


def spliced(source: str, span: Span, new: str) -> str:
    """Return a text with ``new`` in place of the part at ``span``."""
    return source[: span.start] + new + source[span.end :]


_SIGNS = ("+", "-")
_PRODUCTS = ("*", "/", "@")
_POWERS = ("**", "^")


def wrong_term(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a term of a sum that has a wrong factor."""
    for total, term in _terms(evidence.text):
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
        a, b = (evidence.claimed(text, sample) for text in (without, twice))
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
    before, node = term.source, total.node
    assert isinstance(node, Binary)
    first, minus = term.node is node.left, node.operator == "-"
    if factor == -1:
        text = f"the term {term.text} has the wrong sign"
        other = spliced(before, node.op_span, "+" if minus else "-")
        after = term.written(_negative(term)) if first else other
        return rewritten("sign", text, before, after)
    if factor == 0:
        text = f"the term {term.text} does not belong there"
        kept = total.part(node.right if first else node.left)
        after = total.written(_negative(kept) if first and minus else kept.text)
        return rewritten("term", text, before, after)
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
    return f"{number}*{_without_parentheses(term, _PRODUCTS)}"


def _without_parentheses(term: Subterm, operators: Sequence[str]) -> str:
    """Return a term's text, without parentheses if one of ``operators`` made it."""
    product = isinstance(term.node, Binary) and term.node.operator in operators
    return term.text if product else term.factor


def _negative(term: Subterm) -> str:
    if isinstance(term.node, Unary) and term.node.operator == "-":
        return term.part(term.node.operand).factor
    return f"-{_without_parentheses(term, (*_PRODUCTS, *_POWERS))}"


def lacking_term(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a missing term: a constant or a multiple of a part."""
    if any(s.claimed.shape != s.true.shape for s in evidence.samples):
        return None
    gaps = [(sample.true - sample.claimed, np.ones(())) for sample in evidence.samples]
    for text, values in _addable(evidence):
        c = constant_factor(times(gaps, values))
        if c is not None and simple_number(c) is not None:
            number = number_text(abs(c))
            term = f"{number}*{text}" if number != "1" else text
            term = number if text == "1" else term
            if c > 0:
                return Diagnosis("term", f"the term {term} is missing", f"add {term}")
            told = f"{term} is added too much"
            return Diagnosis("term", told, f"subtract {term}")
    return None


def _addable(evidence: Evidence) -> Iterator[tuple[str, Sequence[Array]]]:
    """Yield texts with their values: 1, parts of claim and program, local gradients."""
    texts = {"1": None}
    if evidence.claim.expression is not None:
        for source in (evidence.text, evidence.task.source):
            texts |= {subterm.factor: None for subterm in subterms(source)}
    for text in texts:
        said = [evidence.claimed(text, sample) for sample in evidence.samples]
        values = [value for value in said if value is not None]
        if len(values) == len(said):
            yield text, values
    for each in candidates(evidence):
        if each.factor != UNSPOKEN:
            yield each.factor, each.values


_EXPONENTS = ("2", "3", "4", "(-1)", "(-2)", "0.5", "(-0.5)", "1")
_TRANSPOSES = ("t", *TRANSPOSES)
_REDUCTIONS = ("sum", "mean")
_ALONG = ("", "dim=0, keepdim=True", "dim=1, keepdim=True")


def wrong_subterm(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a wrong transpose, sum, exponent or name in a subterm."""
    names = "name", partial(_names, evidence.samples[0].variables)
    for cause, mistake, text in _rewritings(evidence.text, (*_KINDS, names)):
        if evidence.is_right(text):
            return rewritten(cause, mistake, evidence.text, text)
    return None


def fitting_transpose(task: ClaimsTask, claim: Claim, seconds: float) -> str | None:
    """Return the text with one operand transposed that is the derivative, for a claim
    whose shapes do not fit; None if there is none."""
    until = thread_time() + seconds
    kinds = [kind for kind in _KINDS if kind[0] == "transpose"]
    for _, _, text in _rewritings(claimed_text(task, claim), kinds):
        written = replace(claim, expression=text)
        samples = gather(task, written, MIN_SAMPLES, until)
        pairs = [(s.true, s.claimed) for s in samples]
        if len(pairs) == MIN_SAMPLES and all_same(pairs):
            return text.strip()
    return None


def _rewritings(
    source: str, kinds: Iterable[tuple[str, Change]]
) -> Iterator[tuple[str, str, str]]:
    """Yield texts with one subterm changed, kind by kind: the kind of the mistake that
    this corrects, the mistake, and the text."""
    for cause, change in kinds:
        for subterm in subterms(source):
            if not isinstance(subterm.node, Literal):
                for new, mistake in change(subterm):
                    yield cause, mistake, subterm.written(new)


Change = Callable[[Subterm], Iterator[tuple[str, str]]]
"""Type of a function from a subterm to texts in its place, each with the mistake."""


def _transposes(subterm: Subterm) -> Iterator[tuple[str, str]]:
    node = subterm.node
    bare: Expression | None = None
    if isinstance(node, MethodCall) and node.method in _TRANSPOSES:
        bare = node.receiver
    elif isinstance(node, Attribute) and node.name in _TRANSPOSES:
        bare = node.value
    if bare is not None:
        mistake = f"{subterm.text} should not be transposed"
        yield subterm.part(bare).factor, mistake
    elif not isinstance(node, Unary | Binary):
        yield f"{subterm.factor}.t()", f"{subterm.text} should be transposed"


def _exchanges(subterm: Subterm) -> Iterator[tuple[str, str]]:
    node = subterm.node
    if isinstance(node, Binary) and node.operator == "@":
        left, right = (subterm.part(part).factor for part in (node.left, node.right))
        mistake = f"the factors of {subterm.text} are in the wrong order"
        yield f"{right} @ {left}", mistake


def _sums(subterm: Subterm) -> Iterator[tuple[str, str]]:
    node = subterm.node
    if isinstance(node, MethodCall) and node.method in _REDUCTIONS:
        bare = subterm.part(node.receiver).factor
        yield bare, f"the {node.method} of {bare} is too much"
    for name, how in product(_REDUCTIONS, _ALONG):
        text = f"{subterm.factor}.{name}({how})"
        yield text, f"{text} is meant, not {subterm.text}"


def _powers(subterm: Subterm) -> Iterator[tuple[str, str]]:
    node, base = subterm.node, subterm.factor
    if isinstance(node, Binary) and node.operator in _POWERS:
        base = subterm.part(node.left).factor
    for exponent in _EXPONENTS:
        yield f"{base}**{exponent}", f"{subterm.text} has the wrong exponent"


def _names(known: Mapping[str, Tensor], subterm: Subterm) -> Iterator[tuple[str, str]]:
    """Yield the names of other values of the same shape in place of a name."""
    here = known.get(subterm.text) if isinstance(subterm.node, Name) else None
    for name, value in known.items():
        if here is not None and name != subterm.text and value.shape == here.shape:
            yield name, f"{subterm.text} stands where {name} belongs"


_KINDS: Sequence[tuple[str, Change]] = (
    ("transpose", _transposes),
    ("transpose", _exchanges),
    ("sum", _sums),
    ("power", _powers),
)
"""Kinds of mistakes in a subterm, in the order in which they are tested; the last one,
a wrong name, takes the names that there are."""
