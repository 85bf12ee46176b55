"""One key from the terminal, without waiting for a line's end.

Invariant: however the process ends, the terminal is left as it was found.
"""

from __future__ import annotations

import os
import sys

from .ending import before_exit

ENDS = frozenset({"q", "Q", "\x04", ""})
"""Keys that end what is stepped through; Ctrl-D and a closed terminal among them."""

MAX_KEY_BYTES = 32
"""Of one key, as an arrow sends several."""


def terminal() -> bool:
    """Whether somebody is there to read and to press keys."""
    streams = (sys.stdin, sys.stdout)
    return all(stream is not None and stream.isatty() for stream in streams)


def key() -> str:
    """Wait for a key; what it sends as text."""
    if sys.platform == "win32":
        import msvcrt

        return msvcrt.getwch()
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)

    def restore() -> None:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)

    before_exit.append(restore)
    try:
        tty.setcbreak(terminal)
        return os.read(terminal, MAX_KEY_BYTES).decode(errors="replace")
    finally:
        restore()
        before_exit.remove(restore)
