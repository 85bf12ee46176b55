"""A result larger than allowed is refused before it is made, and so is the work for it.

Every integer among a case's parameters is tried far beyond what fits: whatever a
row or function makes of that, it does at once and in little memory.
"""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from gradcli.engine import NUMPY, Tensor
from gradcli.engine.record import call
from gradcli.ops import FUNCTIONS, OPS
from tests.grouped import by_row

from .draw import draw

REFUSALS = (RuntimeError, IndexError, TypeError, ValueError, OverflowError)
HUGE = (10**9, 10**30, -(10**9))
"""The last only where a user gives it: rows are given sizes by other rows' rules."""

SECONDS = 2
ROOM = 1 << 30


@contextmanager
def bounded() -> Iterator[None]:
    """Little work and memory for what is done inside; work is the processor's time,
    which does not pass while a loaded machine does something else.

    Raises:
        TimeoutError: it took too long.
        MemoryError: it asked for more memory.
    """

    def too_long(*_: object) -> None:
        raise TimeoutError

    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGPROF, too_long)
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, hard))
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGPROF, before)


def enlarged(value: Any, size: int) -> Iterator[Any]:
    """A parameter with each of its integers in turn replaced."""
    if type(value) is int:
        yield size
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            for made in enlarged(item, size):
                yield type(value)([*value[:i], made, *value[i + 1 :]])


ENTRIES: dict[str, Any] = {**FUNCTIONS, **OPS}


def sized() -> Iterator[tuple[str, int, str]]:
    """Cases of the table with a parameter that holds an integer."""
    for name, entry in ENTRIES.items():
        for number, case in enumerate(entry.cases):
            for parameter, value in case.params.items():
                if any(True for _ in enlarged(value, 0)):
                    yield name, number, parameter


def called(case: tuple[str, int, str]) -> str:
    return "-".join(map(str, case))


def refusal(name: str, number: int, parameter: str, value: Any) -> Exception | None:
    """What a call raises with this value of a parameter."""
    entry = ENTRIES[name]
    params = {**entry.cases[number].params, parameter: value}
    arrays = draw(entry, number).arrays
    inputs = [Tensor(a, NUMPY) if hasattr(a, "dtype") else a for a in arrays]
    try:
        call(name, *inputs, **params)
    except REFUSALS as error:
        return error
    return None


@by_row("name, number, parameter", sized(), called, lambda call: call.split("-")[0])
def test_no_number_makes_a_call_take_long_or_much(
    name: str, number: int, parameter: str
) -> None:
    given = ENTRIES[name].cases[number].params[parameter]
    for size in HUGE if name in FUNCTIONS else HUGE[:2]:
        for value in enlarged(given, size):
            with bounded():
                refused = refusal(name, number, parameter, value)
            cause = None if refused is None else refused.__cause__
            assert not isinstance(cause, MemoryError), refused


def endless() -> None:
    while True:
        pass


def test_the_bounds_catch_work_without_end() -> None:
    with pytest.raises(TimeoutError), bounded():
        endless()


def test_the_bounds_catch_memory_without_measure() -> None:
    with pytest.raises(MemoryError), bounded():
        bytearray(2 * ROOM)
