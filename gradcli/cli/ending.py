"""The end of the process, from any thread.

Invariants: importing this module imports nothing; what must not outlive the process is
stopped before it ends. A signal that ends the process gives it the status of a shell,
128 and the signal's number, in all commands.
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

_owner = 0
"""Number of the process that runs the command line, which a fork of it does not do."""

before_exit: list[Callable[[], None]] = []
"""Functions that stop what must not outlive the process."""

on_failure: list[Callable[[ProgramError], None]] = []
"""Functions that are called with an error that ends the process."""


ENDING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
"""Names of the signals that end the process, where the platform has them."""

FIRST_OF_SIGNALS = 128
"""Exit status of a process that a signal ended, less the signal's number."""


def begin(stop: Callable[[], None], report: Callable[[ProgramError], None]) -> None:
    """Let this process run one command line: ``stop`` is called before it ends, and
    ``report`` with an error that ends it; a signal ends it at once."""
    global process_is_ours, _owner
    import signal

    process_is_ours, _owner = True, os.getpid()
    # The process may be a fork, and what its parent has to stop is not its own.
    before_exit[:], on_failure[:] = [stop], [report]
    for name in ENDING:
        number = getattr(signal, name, None)
        # A shell's background job ignores Ctrl-C, and should go on ignoring it.
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end_by_signal)


def end_by_signal(number: int, frame: object) -> NoReturn:
    """End the process at once, because an exception could be lost in a callback."""
    end(FIRST_OF_SIGNALS + number)


def status_of(interrupt: KeyboardInterrupt) -> int:
    """Return the exit status of a command that was interrupted by Ctrl-C, or by the
    signal whose number the exception holds."""
    number = interrupt.args[0] if interrupt.args else None
    return FIRST_OF_SIGNALS + (number if type(number) is int else 2)


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
    """Stop what must not outlive the process, each whatever becomes of the others."""
    if os.getpid() != _owner:
        return
    for stop in tuple(before_exit):
        try:
            stop()
        except Exception:
            continue


def fail(problem: ProgramError) -> NoReturn:
    """Report an error and end the process."""
    for report in on_failure:
        report(problem)
    end(problem.exit_status)
