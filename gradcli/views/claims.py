"""Claims with what was found about them, ready to be shown.

Invariant: nothing is computed here but the nesting of numbers.

    Judged(claim, ruling, diagnosis).counterexample
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ..lang.nested import nested
from ..verify.claims.task import Counterexample, Ruling
from ..verify.claims.text import Claim
from ..verify.process.job import weakest
from .numbers import Plain


@dataclass(frozen=True, slots=True)
class CounterexampleView:
    """A point where a claim is false; ``entry`` is None where the shapes differ, and
    then arrays stand in ``claimed`` and ``true`` (None: too large to show)."""

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
class Piece:
    """A formula of a derivative, and the conditions that it holds under."""

    formula: str
    where: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim, what was found about it, and of a false one what is wrong with it.

    pieces  the derivative that it should have been, a formula for each part of the
            domain that was met; empty: not known
    """

    claim: Claim
    ruling: Ruling
    diagnosis: Diagnosis | None
    pieces: tuple[Piece, ...] = ()

    @property
    def right(self) -> str | None:
        """The one formula of the derivative, if no other part of the domain was met
        where it has another."""
        formulas = {piece.formula for piece in self.pieces}
        return formulas.pop() if len(formulas) == 1 else None

    @property
    def counterexample(self) -> CounterexampleView | None:
        """The counterexample in nested numbers, if there is one."""
        found = self.ruling.counterexample
        return None if found is None else _counterexample(found)


@dataclass(frozen=True, slots=True)
class ClaimsView:
    """All claims on a program."""

    program: str
    other: str | None
    seed: int
    seconds: float
    claims: tuple[Judged, ...]

    @property
    def verdicts(self) -> tuple[str, ...]:
        """That of each claim."""
        return tuple(each.ruling.verdict for each in self.claims)

    @property
    def verdict(self) -> str:
        """The verdict on all of them: that of the weakest claim."""
        return weakest(self.verdicts)


def _counterexample(found: Counterexample) -> CounterexampleView:
    inputs = {name: nested(values, shape) for name, shape, values in found.inputs}
    if found.entry is not None:
        return CounterexampleView(inputs, found.entry, found.claimed[0], found.true[0])
    return CounterexampleView(
        inputs,
        None,
        _array(found.claimed, found.claimed_shape),
        _array(found.true, found.true_shape),
    )


def _array(values: Sequence[float], shape: Sequence[int]) -> Plain | None:
    """The array, unless its numbers were left out."""
    return nested(values, shape) if len(values) == prod(shape) else None
