"""Axes: where a number stands in a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ..ticks import ticks

if TYPE_CHECKING:
    from ...engine.raw import Host

STEEP: Final = 8.0
"""How many times as high as its middle half a curve may be drawn: beyond it is cut,
so that a pole leaves something to be seen."""

ROOM: Final = 0.06
"""Of the height, free above and below a curve."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Numbers from ``low`` to ``high`` at places from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float

    def at(self, number: float) -> float:
        """Where a number stands."""
        share = (number - self.low) / ((self.high - self.low) or 1.0)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        return ticks(self.low, self.high)


def heights(numbers: Host) -> tuple[float, float]:
    """The ends of an axis for these numbers, a pole cut off; 0 to 1 of none."""
    known = numbers[np.isfinite(numbers)]
    if not known.size:
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    first, third = np.quantile(known, (0.25, 0.75))
    middle = float(third - first)
    if middle > 0:
        low = max(low, float(first) - STEEP * middle)
        high = min(high, float(third) + STEEP * middle)
    span = (high - low) or abs(high) or 1.0
    return low - ROOM * span, high + ROOM * span
