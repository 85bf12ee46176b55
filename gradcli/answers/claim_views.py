"""Results of diagnosing a false claim: its slip, and the formulas that are right.

Diagnosis("factor", "a factor 2 is missing", "multiply by 2").repair
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A fault of a claim, with its repair.

    cause   the kind of slip, in one word
    text    the slip, in a sentence
    repair  the change that would make the claim right
    """

    cause: str
    text: str
    repair: str


@dataclass(frozen=True, slots=True)
class FormulaPiece:
    """A formula of a derivative, and the conditions that it holds under."""

    formula: str
    where: tuple[str, ...] = ()
