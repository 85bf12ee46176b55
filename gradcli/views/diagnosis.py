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

from ..symbolic.claims_task import ClaimsTask
from ..symbolic.claims_text import Claim
from .evidence import Sample, gather

POINTS = 12
"""Samples that a hypothesis must fit, all of them."""

LEAST = 3
"""Samples below which any constant would fit, so nothing is concluded."""


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


Hypothesis = Callable[[Evidence], Diagnosis | None]


def diagnose(task: ClaimsTask, claim: Claim, seconds: float) -> Diagnosis | None:
    """The simplest slip that explains the claim; None where none does."""
    from .slips import HYPOTHESES

    until = monotonic() + seconds
    samples = gather(task, claim, POINTS, until)
    if len(samples) < LEAST:
        return None
    evidence = Evidence(task, claim, samples, until)
    with np.errstate(all="ignore"):
        for hypothesis in HYPOTHESES:
            if not evidence.in_time():
                return None
            found = hypothesis(evidence)
            if found is not None:
                return found
    return None
