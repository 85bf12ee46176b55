"""A slip in one place of a claim: an operand transposed, a sum left out, an exponent, a
name taken for another.

Each place of the claim's text is written otherwise, one at a time, and the claim so
written is held against the derivative.

Invariant: a rewriting is proposed only if with it the claim equals the derivative at
every sample, and it differs from the claim in one place.

    wrong_place(evidence).text      # "W2 should be transposed"
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import thread_time
from typing import NamedTuple

from ..lang.syntax import Attribute, Binary, Literal, MethodCall, Name, Unary
from ..verify.claims.task import ClaimsTask
from ..verify.claims.text import Claim
from ..views.claims import Diagnosis
from .evidence import gather, said_in
from .hypothesis import LEAST, Evidence, rewritten
from .likeness import all_same, same
from .places import Place, places

_POWERS = ("**", "^")
_EXPONENTS = ("2", "3", "4", "(-1)", "(-2)", "0.5", "(-0.5)", "1")
_TRANSPOSES = ("t", "T", "mT", "mH", "H")
_SUMS = ("sum", "mean")
_ALONG = ("", "dim=0, keepdim=True", "dim=1, keepdim=True")


class Rewriting(NamedTuple):
    """The claim with one place written otherwise, and what that says of the slip."""

    text: str
    slip: str


def wrong_place(evidence: Evidence) -> Diagnosis | None:
    """A transpose, a sum, an exponent or a name that is wrong inside the claim."""
    for cause, rewritings in _KINDS.items():
        for found in rewritings(evidence):
            if not evidence.in_time():
                return None
            if _explains(evidence, found.text):
                return rewritten(cause, found.slip, evidence.text, found.text)
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
        samples = gather(task, replace(claim, expression=found.text), LEAST, until)
        if len(samples) == LEAST and all_same((s.true, s.claimed) for s in samples):
            return found.text.strip()
    return None


def _transposed(source: str) -> Iterator[Rewriting]:
    """An operand transposed, or no longer; then two factors in the other order."""
    for place in places(source):
        yield from _transposes(place)
    for place in places(source):
        node = place.node
        if isinstance(node, Binary) and node.operator == "@":
            left, right = (place.part(part).factor for part in (node.left, node.right))
            slip = f"the factors of {place.text} are in the wrong order"
            yield Rewriting(place.written(f"{right} @ {left}"), slip)


def _transposes(place: Place) -> Iterator[Rewriting]:
    node = place.node
    if isinstance(node, MethodCall) and node.method in _TRANSPOSES:
        bare = place.part(node.receiver).factor
    elif isinstance(node, Attribute) and node.name in _TRANSPOSES:
        bare = place.part(node.value).factor
    elif isinstance(node, Literal | Unary | Binary):
        return
    else:
        slip = f"{place.text} should be transposed"
        yield Rewriting(place.written(f"{place.factor}.t()"), slip)
        return
    yield Rewriting(place.written(bare), f"{place.text} should not be transposed")


def _sums(evidence: Evidence) -> Iterator[Rewriting]:
    """Entries added up somewhere, or no longer."""
    for place in places(evidence.text):
        node = place.node
        if isinstance(node, Literal):
            continue
        if isinstance(node, MethodCall) and node.method in _SUMS:
            bare = place.part(node.receiver).factor
            slip = f"the {node.method} of {bare} is too much"
            yield Rewriting(place.written(bare), slip)
        for name in _SUMS:
            for how in _ALONG:
                text = f"{place.factor}.{name}({how})"
                slip = f"{text} is meant, not {place.text}"
                yield Rewriting(place.written(text), slip)


def _powers(evidence: Evidence) -> Iterator[Rewriting]:
    """Another exponent somewhere."""
    for place in places(evidence.text):
        node, base = place.node, place.factor
        if isinstance(node, Literal):
            continue
        if isinstance(node, Binary) and node.operator in _POWERS:
            base = place.part(node.left).factor
        for exponent in _EXPONENTS:
            slip = f"{place.text} has the wrong exponent"
            yield Rewriting(place.written(f"{base}**{exponent}"), slip)


def _names(evidence: Evidence) -> Iterator[Rewriting]:
    """Another value of the program where one is named."""
    known = evidence.samples[0].variables
    for place in places(evidence.text):
        here = known.get(place.text) if isinstance(place.node, Name) else None
        if here is None:
            continue
        for name, value in known.items():
            if name != place.text and value.shape == here.shape:
                slip = f"{place.text} stands where {name} belongs"
                yield Rewriting(place.written(name), slip)


_KINDS: dict[str, Callable[[Evidence], Iterator[Rewriting]]] = {
    "transpose": lambda evidence: _transposed(evidence.text),
    "sum": _sums,
    "power": _powers,
    "name": _names,
}
"""Kinds of slips in a place, in the order in which they are looked for."""
