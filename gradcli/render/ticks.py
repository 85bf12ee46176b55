"""Round numbers between two ends, for axes and for lines of equal value.

ticks(-3.0, 3.0)        # [-3.0, -2.0, ..., 3.0]
"""

from __future__ import annotations

from math import ceil, floor, isfinite, log10
from typing import Final

PACES: Final = (1.0, 2.0, 2.5, 5.0, 10.0, 20.0)
"""Distances of round numbers, times powers of ten; the last is wide enough always."""


def ticks(low: float, high: float, most: int = 7) -> list[float]:
    """At most so many round numbers from ``low`` to ``high``."""
    span = high - low
    if not (isfinite(span) and span > 0):
        return [low]
    power = 10.0 ** floor(log10(span / most))
    pace = next(p * power for p in PACES if span / (p * power) <= most - 1 + 1e-9)
    first, last = ceil(low / pace - 1e-9), floor(high / pace + 1e-9)
    return [n * pace for n in range(first, last + 1)]
