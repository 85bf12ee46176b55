"""What is compared in a check: the numbers of a claim, and rows of true derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..numbers.balls import Ball
from .process.job import Input
from .subject import Place


@dataclass(frozen=True)
class Row:
    """The derivative of one contraction of the output by the chosen entries.

    engine  runs the engine's rules on the program's steps: steps by name
    """

    cotangent: tuple[float, ...]
    places: list[Place]
    found: list[Ball]
    engine: Callable[[], dict[str, Any]]

    @cached_property
    def steps(self) -> list[int] | None:
        """The step that the engine's rules give each entry; None: they do not run."""
        try:
            steps = self.engine()
            return [int(steps[name][at]) for name, at in self.places]
        except Exception:
            # Rules that do not run on balls leave the numbers to be looked at alone.
            return None


class Claimed:
    """The numbers of an input's claim; its length is theirs and that of the others.

    places  the positions of those that were handed over, in order; None: all were
    """

    def __init__(self, given: Input) -> None:
        claim = given.claim
        assert claim is not None
        self.numbers = np.frombuffer(claim.data, dtype=np.float64)
        self.places = None
        if claim.places is not None:
            self.places = np.frombuffer(claim.places, dtype=np.int64)
        self._count = claim.count

    def __len__(self) -> int:
        return self._count

    def at(self, position: int) -> float:
        """Return the number at a position that was handed over."""
        if self.places is not None:
            position = int(np.searchsorted(self.places, position))
        return float(self.numbers[position])
