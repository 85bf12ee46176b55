"""Why a claim is false: hypotheses, each tested at several points at once.

Invariant: a diagnosis is never a guess: what it proposes makes the claim agree with the
derivative at every sampled point. The hypotheses are asked in order of how simple the
mistake is, and the first that fits is the diagnosis.

    diagnose(task, claim, seconds=2).repair      # "multiply by 2"
"""

from __future__ import annotations

from time import thread_time

import numpy as np

from ..verify.claims.points import about_a_point
from ..verify.claims.task import ClaimsTask
from ..verify.claims.text import Claim
from ..views.claims import Diagnosis
from .evidence import gather, given_sample
from .hypothesis import Evidence
from .limits import MIN_SAMPLES, SAMPLES
from .mistakes import HYPOTHESES, POINTED


def diagnose(task: ClaimsTask, claim: Claim, seconds: float) -> Diagnosis | None:
    """The simplest mistake that explains the claim; None where none does.

    ``seconds`` are of this thread's processor time.
    """
    until = thread_time() + seconds
    if about_a_point(task, claim):
        samples, hypotheses = given_sample(task, claim), POINTED
    else:
        samples, hypotheses = gather(task, claim, SAMPLES, until), HYPOTHESES
        if len(samples) < MIN_SAMPLES:
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
