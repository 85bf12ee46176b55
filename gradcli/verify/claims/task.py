"""Tasks on claims and their answers; this module computes and imports little.

Invariant: every object here comes back equal from its JSON, non-finite numbers
included.

    task = ClaimsTask("x**2", (Given("x", ()),), (read_claim("d/dx = 2*x"),))
    ClaimsTask.from_json(task.to_json()) == task
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from ..process.job import UNKNOWN, Answer, Told
from .text import Claim


@dataclass(frozen=True, slots=True)
class Given:
    """An input: its shape, and its numbers in C order or None if none were given."""

    name: str
    shape: tuple[int, ...]
    values: tuple[float, ...] | None = None

    @property
    def size(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True, slots=True)
class ClaimsTask(Told):
    """A program, its inputs, and what is claimed of it.

    other   the text of a second program, for claims that compare two programs
    points  the number of random points to look at
    prove   whether to attempt a proof
    """

    source: str
    inputs: tuple[Given, ...]
    claims: tuple[Claim, ...]
    of: str | None = None
    other: str | None = None
    points: int = 8
    seed: int = 0
    prove: bool = True
    seconds: float = 5.0

    def unanswered(self) -> Judgement:
        """Return the judgement in which every claim is still unknown."""
        return Judgement(tuple(Ruling() for _ in self.claims))


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A point where a claim is false.

    inputs   the name, shape and numbers, in C order, of each input
    entry    the position of the entry shown; None: shapes differ, so all are shown
    """

    inputs: tuple[tuple[str, tuple[int, ...], tuple[float, ...]], ...]
    entry: tuple[int, ...] | None
    claimed: tuple[float, ...]
    true: tuple[float, ...]
    claimed_shape: tuple[int, ...] = ()
    true_shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Ruling:
    """A verdict on one claim, with its evidence.

    points  the number of points at which the claim was compared with the truth
    """

    verdict: str = UNKNOWN
    points: int = 0
    counterexample: Counterexample | None = None
    note: str | None = None
    side_conditions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement(Answer):
    """The rulings on all claims, in order."""

    PARTS: ClassVar[str] = "rulings"

    rulings: tuple[Ruling, ...]
    seconds: float = 0.0
    done: bool = False
