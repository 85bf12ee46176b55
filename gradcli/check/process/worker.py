"""The checking process: it reads one job and writes verdicts, one JSON text a line.

Invariant: the process ends by itself. It limits its own memory and processor time, and
it ends with the process that started it.

    echo "$JOB" | python -m gradcli.check.process.worker
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from math import ceil
from time import process_time
from typing import Final

MAX_MEMORY_BYTES: Final = 450_000_000
"""Address space, in bytes, that a job may take beyond that of the imports."""

SPARE_SECONDS: Final = 2
"""Seconds of processor time beyond a job's own after which the system ends the process:
a call during which Python sees no signal may take all of them."""

WAITING_SECONDS: Final = 0.1
"""Seconds to wait for a job before SymPy is imported: numbers are certified without
SymPy, so a job that comes early is certified first."""


def main(parent: int | None = None) -> None:
    """Read a job from standard input and write its verifications to standard output;
    end with the process ``parent``, or with the one that started this one."""
    from ...lang.process import end_with
    from .budget import load_sympy

    end_with(os.getppid() if parent is None else parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # Imports make no garbage, and looking for it takes a seventh of their time.
    gc.disable()
    # This import takes longer than most tasks, so it comes before there is a task.
    from .. import verify  # noqa: F401

    # Where pipes cannot be polled, SymPy is imported when it is needed.
    with suppress(OSError, ValueError):
        if not select.select([sys.stdin], [], [], WAITING_SECONDS)[0]:
            # Proofs need this import; it is made now, while there is nothing to do.
            load_sympy()
            from .. import whole  # noqa: F401
    spare_the_collector()
    gc.enable()
    line = sys.stdin.readline()
    if not line:
        return

    def report(answer: str) -> None:
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()

    try:
        perform(line, report, _limit)
    except BrokenPipeError:
        # The reader is gone; Python's own flush at exit must find no broken pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def spare_the_collector() -> None:
    """Make Python look for garbage rarely, and only among objects made from now on:
    terms are made by the hundred thousand, and no cycles of references arise."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)


def _limit(seconds: float) -> None:
    from ...lang.process import bytes_taken, lowered

    lowered("CPU", ceil(process_time() + seconds) + SPARE_SECONDS)
    lowered("AS", bytes_taken("address_space") + MAX_MEMORY_BYTES)


def perform(
    text: str, report: Callable[[str], None], limit: Callable[[float], None]
) -> None:
    """Do one `Job` or `ClaimsTask`, given as JSON, and report its answers, one text
    each, the last with ``done`` set; ``limit`` is told the seconds before work
    begins."""
    if "claims" in json.loads(text):
        from ..claims.judge import judge
        from ..claims.text import ClaimsTask

        task = ClaimsTask.from_json(text)
        limit(task.seconds)
        last = judge(task, lambda step: report(step.to_json()))
        report(last.to_json())
        return
    from ..subject import program_of
    from ..verify import verify
    from .job import Job

    job = Job.from_json(text)
    limit(job.seconds)
    checked = verify(job, program_of(job), lambda step: report(step.to_json()))
    report(checked.to_json())


if __name__ == "__main__":
    main()
