"""A bar on a terminal that shows how far a long piece of work has come.

Invariant: nothing is drawn, and rich not imported, before the work has taken long
enough to be waited for, nor where no colour is wanted; when the work ends the bar is
gone without a trace. No thread is started: the work itself says when it moves on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, TextIO

from .writer import wants_colour

PATIENCE = 0.4
"""Seconds before a bar appears."""

PACE = 0.1
"""Seconds between two pictures."""


class Bar:
    """How many of ``total`` steps are done; ``stop`` takes the bar away."""

    def __init__(self, stream: TextIO, total: int) -> None:
        self._stream = stream
        self._total = total
        self._due = monotonic() + PATIENCE
        self._drawn: Any = None
        self._task: Any = None

    def at(self, step: int, told: Callable[[], str]) -> None:
        """``step`` steps are done; ``told`` says what is shown beside the bar."""
        now = monotonic()
        if now < self._due:
            return
        self._due = now + PACE
        if self._drawn is None:
            self._start()
        self._drawn.update(self._task, completed=step, told=told(), refresh=True)

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        self._drawn = Progress(
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[told]}", markup=False),
            TimeRemainingColumn(),
            console=Console(file=self._stream, legacy_windows=False),
            auto_refresh=False,
            transient=True,
        )
        self._task = self._drawn.add_task("", total=self._total, told="")
        self._drawn.start()

    def stop(self) -> None:
        """Take the bar away, if there is one."""
        drawn, self._drawn = self._drawn, None
        if drawn is not None:
            drawn.stop()


def wants_bar(
    stream: TextIO | None, environment: Mapping[str, str] | None = None
) -> bool:
    """Whether the stream is a terminal that may be drawn on."""
    wishes = os.environ if environment is None else environment
    return stream is not None and stream.isatty() and wants_colour(True, wishes)
