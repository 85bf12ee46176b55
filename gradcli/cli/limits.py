"""Limits on the time and the memory of a run, and the end of a run that exceeds them.

Invariants: seconds count the processor's work for this process, so that waiting for an
input, for a reader or for the check costs nothing, and other processes change no
result. The steps themselves check neither time nor memory: a thread looks at both at
intervals, and ends the process with the place in the program; the system does, without
the place, where a call of C lets no thread look. A single result that is
too large is refused by the system, which makes it a `MemoryError`. Printing is never
cut off.

    with kept(Limits(MAX_SECONDS, MAX_MEMORY_BYTES)):
        ...
"""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from os import environ
from threading import current_thread, main_thread
from time import monotonic, process_time
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ..lang.errors import LIMIT_REACHED, MORE_MEMORY, MORE_SECONDS, ProgramError
from ..lang.process import (
    Fuse,
    bytes_taken,
    lowered,
    memory_left,
    on_unraisable,
    relief,
    restore,
)
from ..ops.records import record
from . import ending

if TYPE_CHECKING:
    from threading import Event
    from types import FrameType

MAX_SECONDS: Final = 8.0
"""Seconds of processor time for a run, not counting printing and the check."""

MAX_MEMORY_BYTES: Final = 450_000_000
"""Bytes of memory for the program and its derivatives."""

MAX_SETTABLE_SECONDS: Final = 86_400.0
"""Largest number of seconds that can be allowed: a day."""

MAX_SETTABLE_BYTES: Final = 1 << 62
"""Largest size that counts, in bytes; the system reads no larger one, and one above it
means as much."""

MIN_ROOM_BYTES: Final = {"AS": 170_000_000, "DATA": 105_000_000}
"""Smallest address space and data for NumPy, in bytes; its linear algebra ends the
process if it cannot allocate its buffers."""

ULIMITS: Final = {"AS": "ulimit -v", "DATA": "ulimit -d"}
"""Commands of the shell that set these limits."""

MAX_DIGITS: Final = 1000
"""Largest number of digits that ``--digits`` or ``--precision`` may ask for."""

MAX_ORDER: Final = 9
"""Highest order of derivatives that ``--order`` may ask for."""

ALLOWED_TOO_LITTLE: Final = "take less, or allow more with ulimit -v"

SPARE_BYTES: Final = 4 << 20
"""Bytes reserved for reporting an error when there is no more memory."""

HEADROOM_BYTES: Final = 30_000_000
"""Bytes that small objects may take beyond the limit before the thread looks again; if
the system refused them, Python itself would break."""

MAX_LOADING_SECONDS: Final = 30.0
"""Seconds of processor time for loading libraries, which is not the program's work."""

SLEEP_SECONDS: Final = 0.05
"""Seconds between two looks of the thread, and of processor time between two looks at a
row."""

HELD_SECONDS: Final = 1.0
"""Seconds of processor time beyond the limit after which the system ends a process
whose thread cannot look."""

UNLIMITED_SECONDS: Final = 1e8
"""Seconds for the system's timer while no limit holds, about three years."""

CLEARING_SECONDS: Final = 1.0
"""Seconds of processor time that a row which has to end may take to free its data."""

_SIZE = re.compile(r"\s*+([0-9.]+(?:[eE]\+?[0-9]+)?)\s*+(?:([kKMGT])(i?))?B?\s*")
_POWERS: Final = {None: 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4}


def bytes_of(text: str | int, option: str = "") -> int:
    """Return the bytes that a size means: ``450MB``, ``2GiB``, ``1e9``; ``option`` is
    named in the error."""
    found = _SIZE.fullmatch(str(text))
    try:
        assert found is not None
        number, prefix, binary = found.groups()
        size = int(float(number) * (1024 if binary else 1000) ** _POWERS[prefix])
        return min(size, MAX_SETTABLE_BYTES)
    except (AssertionError, ValueError, OverflowError):
        message = f"{option and f'{option}: '}{text!r} is not a size in bytes"
        hint = "write it as 500MB or 2GiB"
        raise ProgramError("E595", message, hint=hint) from None


Problem: TypeAlias = tuple[str, str, str]
"""The code, the message and the hint of an error."""


@record
class Limits:
    """The limits on seconds and bytes that the command line set."""

    seconds: float = MAX_SECONDS
    memory_bytes: int = MAX_MEMORY_BYTES


class _LimitWatch:
    """The limits on one command, kept by a thread if the process runs only that
    command."""

    def __init__(self) -> None:
        self._watch_over(Limits())

    def _watch_over(self, limits: Limits) -> None:
        """Start again with other limits."""
        self._limits = limits
        self._memory_before: int | None = None
        self._ended: Event | None = None
        self._fuse: Fuse | None = None
        self._pauses = 0
        self._shared = 0
        self._bounded = False
        self._by_rows = self._in_row = False
        self._told = -CLEARING_SECONDS
        self.spare: bytes | None = None
        self.renew()
        self.allow(MAX_LOADING_SECONDS)

    @contextmanager
    def enforced(self, limits: Limits) -> Iterator[None]:
        """Limit what is done inside, if the process runs this one command, and does no
        other things, as in tests."""
        self._watch_over(limits)
        if ending.process_is_ours:
            from threading import Event, Thread

            self._ended = Event()
            self._watched = main_thread().ident
            self.spare = bytes(SPARE_BYTES)
            relief.append(self.free_memory)
            self._watcher = Thread(target=self._look, daemon=True)
            self._watcher.start()
        try:
            yield
        finally:
            if self._ended is not None:
                self._ended.set()
                self._watcher.join()
                if self._fuse is not None:
                    self._fuse.drop()
                relief.remove(self.free_memory)
            self.free_memory()
            self._watch_over(Limits())

    def renew(self) -> None:
        """Restart the count of seconds, as for each step of a descent."""
        self._began = monotonic(), process_time()
        self._allowed = self._limits.seconds

    def allow(self, seconds: float) -> None:
        """Allow more seconds, for work that has a limit of its own."""
        self._allowed += seconds

    @property
    def used(self) -> float:
        """Seconds of work since `renew`, however many threads shared it."""
        wall, processor = self._began
        return min(monotonic() - wall, process_time() - processor)

    @property
    def taken(self) -> int:
        """Memory of the process in bytes, without files mapped since `begin`, whose
        memory the system takes back when it needs it."""
        files = bytes_taken("shared") - self._shared
        return bytes_taken("resident") - max(0, files)

    def begin(self) -> None:
        """Count seconds from here, and let the system refuse memory beyond the limit,
        counted from what is in use: threads of linear algebra reserve more than they
        ever use."""
        self.renew()
        if self._ended is None:
            return
        import numpy as np

        from ..ops.checks import LIMIT

        # Linear algebra allocates its buffers now, while there is memory.
        two_rows = np.zeros((2, 2))
        two_rows @ two_rows
        self._fuse = Fuse(_worded(self._too_long()), LIMIT_REACHED)
        # The interpreter may be held before the thread looks for the first time.
        self._fuse.set(self._allowed + HELD_SECONDS)
        LIMIT.set(self._limits.memory_bytes)
        self._shared = bytes_taken("shared")
        room = self._limits.memory_bytes - bytes_taken("resident")
        most = bytes_taken("data") + max(0, room) + HEADROOM_BYTES
        self._memory_before = lowered("DATA", most)
        self._bounded = True
        from ..engine.devices import BEFORE_FIRST_USE

        BEFORE_FIRST_USE[:] = [self.leave_to_device]

    def leave_to_device(self) -> int:
        """Lift the limit on this process's memory, in which the compiler of a GPU's
        kernels cannot run; return the most bytes that the device's memory may take."""
        self._bounded = False
        restore("DATA", self._memory_before)
        return self._limits.memory_bytes

    def free_memory(self) -> None:
        """Free memory for reporting an error."""
        self.spare = None
        restore("DATA", self._memory_before)

    @contextmanager
    def printing(self) -> Iterator[None]:
        """Leave out of the count the seconds that printing inside takes."""
        before = self.used
        self._pauses += 1
        try:
            yield
        finally:
            self._allowed += self.used - before
            self._pauses -= 1

    def _look(self) -> None:
        ended = self._ended
        assert ended is not None
        while not ended.wait(SLEEP_SECONDS):
            allowed = self._allowed
            if self._by_rows:
                # A row ends by itself, unless it is in a call during which Python sees
                # no signal.
                allowed = 2 * allowed + CLEARING_SECONDS
            if self._fuse is not None:
                rest = UNLIMITED_SECONDS if self._pauses else allowed - self.used
                self._fuse.set(max(0.0, rest) + HELD_SECONDS)
            problem = self._exceeded(allowed, memory=not self._by_rows)
            left = memory_left()
            if problem is None and left is not None and left < HEADROOM_BYTES:
                problem = "E403", "not enough memory", ALLOWED_TOO_LITTLE
            if problem is not None:
                self.free_memory()
                frames: dict[Any, Any] = dict(sys._current_frames())
                ending.fail(_at(frames.get(self._watched), *problem))

    def _exceeded(self, allowed: float, memory: bool = True) -> Problem | None:
        """Return what is wrong with work that took more than the ``allowed`` seconds,
        or too much memory; None if nothing is."""
        if self.used > allowed and not self._pauses:
            return self._too_long()
        if memory and self._bounded and self.taken > self._limits.memory_bytes:
            from ..ops.checks import size_text

            most = f"{size_text(self._limits.memory_bytes)} of memory"
            return "E403", f"the work took more than {most}", MORE_MEMORY
        return None

    def _too_long(self) -> Problem:
        least = f"{self._limits.seconds:g} s of processor time"
        return "E405", f"the work took more than {least}", MORE_SECONDS

    @contextmanager
    def rows(self) -> Iterator[AbstractContextManager[None]]:
        """Yield a block to compute each row in: a row that exceeds the limits fails
        with a `ProgramError`, and the other rows go on.

        Without a timer, as in a thread, only the count of seconds restarts for each
        row.
        """
        timed = hasattr(signal, "setitimer") and current_thread() is main_thread()
        if not (ending.process_is_ours and timed):
            yield self
            return
        signal.signal(signal.SIGPROF, self._look_at_row)
        signal.siginterrupt(signal.SIGPROF, False)
        self._by_rows = True
        signal.setitimer(signal.ITIMER_PROF, SLEEP_SECONDS, SLEEP_SECONDS)
        try:
            with on_unraisable(ProgramError, self._reset_report):
                yield self
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            # A signal that is on its way would end the process.
            signal.signal(signal.SIGPROF, signal.SIG_IGN)
            self.renew()
            self._by_rows = False

    def __enter__(self) -> None:
        """Begin a row; the block is entered again for the next."""
        self.renew()
        self._reset_report()
        self._in_row = True

    def __exit__(self, *problem: object) -> None:
        try:
            self._in_row = False
        finally:
            # A signal may have interrupted the line above.
            self._in_row = False

    def _reset_report(self) -> None:
        self._told = -CLEARING_SECONDS

    def _look_at_row(self, number: int, frame: FrameType | None) -> None:
        """Raise an error in a row that takes too much, wherever it is."""
        now = process_time()
        if not self._in_row or now - self._told < CLEARING_SECONDS:
            return
        problem = self._exceeded(self._allowed)
        if problem is not None:
            self._told = now
            raise _at(frame, *problem)


def _worded(problem: Problem) -> str:
    """Return a problem as it is written to stderr."""
    error = _at(None, *problem)
    if "--json" not in sys.argv:
        return f"{error.render()}\n"
    import json

    return f"{json.dumps(error.as_dict())}\n"


def _at(frame: FrameType | None, code: str, message: str, hint: str) -> ProgramError:
    from ..lang.machine import running_at

    span, source = running_at(frame) or (None, "")
    return ProgramError(code, message, span, source, hint=hint)


_watch: Final = _LimitWatch()
enforced, begin, renew = _watch.enforced, _watch.begin, _watch.renew
allow, printing = _watch.allow, _watch.printing


def rows() -> AbstractContextManager[AbstractContextManager[None]]:
    """Return a context of a block to compute each row in; workers find it by name."""
    return _watch.rows()


def make_room(argv: Sequence[str]) -> None:
    """Make sure that NumPy can be loaded; call it before NumPy is imported.

    Linear algebra gets one thread if all data came from the command line, because
    starting more takes longer than such a run, and if memory is short. A setting of the
    user's is kept.
    """
    rooms = {kind: memory_left(kind) for kind in MIN_ROOM_BYTES}
    limited = any(left is not None for left in rooms.values())
    if limited or not any("=@" in word for word in argv):
        environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for kind, left in rooms.items():
        needed = MIN_ROOM_BYTES[kind]
        if left is not None and left < needed:
            from ..ops.checks import size_text

            message = f"not enough memory: the system leaves {size_text(left)} of it"
            hint = f"{size_text(needed)} are needed at least: see {ULIMITS[kind]}"
            raise ProgramError("E403", message, hint=hint)


@contextmanager
def once() -> Iterator[None]:
    """Let the first Ctrl-C, or SIGTERM, raise `KeyboardInterrupt` with the signal's
    number, where results are worth keeping.

    Outside this block, each ends the process at once, and so does a second one inside,
    or one whose exception is lost. A process that ignores it goes on ignoring it.
    """
    before = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)}
    came: list[int] = []

    def restored() -> None:
        for each, handler in before.items():
            signal.signal(each, handler)

    def first(number: int, frame: FrameType | None) -> None:
        restored()
        came.append(number)
        raise KeyboardInterrupt(number)

    for each, handler in before.items():
        signal.signal(each, handler if handler is signal.SIG_IGN else first)
    try:
        with on_unraisable(KeyboardInterrupt, lambda: signal.raise_signal(came[0])):
            yield
    finally:
        restored()
