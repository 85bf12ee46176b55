"""Checks in this process, for commands of which no process is the matter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import Mock, patch

from gradcli.check.process import client
from gradcli.check.process.budget import Budget
from gradcli.check.process.worker import perform
from gradcli.cli.limits import MAX_MEMORY_BYTES
from gradcli.ops.checks import LIMIT

from .server import PATIENCE, patient


class CheckerHere(client.Checker):
    """A checker whose job is done where its results are asked for."""

    def __init__(self) -> None:
        super().__init__(Mock())

    def submit(self, job: Any) -> None:
        self._job = job

    def results(self, timeout: float | None = None) -> Iterator[object]:
        assert self._job is not None
        lines: list[str] = []
        perform(self._job.to_json(), lines.append, lambda seconds: None)
        last = self._job.unanswered()
        for line in lines:
            last = last.from_json(line)
            yield last

    def stop(self) -> None:
        """There is nothing to end."""


def unhurried(budget: Budget, seconds: float) -> None:
    """Begin a budget that has no end where most of the patience is left."""
    patient(budget, PATIENCE if seconds > PATIENCE / 2 else seconds)


@contextmanager
def checking_here() -> Iterator[None]:
    """Let commands check in this process, with as much time as it takes, and with as
    much memory for a result as a command has by itself."""
    start = classmethod(lambda cls: CheckerHere())
    allowed = LIMIT.bytes
    with (
        patch.object(client.Checker, "start", start),
        patch.object(Budget, "__init__", unhurried),
    ):
        LIMIT.set(MAX_MEMORY_BYTES)
        try:
            yield
        finally:
            LIMIT.set(allowed)
