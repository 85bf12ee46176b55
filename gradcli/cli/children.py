"""A command line in a process of its own, from a process that goes on.

Invariant: the child is the command as the shell would start it, with the same streams,
limits and Ctrl-C; whatever ends it ends nothing here. Where the system can, the process
is copied, with all that is imported by then.

    status = ran(["grad", "x**2", "x=3"])
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence


def ran(words: Sequence[str]) -> int:
    """Run a command line to its end; its exit status."""
    sys.stdout.flush()
    sys.stderr.flush()
    # Ctrl-C is meant for the child, which has it in the same terminal.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return _forked(words) if hasattr(os, "fork") else _started(words)
    finally:
        signal.signal(signal.SIGINT, before)


def load() -> None:
    """Import what commands need, so that children need not."""
    from ..answers import question  # noqa: F401
    from . import grad, graph, group  # noqa: F401


def _forked(words: Sequence[str]) -> int:
    pid = os.fork()
    if pid == 0:
        from .app import main

        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.argv[1:] = words
        main()
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _started(words: Sequence[str]) -> int:
    import subprocess

    return subprocess.run([sys.executable, "-m", "gradcli", *words]).returncode
