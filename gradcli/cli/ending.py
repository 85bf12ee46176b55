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

before_exit: list[Callable[[], None]] = []
"""Functions that stop what must not outlive the process."""

on_failure: list[Callable[[ProgramError], None]] = []
"""Functions that are called with an error that ends the process."""


def end(status: int) -> NoReturn:
    """End the process without taking the interpreter apart, which only frees what the
    system frees anyway, and takes as long as a small program."""
    put_away()
    os._exit(status)


def put_away() -> None:
    """Stop what must not outlive the process."""
    for stop in before_exit:
        stop()


def fail(problem: ProgramError) -> NoReturn:
    """Report an error and end the process."""
    for report in on_failure:
        report(problem)
    end(problem.exit_status)
