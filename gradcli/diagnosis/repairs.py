"""A mistake in one subterm of a claim: an operand transposed, a sum left out, an
exponent, a name taken for another.

Each subterm of the claim's text is written otherwise, one at a time, and the claim so
written is compared with the derivative.

Invariant: a rewriting is proposed only if with it the claim equals the derivative at
every sample, and it differs from the claim in one subterm.

    wrong_subterm(evidence).text      # "W2 should be transposed"
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import thread_time
from typing import NamedTuple

from ..engine.operators import TRANSPOSES
from ..lang.syntax import Attribute, Binary, Literal, MethodCall, Name, Unary
from ..verify.claims.task import ClaimsTask
from ..verify.claims.text import Claim
from ..views.claims import Diagnosis
from .evidence import gather, said_in
from .hypothesis import Evidence, rewritten
from .likeness import all_same, same
from .limits import MIN_SAMPLES
from .subterms import Subterm, subterms

_POWERS = ("**", "^")
_EXPONENTS = ("2", "3", "4", "(-1)", "(-2)", "0.5", "(-0.5)", "1")
_TRANSPOSES = ("t", *TRANSPOSES)
_SUMS = ("sum", "mean")
_ALONG = ("", "dim=0, keepdim=True", "dim=1, keepdim=True")


class Rewriting(NamedTuple):
    """The claim with one subterm written otherwise, and the mistake that this mends."""

    text: str
    mistake: str


def wrong_subterm(evidence: Evidence) -> Diagnosis | None:
    """A transpose, a sum, an exponent or a name that is wrong inside the claim."""
    for cause, rewritings in _KINDS.items():
        for found in rewritings(evidence):
            if not evidence.in_time():
                return None
            if _explains(evidence, found.text):
                return rewritten(cause, found.mistake, evidence.text, found.text)
    return None


def _explains(evidence: Evidence, text: str) -> bool:
    for sample in evidence.samples:
        found = evidence.said(text, sample)
        if found is None or not same(found, sample.true):
            return False
    return True


def fitting_transpose(task: ClaimsTask, claim: Claim, seconds: float) -> str | None:
    """The expression with one operand transposed, if that is the derivative; for a
    claim that has no value because its shapes do not fit."""
    until = thread_time() + seconds
    for found in _transposed(said_in(task, claim)):
        written = replace(claim, expression=found.text)
        samples = gather(task, written, MIN_SAMPLES, until)
        pairs = [(s.true, s.claimed) for s in samples]
        if len(pairs) == MIN_SAMPLES and all_same(pairs):
            return found.text.strip()
    return None


def _transposed(source: str) -> Iterator[Rewriting]:
    """An operand transposed, or no longer; then two factors in the other order."""
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
    """Entries added up somewhere, or no longer."""
    for subterm in subterms(evidence.text):
        node = subterm.node
        if isinstance(node, Literal):
            continue
        if isinstance(node, MethodCall) and node.method in _SUMS:
            bare = subterm.part(node.receiver).factor
            mistake = f"the {node.method} of {bare} is too much"
            yield Rewriting(subterm.written(bare), mistake)
        for name in _SUMS:
            for how in _ALONG:
                text = f"{subterm.factor}.{name}({how})"
                mistake = f"{text} is meant, not {subterm.text}"
                yield Rewriting(subterm.written(text), mistake)


def _powers(evidence: Evidence) -> Iterator[Rewriting]:
    """Another exponent somewhere."""
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
    """Another value of the program where one is named."""
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
"""Kinds of mistakes in a subterm, in the order in which they are looked for."""
