"""What a hypothesis about a false claim is, and what it is tested on.

Invariant: a hypothesis says a diagnosis only if the claim, put right as it proposes,
agrees with the derivative at every sample; else None.

    wrong_sign(evidence).repair      # "multiply by -1"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import thread_time

from ..verify.claims.task import ClaimsTask
from ..verify.claims.text import Claim
from ..views.claims import Diagnosis
from .evidence import NO_VALUE, Sample, said_by, said_in
from .likeness import Array
from .limits import MAX_REPAIR_CHARACTERS


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the hypotheses are tested on.

    ``until`` is the reading of this thread's processor clock, in seconds, at which the
    work ends.
    """

    task: ClaimsTask
    claim: Claim
    samples: Sequence[Sample]
    until: float

    def in_time(self) -> bool:
        return thread_time() < self.until

    @property
    def text(self) -> str:
        """The text of the claim's other side."""
        return said_in(self.task, self.claim)

    def said(self, text: str, sample: Sample) -> Array | None:
        """The claim's numbers where it reads ``text``; None where it has none."""
        try:
            return said_by(self.task, self.claim, text, sample.inputs, sample.named)
        except NO_VALUE:
            # Written so, the claim need not even have a value.
            return None


def rewritten(cause: str, text: str, before: str, after: str) -> Diagnosis:
    """A mistake whose repair is the text put right: of several lines, the one that
    changes."""
    lines = zip(before.splitlines(), after.splitlines(), strict=False)
    changed = "; ".join(new.strip() for old, new in lines if new != old)
    short = len(changed) <= MAX_REPAIR_CHARACTERS
    repair = f"write {changed}" if short else "write that part otherwise"
    return Diagnosis(cause, text, repair)


Hypothesis = Callable[[Evidence], Diagnosis | None]
