"""Time limits: a deadline for the whole work, and slices of it for single attempts.

Invariant: what runs inside `Budget.slice` is ended at the slice's end if it runs in
the main thread and the platform has a timer; elsewhere `Budget.check` ends it.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import isinf
from time import monotonic
from types import FrameType

from ...lang.process import heard

AGAIN = 0.2
"""Seconds until the alarm rings again, in case a library has caught the first one."""

AT_ONCE = 1e-3
"""Seconds until the alarm rings again after one that rang in a finalizer."""


class OutOfTime(BaseException):
    """The end of the time; it is no `Exception`, so that no library catches it."""


class Budget:
    """A span of time from now, in seconds of wall time; an infinite one is no limit:
    the work is bounded by sizes alone, and its result does not depend on the clock."""

    def __init__(self, seconds: float) -> None:
        self.start = monotonic()
        self.end = self.start + seconds

    @property
    def spent(self) -> float:
        return monotonic() - self.start

    @property
    def left(self) -> float:
        return self.end - monotonic()

    def check(self) -> None:
        if self.left <= 0:
            raise OutOfTime

    @contextmanager
    def slice(self, seconds: float) -> Iterator[None]:
        """Limit a block to ``seconds``, and to the time that is left of the whole;
        raise `OutOfTime` inside it when they are over."""
        self.check()
        main = threading.current_thread() is threading.main_thread()
        if isinf(self.end) or not (main and hasattr(signal, "setitimer")):
            yield
            return
        began = monotonic()
        before = signal.signal(signal.SIGALRM, _ring)
        asked = max(1e-3, min(seconds, self.left))
        outer, _ = signal.setitimer(signal.ITIMER_REAL, asked, AGAIN)
        try:
            with heard(OutOfTime, _ring_again):
                try:
                    yield
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
        finally:
            # An alarm may have rung while the line above ran.
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            rest = max(1e-3, outer - (monotonic() - began)) if outer else 0
            signal.setitimer(signal.ITIMER_REAL, rest, AGAIN if rest else 0)


def _ring_again() -> None:
    signal.setitimer(signal.ITIMER_REAL, AT_ONCE, AGAIN)


def _ring(number: int, frame: FrameType | None) -> None:
    raise OutOfTime
