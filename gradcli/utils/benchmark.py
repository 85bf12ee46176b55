"""Measurement of the time that a statement takes, as in PyTorch's ``utils.benchmark``.

timer = Timer("f(x)", globals={"f": f, "x": x})
timer.timeit(100).mean                      # seconds of one run
timer.blocked_autorange()                   # runs for 0.2 s in all
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean, median
from textwrap import dedent
from typing import Any

__all__ = ["Measurement", "Timer"]
__dir__ = __all__.copy

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
"""Length of each unit of time, in seconds."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """The times of blocks of ``number_per_run`` runs of a statement, in seconds."""

    title: str
    number_per_run: int
    raw_times: list[float]

    @property
    def times(self) -> list[float]:
        """The time of one run in each block, in seconds."""
        return [each / self.number_per_run for each in self.raw_times]

    @property
    def mean(self) -> float:
        """The mean time of one run over all blocks, in seconds."""
        return fmean(self.times)

    @property
    def median(self) -> float:
        """The median time of one run over all blocks, in seconds."""
        return median(self.times)

    def __repr__(self) -> str:
        unit = next((u for u, s in UNITS.items() if self.median < 1000 * s), "s")
        return (
            f"{self.title}\n  Median: {self.median / UNITS[unit]:.2f} {unit}\n"
            f"  {len(self.raw_times)} blocks of {self.number_per_run} runs"
        )


class Timer:
    """A timer that runs a statement repeatedly and measures how long the runs take.

    Args:
        stmt, setup: the statement, and what is run once before each measurement.
        timer: a function that returns the current time, in seconds.
        globals: the values of the names that the statement uses.
        label: a text that is shown in place of the statement.
        options: further labels and counts of threads; they change nothing.
    """

    def __init__(
        self, stmt: str = "pass", setup: str = "pass",
        timer: Callable[[], float] = timeit.default_timer,
        globals: dict[str, Any] | None = None, label: str | None = None,
        **options: object,
    ) -> None:  # fmt: skip
        stmt, setup = dedent(stmt).strip(), dedent(setup).strip()
        self._timer = timeit.Timer(stmt, setup, timer, dict(globals or {}))
        self._title = label or stmt

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """Return the time of one block of ``number`` runs, after a few untimed runs."""
        self._timer.timeit(max(number // 100, 2))
        return Measurement(self._title, number, [self._timer.timeit(number)])

    def blocked_autorange(self, min_run_time: float = 0.2) -> Measurement:
        """Return the times of blocks of runs that together take ``min_run_time``."""
        self._timer.timeit(2)
        number = 1
        while self._timer.timeit(number) < min_run_time / 1000:
            number *= 10
        times: list[float] = []
        while sum(times) < min_run_time:
            times.append(self._timer.timeit(number))
        return Measurement(self._title, number, times)
