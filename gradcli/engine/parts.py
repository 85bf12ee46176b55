"""A batch in parts that stay in the processor's cache, on the threads there are.

Invariant: items are computed apart from one another and joined in their order, so that
results are the same on any number of threads. The caller works too, and waits for a
part only if somebody has begun it: threads that are kept from running hold nothing up.

    over_parts(run, (x,), 4096)         # run(x[:8]), run(x[8:16]), ... joined
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from threading import Lock
from typing import Any

import numpy as np

from .blas import threads
from .raw import Raw, Run

PART_BYTES = 1 << 20
"""Usual size of a part, in bytes: what a core's second cache holds."""

MIN_PART_BYTES = 1 << 16
"""Least size of a part, in bytes, however many threads there are: small arrays may be
added up in another order."""

MIN_BYTES_TO_CUT = 1 << 22
MIN_BYTES_TO_SHARE = 1 << 20
"""Sizes from which on a batch is cut on one thread, and on several, in bytes."""

_pool: list[ThreadPoolExecutor] = []


def over_parts(run: Run, arrays: Sequence[Raw], entries: int) -> Any:
    """Return ``run(*arrays)``, of a few items of the first dimension at a time.

    Args:
        entries: how many are made of each item.
    """
    count, each = arrays[0].shape[0], entries * arrays[0].dtype.itemsize
    if count < 2 or count * each < MIN_BYTES_TO_SHARE:
        return run(*arrays)
    shares = threads()
    if shares < 2 and count * each < MIN_BYTES_TO_CUT:
        return run(*arrays)
    rounds = -(-count // (max(1, PART_BYTES // each) * shares))
    if count * each < MIN_BYTES_TO_CUT:
        rounds = 1
    most = max(1, count * each // MIN_PART_BYTES)
    parts = min(rounds * shares, count, most)
    joined = _Joined(count)
    waiting = iter(range(parts))

    def work() -> None:
        for nr in waiting:
            at = slice(count * nr // parts, count * (nr + 1) // parts)
            joined.put(at, run(*[a[at] for a in arrays]))

    helpers = _helped(work, min(shares, parts) - 1)
    try:
        work()
    finally:
        for helper in helpers:
            if not helper.cancel():
                helper.result()
    return joined.whole


class _Joined:
    """The results of parts, put together by the threads that computed them."""

    __slots__ = ("_count", "_lock", "whole")

    def __init__(self, count: int) -> None:
        self.whole: Any = None
        self._count = count
        self._lock = Lock()

    def put(self, at: slice, part: Raw) -> None:
        with self._lock:
            if self.whole is None:
                self.whole = np.empty((self._count, *part.shape[1:]), part.dtype)
        self.whole[at] = part


def _helped(work: Callable[[], None], count: int) -> list[Future[None]]:
    """Let so many threads do some of the work."""
    if count < 1:
        return []
    if not _pool:
        _pool.append(ThreadPoolExecutor(threads() - 1))
    try:
        return [_pool[0].submit(copy_context().run, work) for _ in range(count)]
    except RuntimeError:  # the interpreter is about to end
        return []
