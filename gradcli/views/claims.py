"""Claims with what was found about them, ready to be shown.

Invariant: nothing is computed here but the nesting of numbers.

    claim_view(claim, ruling, diagnosis)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ..verify.claims.task import Counterexample, Ruling
from ..verify.claims.text import Claim
from .numbers import Plain, nested


@dataclass(frozen=True, slots=True)
class CounterexampleView:
    """A point where a claim is false; ``entry`` is None where the shapes differ, and
    then whole arrays stand in ``claimed`` and ``true`` (None: too large to show)."""

    inputs: Mapping[str, Plain]
    entry: tuple[int, ...] | None
    claimed: Plain | None
    true: Plain | None


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
class ClaimView:
    """One claim, its verdict, and what is wrong with it."""

    text: str
    label: str
    verdict: str
    points: int
    counterexample: CounterexampleView | None
    diagnosis: Diagnosis | None
    note: str | None
    side_conditions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClaimsView:
    """All claims on a program."""

    program: str
    other: str | None
    seed: int
    seconds: float
    claims: tuple[ClaimView, ...]

    @property
    def verdict(self) -> str:
        """The verdict of the whole: that of its weakest claim."""
        from ..verify.process.job import weakest

        return weakest([claim.verdict for claim in self.claims])


def claim_view(claim: Claim, ruling: Ruling, diagnosis: Diagnosis | None) -> ClaimView:
    """One claim as it is shown."""
    found = ruling.counterexample
    return ClaimView(
        text=claim.text.strip(),
        label=claim.label,
        verdict=ruling.verdict,
        points=ruling.points,
        counterexample=None if found is None else _counterexample(found),
        diagnosis=diagnosis,
        note=ruling.note,
        side_conditions=ruling.side_conditions,
    )


def _counterexample(found: Counterexample) -> CounterexampleView:
    inputs = {name: nested(values, shape) for name, shape, values in found.inputs}
    if found.entry is not None:
        return CounterexampleView(inputs, found.entry, found.claimed[0], found.true[0])
    return CounterexampleView(
        inputs,
        None,
        _whole(found.claimed, found.claimed_shape),
        _whole(found.true, found.true_shape),
    )


def _whole(values: Sequence[float], shape: Sequence[int]) -> Plain | None:
    return nested(values, shape) if len(values) == prod(shape) else None
