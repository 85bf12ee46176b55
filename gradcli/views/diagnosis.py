"""Why a claim is false: hypotheses, each tested at several points at once.

Invariant: a diagnosis is never a guess: what it proposes makes the claim agree with the
derivative at every sampled point. The hypotheses are asked in order of how simple the
slip is, and the first that fits is the diagnosis.

    diagnose(task, claim, seconds=2).repair      # "multiply by 2"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic

import numpy as np

from ..verify.claims.points import about_a_point
from ..verify.claims.task import ClaimsTask
from ..verify.claims.text import Claim
from .evidence import Sample, gather, given_sample, said_by, said_in
from .likeness import Array

POINTS = 12
"""Samples that a hypothesis must fit, all of them."""

LEAST = 3
"""Samples below which any constant would fit, so nothing is concluded."""

LONGEST = 120
"""Characters of a claim that is worth writing out once more."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is wrong with a claim.

    cause   the kind of slip, in one word
    text    the slip, in a sentence
    repair  what would make the claim right
    """

    cause: str
    text: str
    repair: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the hypotheses are tested on; ``until`` is when the time is over."""

    task: ClaimsTask
    claim: Claim
    samples: Sequence[Sample]
    until: float

    def in_time(self) -> bool:
        return monotonic() < self.until

    @property
    def text(self) -> str:
        """The text of the claim's other side."""
        return said_in(self.task, self.claim)

    def said(self, text: str, sample: Sample) -> Array | None:
        """The claim's numbers where it reads ``text``; None where it has none."""
        try:
            return said_by(self.task, self.claim, text, sample.inputs, sample.named)
        except Exception:
            # Written so, the claim need not even have a value.
            return None


def rewritten(cause: str, text: str, before: str, after: str) -> Diagnosis:
    """A slip whose repair is the text as it should be: of several lines, the one that
    changes."""
    lines = zip(before.splitlines(), after.splitlines(), strict=False)
    changed = "; ".join(new.strip() for old, new in lines if new != old)
    short = len(changed) <= LONGEST
    repair = f"write {changed}" if short else "write that place otherwise"
    return Diagnosis(cause, text, repair)


Hypothesis = Callable[[Evidence], Diagnosis | None]


def diagnose(task: ClaimsTask, claim: Claim, seconds: float) -> Diagnosis | None:
    """The simplest slip that explains the claim; None where none does."""
    from .slips import HYPOTHESES, POINTED

    until = monotonic() + seconds
    if about_a_point(task, claim):
        samples, hypotheses = given_sample(task, claim), POINTED
    else:
        samples, hypotheses = gather(task, claim, POINTS, until), HYPOTHESES
        if len(samples) < LEAST:
            return None
    evidence = Evidence(task, claim, samples, until)
    with np.errstate(all="ignore"):
        for hypothesis in hypotheses if samples else ():
            if not evidence.in_time():
                return None
            found = hypothesis(evidence)
            if found is not None:
                return found
    return None
