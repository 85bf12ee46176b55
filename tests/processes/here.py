"""Commands and their checks in this process, where no process is the matter."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import Mock, patch

from gradcli.check.process import client
from gradcli.check.process.budget import Budget
from gradcli.check.process.client import perform
from gradcli.cli.app import run
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


OF_PROCESSES = {
    *("--table", "--sweep", "--cluster", "--debug", "--step", "--man"),
    *("repl", "run", "verify", "config", "tour", "-"),
}
"""Words of commands that want a process of their own."""


def fits_here(words: Sequence[str]) -> bool:
    """Return whether a command neither wants a process nor is bounded in what it may
    take, as this process is not."""
    bounded = any(word.startswith(("--max-", "--verify-")) for word in words)
    large = any("20000" in word for word in words)
    return not (bounded or large or OF_PROCESSES.intersection(words))


def run_here(
    words: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> tuple[int, str, str]:
    """Run a command line in a folder and an environment, and check in this process."""
    around = patch.dict(os.environ, environment, clear=True)
    with chdir(folder), around, checking_here():
        return ended(words)


def ended(words: Sequence[str]) -> tuple[int, str, str]:
    """Run a command line in this process; return its status and what it wrote to both
    streams."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        status = run([*words])
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]
    return status, *texts
