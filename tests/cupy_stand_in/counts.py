"""What a device was asked for.

Invariant: each call that computes is counted as one kernel, whatever number CuPy makes
of it; a view, and memory that nobody filled, is none. What waits for the device is a
synchronisation: a number or an array that the host reads, and what has a shape that
follows from values.

    with counting() as asked:
        x.sum().item()
    asked.kernels, asked.synchronisations       # 1, 1
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Asked:
    """Kernels by the names of functions; places in the package that wait, or that hand
    numbers to the device."""

    names: Counter[str] = field(default_factory=Counter)
    waits: list[str] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)

    @property
    def kernels(self) -> int:
        return self.names.total()

    @property
    def synchronisations(self) -> int:
        return len(self.waits)


_LISTENING: list[Asked] = []


@contextmanager
def counting() -> Iterator[Asked]:
    """Count until the end of the block."""
    asked = Asked()
    _LISTENING.append(asked)
    try:
        yield asked
    finally:
        _LISTENING.remove(asked)


def launched(name: str) -> None:
    """Count a kernel."""
    for asked in _LISTENING:
        asked.names[name] += 1


def waited(why: str) -> None:
    """Count a synchronisation, with its place."""
    for asked in _LISTENING:
        asked.waits.append(f"{why} at {_place()}")


def sent(why: str) -> None:
    """Count numbers that the host handed over."""
    for asked in _LISTENING:
        asked.sent.append(f"{why} at {_place()}")


def _place() -> str:
    """Return the innermost lines outside of the stand-in."""
    frames = [f for f in traceback.extract_stack() if "cupy_stand_in" not in f.filename]
    return " < ".join(
        f"{'/'.join(f.filename.split('/')[-2:])}:{f.lineno}" for f in frames[:-4:-1]
    )
