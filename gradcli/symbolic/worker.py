"""The checking process: one job in, verdicts out, line by line.

Invariant: it ends by itself. Its memory and its time on the processor are limited from
inside, it stops when nobody reads, and whoever started it kills it at the deadline.

    echo "$JOB" | python -m gradcli.symbolic.worker
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import Final

MEMORY: Final = 2 << 30
"""Bytes of address space beyond what the imports have taken."""

SPARE_SECONDS: Final = 5


def main() -> None:
    """Read a job from standard input, write its verifications to standard output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Nothing that an import makes is garbage; the search for it is a seventh of it.
    gc.disable()
    from .tasks import perform

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


def spare_the_collector() -> None:
    """Search for garbage seldom, and not in what is there by now.

    Terms are made by the hundred thousand and hold each other in no circles.
    """
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)


def _limit(seconds: float) -> None:
    """Bound memory and processor time, where the platform can."""
    try:
        import resource
    except ImportError:
        return
    usage = resource.getrusage(resource.RUSAGE_SELF)
    used = usage.ru_utime + usage.ru_stime
    _lower(resource.RLIMIT_CPU, int(used + seconds) + SPARE_SECONDS)
    _lower(resource.RLIMIT_AS, _address_space() + MEMORY)


def _lower(which: int, limit: int) -> None:
    import resource

    _, hard = resource.getrlimit(which)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    try:
        resource.setrlimit(which, (limit, hard))
    except (ValueError, OSError):
        # A system that knows the limit but refuses to set it: the parent's is left.
        return


def _address_space() -> int:
    """Bytes that the process has mapped by now; 0 where that cannot be read."""
    try:
        with open("/proc/self/statm") as status:
            return int(status.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


if __name__ == "__main__":
    main()
