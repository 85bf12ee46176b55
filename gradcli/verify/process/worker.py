"""The checking process: one job in, verdicts out, line by line.

Invariant: it ends by itself. Its memory and its time on the processor are limited from
inside, it goes with whoever started it, who kills it at the deadline.

    echo "$JOB" | python -m gradcli.verify.process.worker
"""

from __future__ import annotations

import gc
import os
import select
import signal
import sys
from time import process_time
from typing import Final

MAX_MEMORY_BYTES: Final = 450_000_000
"""Bytes of address space that a job may take beyond those of the imports."""

SPARE_SECONDS: Final = 5

WAITING_SECONDS: Final = 0.1
"""Seconds that a job is waited for before SymPy is imported: numbers need none of it,
so a job that comes by then is certified first."""


def main(parent: int | None = None) -> None:
    """Read a job from standard input, write its verifications to standard output.

    Args:
        parent: the process that started this one in its main thread, and that this one
            ends with; None: whichever it is.
    """
    from ...lang.process import end_with

    end_with(os.getppid() if parent is None else parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # Nothing that an import makes is garbage; the search for it is a seventh of it.
    gc.disable()
    from .tasks import perform

    if not _is_awaited(WAITING_SECONDS):
        # What proofs need, and numbers do not, while there is nothing else to do.
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
        # Nobody listens any more; Python's own flush at exit must find no pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_awaited(seconds: float) -> bool:
    """Tell whether a job comes within some seconds."""
    try:
        return bool(select.select([sys.stdin], [], [], seconds)[0])
    except (OSError, ValueError):
        # Pipes that cannot be asked: SymPy is there when it is wanted.
        return False


def spare_the_collector() -> None:
    """Search for garbage seldom, and not in what is there by now.

    Terms are made by the hundred thousand and hold each other in no circles.
    """
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)


def _limit(seconds: float) -> None:
    """Bound memory and processor time, where the platform can."""
    from ...lang.process import bytes_taken, lowered

    lowered("CPU", int(process_time() + seconds) + SPARE_SECONDS)
    lowered("AS", bytes_taken("address_space") + MAX_MEMORY_BYTES)


if __name__ == "__main__":
    main()
