"""Counts and times of the in-place changes of arrays.

Invariant: one clock counts changes; 0 means that nothing was ever changed. A change is
noted for the array that owns the memory, so that all views of it share their history.
An array of `with_separate_version`, and its views, have a history of their own on the
same memory. A node remembers the time at which it was made. What it saved is unchanged
if no change of that memory is younger.

    touch(x.raw)
    version(x.raw)              # 1
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np

from .raw import Raw

MAX_CHANGES_TOLD_APART = 1000
"""Most in-place changes of one array that are told apart; older ones are counted."""


class _VersionClock:
    __slots__ = ("now",)

    def __init__(self) -> None:
        self.now = 0


class _History:
    __slots__ = ("count", "kept", "made", "times")

    def __init__(self, kept: object) -> None:
        self.kept = kept
        self.count = 0
        self.times: deque[int] = deque(maxlen=MAX_CHANGES_TOLD_APART)
        self.made: dict[int, tuple[Any, str]] = {}
        """Words for the last change of each tensor, by the identity of its array."""


CLOCK = _VersionClock()

_histories: dict[int, _History] = {}


class MemoryLink:
    """A link between an array and the memory of another, which makes the first the
    owner for NumPy."""

    __slots__ = ("__array_interface__", "raw")

    def __init__(self, raw: Raw) -> None:
        self.raw = raw
        self.__array_interface__ = raw.__array_interface__


def with_separate_version(raw: Raw) -> Raw:
    """Return another array on the same memory, whose changes are counted separately."""
    import numpy

    return numpy.asarray(MemoryLink(raw))


class _Lent:
    __slots__ = ("apart", "forget", "held")

    def __init__(self, held: Raw, apart: bool, forget: object) -> None:
        self.held, self.apart, self.forget = held, apart, forget


_lent: dict[int, _Lent] = {}


def lend(held: Raw, raw: Raw, apart: bool = False) -> Raw:
    """Note that ``raw`` lies in the memory of ``held``, and return it; CuPy's arrays of
    any strides have no ``base`` that says so.

    Args:
        apart: whether its changes are counted separately.
    """
    key = id(raw)
    _lent[key] = _Lent(held, apart, ref(raw, lambda _: _lent.pop(key, None)))
    return raw


def is_lent(raw: Raw) -> bool:
    """Return whether an array was noted to lie in another's memory."""
    return id(raw) in _lent


def counted(raw: Raw) -> Raw:
    """Return the array under which the changes of ``raw`` are counted."""
    kind = type(raw)
    base = getattr(raw, "base", None)
    while base is not None and type(base) is kind:
        raw = base
        base = raw.base
    lent = _lent.get(id(raw)) if _lent else None
    return raw if lent is None or lent.apart else counted(lent.held)


def owner(raw: Raw) -> Raw:
    """Return the array that owns the memory of an array."""
    found = counted(raw)
    while type(getattr(found, "base", None)) is MemoryLink:
        found = counted(found.base.raw)
    lent = _lent.get(id(found)) if _lent else None
    return found if lent is None else owner(lent.held)


def copy_if_shared(y: Raw, raw: tuple[Raw, ...]) -> Raw:
    """Return a result, or a copy of it if it lies in the memory of an operand."""
    if getattr(y, "base", None) is None:
        return y.copy("K") if any(y is r for r in raw) else y
    mine = owner(y)
    return y.copy("K") if any(owner(r) is mine for r in raw) else y


def touch(raw: Raw) -> None:
    """Count a change of an array's entries."""
    CLOCK.now += 1
    history = _history_of(raw)
    history.count += 1
    history.times.append(CLOCK.now)


def _history_of(raw: Raw) -> _History:
    array = counted(raw)
    key = id(array)
    history = _histories.get(key)
    if history is None:
        forget = ref(array, lambda _: _histories.pop(key, None))
        history = _histories[key] = _History(forget)
    return history


def note_in_place(raw: Raw, words: str) -> None:
    """Note which output of a node a change in place made of the tensor of an array."""
    if type(raw) is np.ndarray:
        _history_of(raw).made[id(raw)] = ref(raw), words


def in_place_output(raw: Raw) -> str | None:
    """Return which output of a node a change in place made of the tensor of an array;
    None if there was no such change."""
    history = _histories.get(id(counted(raw)))
    noted = None if history is None else history.made.get(id(raw))
    return noted[1] if noted and noted[0]() is raw else None


def replaced(old: object, new: Raw) -> None:
    """Count later changes of ``new`` as changes of ``old`` as well.

    A scalar of NumPy cannot be changed, so that an array takes its place; nodes that
    saved the scalar must notice later changes.
    """
    touch(new)
    history = _histories[id(counted(new))]
    key = id(old)

    def forget(_: object) -> None:
        _histories.pop(key, None)
        held.clear()

    held = [old, ref(counted(new), forget)]
    history.kept = (history.kept, held)
    _histories[key] = history


def version(raw: Raw) -> int:
    """Return how often the memory of an array was changed."""
    history = _histories.get(id(counted(raw)))
    return 0 if history is None else history.count


def version_at(raw: Raw, time: int) -> int:
    """Return how often the memory had been changed at a time of the clock."""
    history = _histories.get(id(counted(raw)))
    if history is None:
        return 0
    return history.count - sum(1 for t in history.times if t > time)


_moves: WeakKeyDictionary[Any, list[tuple[Callable[[], Raw | None], Raw]]]
_moves = WeakKeyDictionary()
"""Arrays that a tensor had, and the one that it has now, by the tensor's edge."""


def note_move(edge: Any, before: Raw, now: Raw) -> None:
    """Note that a tensor was given other memory, as by ``x.data = y``. A pass then
    reads the new memory in place of the values that were saved."""
    held: Callable[[], Raw | None] = lambda: before
    earlier = [each for each, _ in _moves.get(edge, ()) if each() is not None]
    earlier.append(ref(before) if type(before) is np.ndarray else held)
    _moves[edge] = [(each, now) for each in earlier]
    CLOCK.now += 1


def moved(raw: Raw, edge: Any) -> Raw:
    """Return the present array of an edge's tensor if ``raw`` was one, else ``raw``."""
    found = _moves.get(edge, ()) if edge is not None and _moves else ()
    return next((now for held, now in found if held() is raw), raw)
