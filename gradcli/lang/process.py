"""What the operating system lets this process take, and how to lower it.

Invariant: a limit that the platform does not know, or refuses, is left as it was; what
is lowered here can be raised again, up to what the user allows.

    before = lowered("DATA", 1 << 30)     # bytes; from then on: MemoryError
    restore("DATA", before)
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

relief: list[Callable[[], None]] = []
"""Functions that free reserved memory, so that its lack can be reported."""


def relieve() -> None:
    """Free the memory that was reserved for reporting an error."""
    for give in relief:
        give()


UNKNOWN = 0
"""Count of bytes where the platform does not report them."""

_FIELDS = {"address_space": 0, "resident": 1, "shared": 2, "data": 5}
"""Columns of Linux's ``/proc/self/statm``, in pages."""


def bytes_taken(kind: str) -> int:
    """Return the bytes that the process has of one kind: ``address_space``,
    ``resident``, ``shared`` or ``data``.

    ``shared`` is what files hold as well; ``data`` is what the process could write to,
    which ``RLIMIT_DATA`` counts.
    """
    try:
        with open("/proc/self/statm") as status:
            pages = int(status.read().split()[_FIELDS[kind]])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return UNKNOWN


def address_space_left() -> int | None:
    """Return the bytes that may still be mapped; None: all there are, or not known."""
    try:
        import resource
    except ImportError:
        return None
    allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
    taken = bytes_taken("address_space")
    known = allowed != resource.RLIM_INFINITY and taken != UNKNOWN
    return allowed - taken if known else None


def lowered(kind: str, limit: int) -> int | None:
    """Lower the limit on ``AS``, ``CPU`` or ``DATA`` for this process and those that
    it starts; what it was before, None if it is as it was."""
    try:
        import resource
    except ImportError:
        return None
    which = getattr(resource, f"RLIMIT_{kind}")
    soft, hard = resource.getrlimit(which)
    lower = min([limit, *[known for known in (soft, hard) if known >= 0]])
    try:
        resource.setrlimit(which, (lower, hard))
    except (ValueError, OSError):
        # A system that knows the limit but refuses to set it.
        return None
    return soft


def restore(kind: str, before: int | None) -> None:
    """Put back what `lowered` gave."""
    if before is None:
        return
    import resource

    which = getattr(resource, f"RLIMIT_{kind}")
    resource.setrlimit(which, (before, resource.getrlimit(which)[1]))


def is_out_of_memory(error: BaseException | None) -> bool:
    """Return whether an error, or what led to it, is that the system gave no memory.

    A library that cannot be loaded and a thread that cannot be started say so in words
    of their own.
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
    # What C code says that has lost a MemoryError on its way.
    "returned null without setting an exception",
)


def _says_so(error: BaseException) -> bool:
    from errno import EAGAIN, ENOMEM

    if isinstance(error, OSError) and error.errno in (ENOMEM, EAGAIN):
        return True
    text = str(error).lower()
    known = isinstance(error, ImportError | OSError | RuntimeError | SystemError)
    return known and any(saying in text for saying in _SAYINGS)


@contextmanager
def heard(kind: type[BaseException], again: Callable[[], None]) -> Iterator[None]:
    """See to it that what a signal raises inside counts: ``again`` is called where it
    was raised in a finalizer or a callback, which Python goes on from with a remark."""
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


LOOK_SECONDS = 0.1
"""Time between two looks for the process that started this one, in seconds."""

_PR_SET_PDEATHSIG = 1


def end_with(parent: int) -> None:
    """End this process as soon as the one that started it is gone, however it ended.

    Where the system can, it kills this one, even amid a call that lets nothing else
    run; elsewhere a thread looks now and then.

    Args:
        parent: the number of the process that started this one, in its main thread.
    """
    from signal import SIGKILL

    if not _killed_by_the_system(SIGKILL):
        from threading import Thread

        Thread(target=_watch, args=(parent,), daemon=True).start()
    if os.getppid() != parent:  # it went before the system was told
        os._exit(1)


def _killed_by_the_system(number: int) -> bool:
    """Ask Linux for a signal when the parent is gone; False where nobody sends it."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        from ctypes import CDLL

        return bool(CDLL(None).prctl(_PR_SET_PDEATHSIG, number) == 0)
    except (ImportError, OSError, AttributeError):
        return False


def _watch(parent: int) -> None:
    from time import sleep

    while os.getppid() == parent:
        sleep(LOOK_SECONDS)
    os._exit(1)
