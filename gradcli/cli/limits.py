"""What a run may take, and what ends it when it takes more.

Invariants: seconds are those in which the processor works for this process, so that
waiting for an input, for a reader or for the check costs nothing, and a machine that
is busy with others changes no result; they are not asked for where steps are run. A
thread sleeps until they can be over, and ends the process where it is, with the place
in the program. Bytes are bounded by the system, which makes of too many a
`MemoryError` where they are asked for. What is printed is printed to its end.

    with kept(Limits(MAX_SECONDS, MAX_MEMORY_BYTES)):
        ...
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic, process_time
from typing import TYPE_CHECKING, Any, Final

from ..lang.errors import MORE_SECONDS, ProgramError
from ..lang.process import bytes_taken, lowered, relief, restore
from . import app

if TYPE_CHECKING:
    from threading import Event

MAX_SECONDS: Final = 8.0
"""Of the processor, for everything but printing and the check."""

MAX_MEMORY_BYTES: Final = 450_000_000
"""Of memory, for the program and its derivatives."""

MAX_SETTABLE_SECONDS: Final = 86_400.0
"""A day."""

MIN_MEMORY_BYTES: Final = 100_000_000
"""Less would not hold the libraries."""

MAX_DIGITS: Final = 1000
"""Of a number that is shown with more digits than it has as a float."""

SPARE_BYTES: Final = 4 << 20
"""Kept back to say with what is wrong when there is no more memory."""

SHORTEST_SLEEP_SECONDS: Final = 0.05

_SIZE = re.compile(r"\s*([0-9.]+(?:[eE]\+?[0-9]+)?)\s*(?:([kKMGT])(i?))?B?\s*")
_POWERS: Final = {None: 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4}


def bytes_of(text: str | int) -> int:
    """The bytes that a size means: ``450MB``, ``2GiB``, ``1e9``.

    Raises:
        ProgramError: the text is no size.
    """
    found = _SIZE.fullmatch(str(text))
    try:
        assert found is not None
        number, prefix, binary = found.groups()
        return int(float(number) * (1024 if binary else 1000) ** _POWERS[prefix])
    except (AssertionError, ValueError, OverflowError):
        raise ProgramError(
            "E595", f"{text!r} is not a size in bytes", hint="write it as 500MB or 2GiB"
        ) from None


@dataclass(frozen=True, slots=True)
class Limits:
    """What was allowed on the command line."""

    seconds: float = MAX_SECONDS
    memory_bytes: int = MAX_MEMORY_BYTES


class _Watch:
    """The limits on one command of a process that is ours."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._memory_before: int | None = None
        self._ended: Event | None = None
        self._pauses = 0
        self.spare: bytearray | None = None
        self.renew()

    def renew(self) -> None:
        """Count seconds from here."""
        self._began = monotonic(), process_time()
        self._allowed = self._limits.seconds

    def allow(self, seconds: float) -> None:
        self._allowed += seconds

    @property
    def used(self) -> float:
        """Seconds of work since `renew`, however many threads shared it."""
        wall, processor = self._began
        return min(monotonic() - wall, process_time() - processor)

    def start(self) -> None:
        """Let a thread look after the seconds."""
        from threading import Event, Thread, main_thread

        self._ended = Event()
        self._watched = main_thread().ident
        self.spare = bytearray(SPARE_BYTES)
        relief.append(self.free_memory)
        Thread(target=self._look, daemon=True).start()

    def bound_memory(self) -> None:
        """Let the system refuse memory beyond the limit, counted from what is there:
        threads of linear algebra reserve more than they ever use."""
        from ..ops.limits import LIMIT

        if self._ended is None:
            return
        LIMIT.set(min(LIMIT.bytes, self._limits.memory_bytes))
        room = self._limits.memory_bytes - bytes_taken("resident")
        self._memory_before = lowered("DATA", bytes_taken("data") + max(0, room))

    def free_memory(self) -> None:
        """Give room to say what is wrong."""
        self.spare = None
        restore("DATA", self._memory_before)

    def end(self) -> None:
        if self._ended is not None:
            self._ended.set()
            relief.remove(self.free_memory)
        self.free_memory()

    @contextmanager
    def paused(self) -> Iterator[None]:
        before = self.used
        self._pauses += 1
        try:
            yield
        finally:
            self._allowed += self.used - before
            self._pauses -= 1

    def _look(self) -> None:
        assert self._ended is not None
        left = self._allowed
        while not self._ended.wait(max(left, SHORTEST_SLEEP_SECONDS)):
            left = self._allowed - self.used
            if left <= 0 and not self._pauses:
                self._stop()

    def _stop(self) -> None:
        """Say where the program is, and end the process."""
        self.free_memory()
        app.fail(self._too_long())

    def _too_long(self) -> ProgramError:
        import sys

        from ..lang.machine import running_at

        frames: dict[Any, Any] = dict(sys._current_frames())
        found = running_at(frames.get(self._watched))
        span, source = found or (None, "")
        message = (
            f"the work took more than the {self._limits.seconds:g} s of processor "
            "time allowed"
        )
        return ProgramError("E405", message, span, source, hint=MORE_SECONDS)


_NONE = _Watch(Limits())
_watch = _NONE


@contextmanager
def kept(limits: Limits) -> Iterator[None]:
    """Bound what is done inside, if the process runs this one command.

    In a process that does other things, as one of tests, nothing is bounded.
    """
    global _watch
    _watch = _Watch(limits)
    if app.process_is_ours:
        _watch.start()
    try:
        yield
    finally:
        _watch.end()
        _watch = _NONE


def bound_memory() -> None:
    """Bound memory from here, where the libraries are loaded."""
    _watch.bound_memory()


def renew() -> None:
    """Count seconds anew, as for each step of a descent."""
    _watch.renew()


def allow(seconds: float) -> None:
    """Allow more of them, for what has a limit of its own."""
    _watch.allow(seconds)


@contextmanager
def printing() -> Iterator[None]:
    """What is inside is done to its end, however long it takes."""
    with _watch.paused():
        yield
