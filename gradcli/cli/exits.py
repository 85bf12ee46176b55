"""Exit statuses.

Invariant: a status means the same in every command; scripts may rely on it. `PROGRAM`
says that the program or a value is wrong, and so also that a descent ran off to where
its loss is no number: what it had reached is printed all the same. `INTERNAL` and
`OUTPUT` take the numbers that BSD's `sysexits.h` gives their meaning.
"""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """How a run ended."""

    DONE = 0
    REFUTED = 1
    USAGE = 2
    PROGRAM = 3
    LIMIT = 4
    INTERNAL = 70
    OUTPUT = 74
    INTERRUPTED = 130
