"""Time limits: a deadline for the whole work, and slices of it for single attempts.

Seconds are this process's own processor time, so that other processes change no
result. The import of SymPy is not counted.

Invariant: what runs inside `Budget.slice` is ended at the slice's end if it runs in
the main thread and the platform has a timer; elsewhere `Budget.check` ends it.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil, isinf
from time import monotonic, process_time
from types import FrameType
from typing import Final

from ...lang.process import lowered, on_unraisable, raised

AGAIN: Final = 0.2
"""Seconds until the alarm rings again, in case a library has caught the first one."""

AT_ONCE: Final = 1e-3
"""Seconds until the alarm rings again after one that rang in a finalizer."""

PATIENCE: Final = 20
"""Seconds of waiting that count as one second of work, so that work which only waits
ends, too."""

IMPORT_SECONDS: Final = 120
"""Largest number of seconds of processor time that the import of SymPy may take."""


class OutOfTime(BaseException):
    """The end of the time; it is no `Exception`, so that no library catches it."""


class _Clock:
    """The seconds that this process has existed and worked, without the time for which
    the clock was stopped."""

    def __init__(self) -> None:
        self._left_out = 0.0, 0.0
        self._stopped_at: tuple[float, float] | None = None

    def read(self) -> tuple[float, float]:
        passed, worked = self._left_out
        return self._stopped_at or (monotonic() - passed, process_time() - worked)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        self._stopped_at = passed, worked = self.read()
        try:
            yield
        finally:
            self._left_out = monotonic() - passed, process_time() - worked
            self._stopped_at = None


_clock: Final = _Clock()


def load_sympy() -> None:
    """Import SymPy if it is not there yet. No budget counts the time that this takes,
    nor does this process's limit on processor time."""
    if "sympy" in sys.modules:
        return
    limit, start = raised("CPU", IMPORT_SECONDS), process_time()
    with _clock.stopped():
        import sympy  # noqa: F401
    if limit is not None:
        lowered("CPU", limit + ceil(process_time() - start))


class Budget:
    """A span of work from now, in seconds; an infinite one is no limit: the work is
    bounded by sizes alone, and its result does not depend on the clock."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._start = _clock.read()

    @property
    def spent(self) -> float:
        """Seconds of processor time since the start, but no more than have passed,
        because threads may share the work."""
        now, start = _clock.read(), self._start
        passed, worked = now[0] - start[0], now[1] - start[1]
        return max(min(passed, worked), passed / PATIENCE)

    @property
    def left(self) -> float:
        return self.seconds - self.spent

    def check(self) -> None:
        if self.left <= 0:
            raise OutOfTime

    @contextmanager
    def slice(self, seconds: float) -> Iterator[None]:
        """Limit a block to ``seconds``, and to the time that is left of the whole;
        raise `OutOfTime` inside it when they are over."""
        self.check()
        main = threading.current_thread() is threading.main_thread()
        if isinf(self.seconds) or not (main and hasattr(signal, "setitimer")):
            yield
            return
        own = Budget(max(AT_ONCE, min(seconds, self.left)))

        def ring(number: int, frame: FrameType | None) -> None:
            own.check()
            # Other processes had the processor meanwhile, or SymPy was imported.
            signal.setitimer(signal.ITIMER_REAL, max(AT_ONCE, own.left), AGAIN)

        before = signal.signal(signal.SIGALRM, ring)
        outer, _ = signal.setitimer(signal.ITIMER_REAL, own.seconds, AGAIN)
        try:
            with on_unraisable(OutOfTime, _ring_again):
                try:
                    yield
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
        finally:
            # An alarm may have rung while the line above ran.
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            # The alarm of the outer block itself sees how much of its time is left.
            rest = max(AT_ONCE, outer - own.spent) if outer else 0
            signal.setitimer(signal.ITIMER_REAL, rest, AGAIN if rest else 0)


def _ring_again() -> None:
    signal.setitimer(signal.ITIMER_REAL, AT_ONCE, AGAIN)
