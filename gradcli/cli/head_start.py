"""The start of the checking process, before anything else is imported.

Invariant: a process that was started is used by the command, or stopped when this
process ends. Importing this module imports only what starts a process.

    start_early(["grad", "x^2", "x=3"])
    checker = take_checker()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import anything_set
from .commands import COMMANDS
from .ending import before_exit

if TYPE_CHECKING:
    from ..check.process.client import Checker

CHECKED = frozenset({"check", "grad", "jacobian", "hessian"})
"""Commands whose results can be checked."""

PAGE = ".html"
"""Suffix of the pictures that show verdicts."""

_UNCHECKED = frozenset({"--no-verify", "--help", "--help-all", "-h", "--table",
                        "--sweep", "--order"})  # fmt: skip
_QUIET = frozenset({"-q", "--quiet"})
_SHOWN = ("--require", "--json", "--symbolic", "--latex")
"""Beginnings of options that need verdicts even with ``--quiet``."""

_waiting: list[Checker | None] = []
"""The checker that was started early, until it is taken."""


def start_early(argv: list[str]) -> None:
    """Start the checking process before the command line is read, if its words suggest
    that it is needed: the imports of the check are what verdicts wait for."""
    if suggests_check(argv):
        _waiting.append(_start())


def take_checker() -> Checker | None:
    """Return the checker that was started early, or a new one; None if no process can
    be started."""
    return _waiting.pop() if _waiting else _start()


def suggests_check(argv: list[str]) -> bool:
    """Return whether a command line looks like one whose results are checked."""
    word = argv[0] if argv else "--"
    # A first word that is no command is a program for `grad`.
    program = not (word in COMMANDS or word.startswith("-") or word.isalpha())
    page = word == "graph" and any(each.endswith(PAGE) for each in argv)
    if not (word in CHECKED or program or page) or not _UNCHECKED.isdisjoint(argv):
        return False
    shown = any(each.startswith(_SHOWN) for each in argv)
    if not (word == "check" or shown or _QUIET.isdisjoint(argv)):
        return False
    if "--verify" in argv or not anything_set():
        return True
    from ..lang.errors import ProgramError
    from .defaults import unverified

    try:
        return not unverified()
    except ProgramError:
        # The command reports what is wrong with the settings.
        return False


def _start() -> Checker | None:
    from ..check.process.client import Checker

    try:
        checker = Checker.start()
    except OSError as error:
        from .output import note

        note(f"note: nothing is checked: no process could be started ({error})")
        return None
    # The function `stop` is not used: it waits for a lock that an interrupted `stop`
    # may hold.
    before_exit.append(checker.process.kill)
    return checker
