"""What was shown of a function in Python, as JSON and as text.

Invariant: everything stands in the proof; nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from ..lang.excerpt import printable
from .line import Line, Part, Role
from .verdicts import ROLES


def lines(shown: Sequence[str], verdict: str) -> Iterator[Line]:
    """The lines of a proof, the first with its verdict coloured."""
    head, *rest = map(printable, shown)
    before, found, behind = head.rpartition(verdict)
    role: Role = ROLES.get(verdict, "plain")
    parts: tuple[Part, ...] = ((before, "title"), (found, role), (behind, "plain"))
    yield Line(parts)
    for each in rest:
        yield Line(((each, "plain"),), hang="      ")


def counterexample(found: Any) -> Mapping[str, Any] | None:
    """A counterexample as an object."""
    if found is None:
        return None
    output = None
    if found.output is not None:
        output = {"number": found.output[0], "entry": list(found.output[1])}
    return {
        "output": output,
        "entry": list(found.entry),
        "given": _number(found.given),
        "true": _number(found.true),
    }


def proof_object(proof: Any) -> dict[str, object]:
    """A proof as an object."""
    return {
        "function": proof.function,
        "verdict": proof.verdict,
        "inputs": [_input(each) for each in proof.inputs],
        "double_backward": [_input(each) for each in proof.second],
        "faults": [{"kind": f.kind, "text": f.text} for f in proof.faults],
        "conditions": list(proof.conditions),
        "kinks": list(proof.kinks),
        "mistake": None
        if proof.mistake is None
        else {
            "cause": proof.mistake.cause,
            "text": proof.mistake.text,
            "repair": proof.mistake.repair,
        },
        "remarks": list(proof.remarks),
        "seconds": proof.seconds,
    }


def _input(each: Any) -> dict[str, object]:
    return {
        "name": each.name,
        "verdict": each.verdict,
        "max_error": None if each.max_error is None else _number(each.max_error),
        "note": each.note,
        "counterexample": counterexample(each.counterexample),
    }


def _number(value: float) -> float | str:
    return value if isfinite(value) else str(value)
