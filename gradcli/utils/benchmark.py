"""How long a statement takes, as PyTorch's ``utils.benchmark`` measures it.

Invariant: what is measured is run as it is, after a few runs that are not counted.

    timer = Timer("f(x)", globals={"f": f, "x": x})
    timer.timeit(100).mean                      # seconds of one run
    timer.blocked_autorange()                   # as many runs as take 0.2 s
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from dataclasses import dataclass
from textwrap import dedent, indent
from typing import Any

import numpy as np

from ..engine.absent import absent

__all__ = ["Measurement", "Timer"]

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
WARM = 100
"""One of so many runs, and two at least, is run before it counts."""

FILLED = 1000
"""A block of runs takes a thousandth of the whole time at least."""


@dataclass(frozen=True)
class Measurement:
    """Times of a statement.

    raw_times  seconds of each block of ``number_per_run`` runs
    title      what was measured, as it is shown
    """

    number_per_run: int
    raw_times: list[float]
    title: str
    stmt: str = ""
    setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    num_threads: int = 1

    @property
    def times(self) -> list[float]:
        """Seconds of one run, per block."""
        return [each / self.number_per_run for each in self.raw_times]

    @property
    def mean(self) -> float:
        """The mean of the times, seconds."""
        return float(np.mean(self.times))

    @property
    def median(self) -> float:
        """The median of the times, seconds."""
        return float(np.median(self.times))

    @property
    def iqr(self) -> float:
        """How far the middle half of the times spreads, seconds."""
        low, high = np.quantile(self.times, (0.25, 0.75))
        return float(high - low)

    def __repr__(self) -> str:
        count, runs = len(self.raw_times), self.number_per_run
        unit = next((u for u, s in UNITS.items() if self.median < 1000 * s), "s")
        scale = UNITS[unit]
        several = count > 1
        lines = [f"<{__name__}.Measurement object at {id(self):#x}>", self.title]
        named = "Median: " if several else ""
        lines.append(f"  {named}{self.median / scale:.2f} {unit}")
        if count > 3:
            low, high = (q / scale for q in np.quantile(self.times, (0.25, 0.75)))
            spread = f"{high - low:.2f} {unit} ({low:.2f} to {high:.2f})"
            lines.append(f"  IQR:    {spread}")
        of_each = " per measurement," if several else " ,"
        lines.append(
            f"  {count} measurement{'s' if several else ''}, {runs} runs{of_each} "
            f"{self.num_threads} thread{'s' if self.num_threads > 1 else ''}"
        )
        return "\n".join(lines)


class Timer:
    """Runs a statement again and again, and takes the time.

    Args:
        stmt: what is measured, as text.
        setup: text that is run once before.
        timer: gives the time, in seconds.
        globals: the names that the statement knows.
        label, sub_label, description: what is shown of it.
        num_threads: taken for PyTorch's sake, and shown.
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        timer: Callable[[], float] = timeit.default_timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        num_threads: int = 1,
    ) -> None:
        stmt, setup = dedent(stmt).strip(), dedent(setup).strip()
        self._timer = timeit.Timer(stmt, setup, timer, dict(globals or {}))
        self._said: dict[str, Any] = {
            "title": _title(stmt, setup, label, sub_label, description),
            "stmt": stmt, "setup": setup, "label": label, "sub_label": sub_label,
            "description": description, "num_threads": num_threads,
        }  # fmt: skip

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """Measure so many runs together."""
        self._timer.timeit(max(number // WARM, 2))
        return Measurement(number, [self._timer.timeit(number)], **self._said)

    def blocked_autorange(
        self, callback: Callable[[int, float], Any] | None = None,
        min_run_time: float = 0.2,
    ) -> Measurement:  # fmt: skip
        """Measure blocks of runs until they have taken so many seconds together.

        Args:
            callback: called with the count of runs and the seconds of each block.
            min_run_time: seconds.
        """
        self._timer.timeit(2)
        number = 1
        while self._timer.timeit(number) < min_run_time / FILLED:
            number *= 10
        times: list[float] = []
        while sum(times) < min_run_time:
            times.append(self._timer.timeit(number))
            if callback is not None:
                callback(number, times[-1])
        return Measurement(number, times, **self._said)


def _title(
    stmt: str, setup: str, label: str | None, sub_label: str | None, more: str | None
) -> str:
    """What was measured, as PyTorch shows it."""
    below = f": {sub_label}" if sub_label else ""
    if label is not None:
        lines = [label + below]
    elif "\n" in stmt:
        named = f" ({sub_label})" if sub_label else ""
        lines = [f"stmt:{named}\n{indent(stmt, '  ')}\n"]
    else:
        lines = [stmt + below]
    lines += [more] if more else []
    if setup not in ("", "pass"):
        several = "\n" in setup
        shown = f"setup:\n{indent(setup, '  ')}\n" if several else f"setup: {setup}"
        lines.append(shown)
    return "\n".join(lines)


def __getattr__(name: str) -> Any:
    raise absent(__name__, name, __all__)
