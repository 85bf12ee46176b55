"""The operating system's limits on this process, and functions that lower them.

Invariant: a limit that the platform does not know, or refuses to set, stays as it was;
a limit that is lowered here can be raised again, to what it was before.

    before = lowered("DATA", 1 << 30)     # bytes; from then on: MemoryError
    restore("DATA", before)
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from .errors import text_of

resource: Any = None
with suppress(ImportError):  # Windows has no such limits
    import resource

relief: list[Callable[[], None]] = []
"""Functions that free reserved memory, so that an out-of-memory error can be reported.
"""


def relieve() -> None:
    """Free the memory that was reserved for reporting an error."""
    for give in relief:
        give()


UNKNOWN = 0
"""Count of bytes where the platform does not report them."""

_FIELDS = {"address_space": 0, "resident": 1, "shared": 2, "data": 5}
"""Columns of Linux's ``/proc/self/statm``, in pages."""


def bytes_taken(kind: str) -> int:
    """Return the bytes of memory of a kind that the process has: ``address_space``,
    ``resident``, ``shared`` with files, or ``data``, which ``RLIMIT_DATA`` limits."""
    try:
        with open("/proc/self/statm", "rb", buffering=0) as status:
            pages = int(status.read().split()[_FIELDS[kind]])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return UNKNOWN


_TAKEN = {"AS": "address_space", "DATA": "data"}
"""Kinds of memory, as `bytes_taken` knows them, by the limits on them."""


def memory_left(kind: str = "AS") -> int | None:
    """Return the bytes that the limit ``AS`` or ``DATA`` leaves; None: no limit, or not
    known."""
    if resource is None:
        return None
    allowed = resource.getrlimit(getattr(resource, f"RLIMIT_{kind}"))[0]
    if allowed == resource.RLIM_INFINITY:
        return None
    taken = bytes_taken(_TAKEN[kind])
    return allowed - taken if taken != UNKNOWN else None


def lowered(kind: str, limit: int) -> int | None:
    """Lower the limit ``AS``, ``CPU`` or ``DATA`` of this process and of those that it
    starts; return the limit before, or None if it could not be lowered."""
    if resource is None:
        return None
    which = getattr(resource, f"RLIMIT_{kind}")
    soft, hard = resource.getrlimit(which)
    lower = min([limit, *[known for known in (soft, hard) if known >= 0]])
    try:
        resource.setrlimit(which, (lower, hard))
    except (ValueError, OSError):
        # The system knows the limit but refuses to set it.
        return None
    return int(soft)


def raised(kind: str, by: int) -> int | None:
    """Raise the limit ``AS``, ``CPU`` or ``DATA`` of this process by so much, or as far
    as the system allows; return the limit before, or None if there is none."""
    if resource is None:
        return None
    which = getattr(resource, f"RLIMIT_{kind}")
    soft, hard = resource.getrlimit(which)
    if soft == resource.RLIM_INFINITY:
        return None
    resource.setrlimit(which, (soft + by if hard < 0 else min(soft + by, hard), hard))
    return int(soft)


def restore(kind: str, before: int | None) -> None:
    """Set the limit to ``before``, which `lowered` returned."""
    if before is not None:
        which = getattr(resource, f"RLIMIT_{kind}")
        resource.setrlimit(which, (before, resource.getrlimit(which)[1]))


def is_out_of_memory(error: BaseException | None) -> bool:
    """Return whether an error, or one that led to it, is a lack of memory.

    Errors of loading a library or of starting a thread are recognised by their text.
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, MemoryError) or _says_so(error):
            return True
        error = error.__cause__ or error.__context__
    return False


_SAYINGS = (
    "can't start new thread",
    "cannot allocate memory",
    "failed to map segment",
    "not enough memory",
    "unable to allocate",
    # C code that lost a MemoryError raises a SystemError with this text.
    "returned null without setting an exception",
)


def _says_so(error: BaseException) -> bool:
    from errno import EAGAIN, ENOMEM

    if isinstance(error, OSError) and error.errno in (ENOMEM, EAGAIN):
        return True
    text = text_of(error).lower()
    if "catastrophic error: out of memory" in text:  # of the compiler of kernels
        return True
    known = isinstance(error, ImportError | OSError | RuntimeError | SystemError)
    return known and any(saying in text for saying in _SAYINGS)


@contextmanager
def on_unraisable(
    kind: type[BaseException], again: Callable[[], None]
) -> Iterator[None]:
    """Return a context that calls ``again`` when an exception of the class ``kind`` is
    lost: Python only prints one that a signal raises in a finalizer or a callback."""
    before = sys.unraisablehook

    def lost(told: Any) -> None:
        if issubclass(told.exc_type, kind):
            again()
        else:
            before(told)

    try:
        sys.unraisablehook = lost
        yield
    finally:
        sys.unraisablehook = before


_unfinished = bytearray(1 << 12)
"""Path of the file that a `Fuse` removes before it ends the process, with zeros behind
it; zeros alone if there is none."""


def remove_at_end(path: str) -> None:
    """Let a `Fuse` that ends the process remove a file; of an empty path, none."""
    size = len(_unfinished)
    name = os.fsencode(path)[:size].ljust(size, b"\0")
    # At no moment the beginning of a path is taken for a path.
    _unfinished[0] = 0
    if name[-1] == 0:
        _unfinished[1:], _unfinished[0] = name[1:], name[0]


class Fuse:
    """A timer of the system, which ends the process with a text on stderr unless it is
    set again in time, even while a call of C lets no thread and no signal through.

    Seconds are the processor's. Where the system has no such timer, this does nothing.
    """

    def __init__(self, text: str, status: int) -> None:
        self._timers: list[Any] = []
        # With stderr closed, its number may be that of a file of the user.
        if not sys.platform.startswith("linux") or sys.stderr is None:
            return
        # The system calls functions of C with one argument, in a thread of its own.
        with suppress(ImportError, OSError, AttributeError):
            import ctypes
            from ctypes import c_int, c_void_p

            self._c = ctypes
            self._libc = libc = ctypes.CDLL(None)
            libc.fdopen.restype = c_void_p
            self._purge = getattr(libc, "__fpurge")
            self._stream = c_void_p(libc.fdopen(c_int(2), b"w"))
            libc.setvbuf(self._stream, None, c_int(0), ctypes.c_size_t(1 << 13))
            libc.fputs(text.encode()[: 1 << 12], self._stream)
            self._path = (ctypes.c_char * len(_unfinished)).from_buffer(_unfinished)
            place = ctypes.addressof(self._path)
            calls = (
                (libc.fflush, self._stream.value), (libc.unlink, place),
                (libc._exit, status),
            )  # fmt: skip

            class Event(ctypes.Structure):
                _fields_ = (
                    ("value", c_void_p), ("signal", c_int), ("notify", c_int),
                    ("call", c_void_p), ("rest", ctypes.c_char * 40),
                )  # fmt: skip

            for function, value in calls:
                call, timer = ctypes.cast(function, c_void_p), c_void_p()
                event = Event(value, 0, _SIGEV_THREAD, call, b"")
                places = ctypes.byref(event), ctypes.byref(timer)
                if libc.timer_create(_CLOCK_PROCESS_CPUTIME_ID, *places) == 0:
                    self._timers.append(timer)

    def set(self, seconds: float) -> None:
        """Let the timer end the process after so many more seconds."""
        for nr, timer in enumerate(self._timers):
            whole = int(seconds)
            rest = int((seconds - whole) * 1e9) + nr * _FLUSH_NANOSECONDS
            carry, rest = divmod(rest, 10**9)
            times = 0, _FLUSH_NANOSECONDS, whole + carry, rest
            wanted = (self._c.c_long * len(times))(*times)
            self._libc.timer_settime(timer, 0, self._c.byref(wanted), None)

    def drop(self) -> None:
        """Stop the timer for good."""
        if self._timers:
            for timer in self._timers:
                self._libc.timer_delete(timer)
            # What the stream holds would be written where the process ends.
            self._purge(self._stream)
        self._timers = []


_SIGEV_THREAD = 2
_CLOCK_PROCESS_CPUTIME_ID = 2
_FLUSH_NANOSECONDS = 50_000_000
"""Numbers of Linux, and processor time between the text and the end, in nanoseconds."""

LOOK_SECONDS = 0.1
"""Time between two checks that the parent process still runs, in seconds."""

_PR_SET_PDEATHSIG = 1


def end_with(parent: int) -> None:
    """End this process as soon as the one with the id ``parent`` has ended.

    Linux kills this process itself, even during a call that blocks all threads; on
    other systems a thread checks at intervals.
    """
    if not _killed_by_the_system():
        from threading import Thread

        Thread(target=_watch, args=(parent,), daemon=True).start()
    if os.getppid() != parent:  # the parent ended before the request was made
        os._exit(1)


def _killed_by_the_system() -> bool:
    """Ask Linux to kill this process when the parent ends; return whether it will."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        from ctypes import CDLL
        from signal import SIGKILL

        return bool(CDLL(None).prctl(_PR_SET_PDEATHSIG, SIGKILL) == 0)
    except (ImportError, OSError, AttributeError):
        return False


def _watch(parent: int) -> None:
    from time import sleep

    while os.getppid() == parent:
        sleep(LOOK_SECONDS)
    os._exit(1)
