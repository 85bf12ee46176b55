"""The order of a tensor's entries in memory, which new tensors like it take over.

Invariant: the order is PyTorch's, so that draws fill a tensor there and here alike.

    memory_order((3, 4), (1, 3))              # [1, 0]: rows lie across
    in_memory_order(drawn, x)                 # drawn one after the other, as x lies
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .raw import Raw


def memory_order(sizes: Sequence[int], *steps: Sequence[int]) -> list[int]:
    """Return the dimensions of arrays of one shape, that of the longest step first; a
    later array decides where the steps before are 0, and of dimensions with equal steps
    the larger counts as the longer."""

    def is_longer(a: int, b: int) -> int:
        for each in steps:
            if each[a] and each[b]:
                if each[a] != each[b]:
                    return 1 if abs(each[a]) > abs(each[b]) else -1
                if sizes[a] > sizes[b]:
                    return 1
        return 0

    # A sort by insertion, because dimensions of steps that are 0 have no order.
    order = [*range(len(sizes))][::-1]
    for end in range(1, len(order)):
        at = end
        for below in range(end - 1, -1, -1):
            longer = is_longer(order[below], order[at])
            if longer < 0:
                break
            if longer:
                order[below], order[at] = order[at], order[below]
                at = below
    return order[::-1]


def order_of_results(steps: Sequence[Sequence[int]]) -> list[int]:
    """Return the dimensions of NumPy's results, that of the longest step first.

    Args:
        steps: of each operand the steps through memory, 0 where it is broadcast; where
            operands have different orders, the order of the indices is taken.
    """
    order: list[int] = []
    for new in reversed(range(len(steps[0]))):
        at = len(order)
        for place in reversed(range(len(order))):
            both = [(abs(s[order[place]]), abs(s[new])) for s in steps]
            decisive = [below > own for below, own in both if below and own]
            if decisive and not all(decisive):
                break
            at = place if decisive else at
        order.insert(at, new)
    return order[::-1]


def in_memory_order(entries: Any, *arrays: Raw) -> Any:
    """Return entries, which are given one after the other, in the shape of arrays and
    in the order in which the entries of these lie in memory."""
    flags = getattr(arrays[0], "flags", None)
    if flags is None or flags.c_contiguous:
        return entries.reshape(arrays[0].shape)
    shape = tuple(arrays[0].shape)
    order = memory_order(shape, *[x.strides for x in arrays])
    slow_first = entries.reshape([shape[d] for d in order])
    return slow_first.transpose(np.argsort(order).tolist()).copy("K")
