"""The end of the process, from any thread.

Invariant: importing this module imports nothing; what must not outlive the process is
stopped before it ends.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from ..lang.errors import ProgramError

process_is_ours = False
"""True if the process runs one command line and ends with it."""

runs_users_code = False
"""True once users' Python was run, so that the process ends as Python ends it."""

before_exit: list[Callable[[], None]] = []
"""Functions that stop what must not outlive the process."""

on_failure: list[Callable[[ProgramError], None]] = []
"""Functions that are called with an error that ends the process."""


def end(status: int) -> NoReturn:
    """End the process without taking the interpreter apart, which only frees what the
    system frees anyway, and takes as long as a small program."""
    put_away()
    os._exit(status)


def be_pythons() -> None:
    """Let the process end, and meet Ctrl-C, as Python's own does: it is about to run
    users' code, which may have files open and threads at work."""
    global runs_users_code
    import signal

    runs_users_code = True
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def leave(status: int) -> NoReturn:
    """End the process from its main thread: after users' code by Python's own way, on
    which threads are waited for, exit handlers are called and open files written."""
    if not runs_users_code:
        end(status)
    put_away()
    raise SystemExit(status)


def put_away() -> None:
    """Stop what must not outlive the process."""
    for stop in before_exit:
        stop()


def fail(problem: ProgramError) -> NoReturn:
    """Report an error and end the process."""
    for report in on_failure:
        report(problem)
    end(problem.exit_status)
