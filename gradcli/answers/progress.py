"""A bar on a terminal that shows the progress of a long piece of work.

Invariants: nothing is shown, and rich not imported, before the work has taken a while,
nor where no colour is wanted; when the work ends the bar disappears. No thread is
started: the work calls the bar at its steps.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from time import monotonic
from typing import Any, TextIO

from .theme import for_rich
from .writer import wants_colour

PATIENCE = 0.4
"""Time before a bar appears, in seconds."""

PACE = 0.1
"""Time between two updates, in seconds."""


class Bar:
    """A bar for the finished part of ``total`` steps; None: the number is unknown."""

    def __init__(self, stream: TextIO, total: int | None) -> None:
        self._stream = stream
        self._total = total
        self._due = monotonic() + PATIENCE
        self._shown: Any = None
        self._task: Any = None

    def at(self, step: int, beside: Callable[[], str]) -> None:
        """Show that ``step`` steps are done; ``beside`` returns the text beside the
        bar."""
        now = monotonic()
        if now < self._due:
            return
        self._due = now + PACE
        if self._shown is None:
            self._start()
        self._shown.update(self._task, completed=step, beside=beside(), refresh=True)

    def _start(self) -> None:
        from rich import progress
        from rich.console import Console

        self._shown = progress.Progress(
            progress.BarColumn(bar_width=24),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.fields[beside]}", markup=False),
            progress.TimeRemainingColumn(),
            console=Console(file=self._stream, legacy_windows=False, theme=for_rich()),
            auto_refresh=False,
            transient=True,
        )
        self._task = self._shown.add_task("", total=self._total, beside="")
        self._shown.start()

    def stop(self) -> None:
        """Remove the bar, if there is one."""
        shown, self._shown = self._shown, None
        if shown is not None:
            shown.stop()


def wants_bar(stream: TextIO | None) -> bool:
    """Tell whether the stream is a terminal that a bar may be shown on."""
    return stream is not None and stream.isatty() and wants_colour(True, os.environ)
