"""Axes: where a number stands in a picture."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Final

from ..ticks import reach, ticks

if TYPE_CHECKING:
    from ...engine.raw import Host

ROOM: Final = 0.06
"""Part of the height that is free above and below a curve."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Numbers from ``low`` to ``high`` at places from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float

    def at(self, number: float) -> float:
        """Return the place of a number on the axis."""
        share = (number - self.low) / ((self.high - self.low) or 1.0)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        return ticks(self.low, self.high)


def heights(numbers: Host) -> tuple[float, float]:
    """Return the ends of an axis for these numbers, a pole cut off; 0 to 1 of none."""
    low, high = reach(numbers.tolist())
    if (low, high) == (0.0, 1.0) and not any(map(isfinite, numbers.tolist())):
        return low, high
    span = (high - low) or abs(high) or 1.0
    return low - ROOM * span, high + ROOM * span
