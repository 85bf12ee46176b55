"""Exit statuses.

Invariant: a status means the same in every command; scripts may rely on it. `PROGRAM`
says that the program or a value is wrong, and so also that a descent ran off to where
its loss is no number: what it had reached is printed all the same. What an error ends
with follows from its code, in `lang/errors.py`.
"""

from __future__ import annotations

from enum import IntEnum

from ..lang import errors


class Exit(IntEnum):
    """How a run ended."""

    DONE = 0
    REFUTED = 1
    USAGE = errors.COMMAND_LINE_IS_WRONG
    PROGRAM = errors.PROGRAM_IS_WRONG
    LIMIT = errors.LIMIT_REACHED
    INTERNAL = errors.INTERNAL_ERROR
    OUTPUT = errors.OUTPUT_FAILED
    INTERRUPTED = 130
