"""Pointwise programs on large arrays, part by part, on all cores.

Invariant: a part is small enough that everything computed from it stays in the
processor's cache, and parts are what NumPy's pairwise summation halves an array into,
so that a sum of their sums is the sum of the whole to the last bit, on any number of
cores.

    parts(0, 100_000, 1 << 14)  # [(0, 12496), (12496, 24992), ...]
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..engine.raw import Raw
from .excerpt import Span, locate

if TYPE_CHECKING:
    from .pointwise import Obstacle

MIN_ENTRIES = 1 << 17
"""Fewest entries of an array that is computed part by part."""

HALVES_DIVIDE_BY = 8
"""Multiple of entries at which NumPy's pairwise summation cuts."""

Part = tuple[int, int]

T = TypeVar("T")


def cut(start: int, stop: int) -> int:
    """Return where pairwise summation halves a range."""
    half = (stop - start) // 2
    return start + half - half % HALVES_DIVIDE_BY


def parts(start: int, stop: int, most: int) -> Iterator[Part]:
    """Yield the parts of a range, of at most so many entries, in order."""
    waiting = [(start, stop)]
    while waiting:
        first, last = waiting.pop()
        if last - first <= most:
            yield first, last
        else:
            middle = cut(first, last)
            waiting += [(middle, last), (first, middle)]


def totals(sums: Mapping[Part, Sequence[Raw]], count: int) -> list[Raw]:
    """Return the sums of all parts' sums, added as pairwise summation adds them."""

    def total(start: int, stop: int) -> Sequence[Raw]:
        if (start, stop) in sums:
            return sums[start, stop]
        middle = cut(start, stop)
        halves = total(start, middle), total(middle, stop)
        return [a + b for a, b in zip(*halves, strict=True)]

    with np.errstate(all="ignore"):
        return list(total(0, count))


def over_parts(count: int, work: Callable[[int, int], T], most: int) -> dict[Part, T]:
    """Return the results of ``work(start, stop)`` for each part of ``count`` entries.

    Args:
        count: the entries of the whole.
        work: computes a part.
        most: the most entries of a part.
    """
    ranges = list(parts(0, count, most))
    found: dict[Part, T] = {}
    waiting = iter(ranges)

    def some() -> None:
        try:
            for part in waiting:
                found[part] = work(*part)
        except BaseException:
            deque(waiting, 0)  # nobody begins another
            raise

    shares = min(cores(), len(ranges))
    if shares < 2:
        some()
        return found
    with ThreadPoolExecutor(shares - 1) as pool:
        helpers = [pool.submit(some) for _ in range(shares - 1)]
        some()
    for helper in helpers:
        helper.result()
    return found


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def common_shape(arrays: Sequence[Raw]) -> tuple[int, ...] | None:
    """Return the one shape of all arrays that are no scalars; None where parts do not
    help.

    All have to lie in memory in the order of their indices.
    """
    if in_the_way(arrays):
        return None
    return next(tuple(a.shape) for a in arrays if np.ndim(a))


def in_the_way(arrays: Sequence[Raw]) -> str:
    """Return why parts of arrays do not help; empty: they do."""
    large = [a for a in arrays if np.ndim(a)]
    shapes = {a.shape for a in large}
    if all(a.size < MIN_ENTRIES for a in large):
        return f"no input has the {MIN_ENTRIES:,} entries from which parts help"
    if len(shapes) > 1:
        listed = " and ".join(str(list(shape)) for shape in sorted(shapes))
        return f"the inputs have the shapes {listed}"
    if not all(a.flags.c_contiguous for a in large):
        return "an input's entries do not lie in memory in their order"
    return ""


@dataclass(frozen=True, slots=True)
class Fused:
    """A region that runs forward and backward part by part.

    text       of the program
    reduction  what its entries end in: sum, mean, or nothing
    entries    how many there are
    parts      how many parts they were cut into
    threads    that share them
    """

    text: str
    line: int
    column: int
    reduction: str
    entries: int
    parts: int
    threads: int


@dataclass(frozen=True, slots=True)
class Whole:
    """A reason why more does not run part by part; without a place where it is the
    numbers."""

    text: str | None
    line: int | None
    column: int | None
    reason: str


class Fusion:
    """The regions of one run that ran part by part, and the reasons of the rest."""

    def __init__(self) -> None:
        self.fused: list[Fused] = []
        self.rest: list[Whole] = []

    def region(
        self, source: str, span: Span, reduction: str, entries: int, most: int
    ) -> None:
        """Tell that a stretch of the program was run in parts of so many entries."""
        count = sum(1 for _ in parts(0, entries, most))
        place = locate(source, span)
        text = source[span.start : span.end]
        threads = min(cores(), count)
        self.fused.append(
            Fused(text, place.line, place.column, reduction, entries, count, threads)
        )

    def refused(self, reason: str) -> None:
        """Tell that the numbers do not let anything run in parts."""
        self.rest.append(Whole(None, None, None, reason))

    def obstacles(self, source: str, found: tuple[Obstacle, ...]) -> None:
        """Tell what in the program stands in the way."""
        for span, reason, _ in found:
            place, text = locate(source, span), source[span.start : span.end]
            self.rest.append(Whole(text, place.line, place.column, reason))
