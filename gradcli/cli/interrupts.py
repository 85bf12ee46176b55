"""Ctrl-C where something is worth keeping.

Invariant: outside of `once` Ctrl-C ends the process at once, and so does a second one
inside.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def once() -> Iterator[None]:
    """Let the first Ctrl-C raise `KeyboardInterrupt`, unless the process ignores it."""
    before = signal.getsignal(signal.SIGINT)

    def first(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        raise KeyboardInterrupt

    if before is signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
