"""The parts of a long array, on which work is done on all cores.

Invariant: an array is cut where NumPy's pairwise summation halves it, so that the sums
of the parts add up to the sum of the whole, to the last bit, on any number of cores.

    parts(0, 100_000, 1 << 14)  # [(0, 12496), (12496, 24992), ...]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from ..engine.parts import cores, share_out
from ..engine.raw import Raw

HALVES_DIVIDE_BY = 8
"""Number of entries; NumPy's pairwise summation cuts at multiples of it."""

Part = tuple[int, int]

T = TypeVar("T")


def cut(start: int, stop: int) -> int:
    """Return the position at which pairwise summation halves a range."""
    half = (stop - start) // 2
    return start + half - half % HALVES_DIVIDE_BY


def parts(start: int, stop: int, most: int) -> Iterator[Part]:
    """Yield the parts of a range in order, each of ``most`` entries or fewer."""
    waiting = [(start, stop)]
    while waiting:
        first, last = waiting.pop()
        if last - first <= most:
            yield first, last
        else:
            middle = cut(first, last)
            waiting += [(middle, last), (first, middle)]


def totals(sums: Mapping[Part, Sequence[Raw]], count: int) -> list[Raw]:
    """Return the totals of the sums over parts, added as pairwise summation adds."""

    def total(start: int, stop: int) -> Sequence[Raw]:
        if (start, stop) in sums:
            return sums[start, stop]
        middle = cut(start, stop)
        halves = total(start, middle), total(middle, stop)
        return [a + b for a, b in zip(*halves, strict=True)]

    with np.errstate(all="ignore"):
        return list(total(0, count))


def over_parts(count: int, work: Callable[[int, int], T], most: int) -> dict[Part, T]:
    """Return the results of ``work(start, stop)``, by the parts of ``count`` entries,
    each of ``most`` entries or fewer."""
    ranges = list(parts(0, count, most))
    found: dict[Part, T] = {}

    def put(part: Part) -> None:
        found[part] = work(*part)

    share_out(ranges, put, cores())
    return found
