"""Computation on large arrays in parts that fit the processor's cache, on threads.

Invariant: items are computed separately and joined in their order, so that results are
the same on any number of threads. The calling thread works too, and waits only for
parts that another thread has begun, so that threads that cannot run delay nothing.

    over_parts(run, (x,), 4096)         # run(x[:8]), run(x[8:16]), ... joined
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from contextvars import copy_context
from functools import cache
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..ops.locks import forkable
from .raw import Raw, Run

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

MIN_WORK_SPLIT = 1 << 18
"""Largest number of multiplications for which the library itself uses one thread."""

MIN_ENTRIES_SPLIT = 10_000
"""Largest number of entries of two vectors for which the library itself uses one
thread."""

MIN_ENTRIES_FACTORED = 1 << 10
"""Fewest entries of a matrix that the library factors on several threads. In each step
of a factorization they wait for each other."""

MIN_WORK_OF_THREADS = 1 << 22
"""Fewest multiplications of a product on threads; fewer take about 1 ms at most, and a
wait for threads that cannot run takes many times as long."""

MIN_ENTRIES_OF_THREADS = 1 << 15
"""Fewest entries of an array whose slow functions are shared out to threads."""

PREFIXES = ("scipy_openblas_{}64_", "openblas_{}64_", "openblas_{}")
"""Prefixes of the names of the library's functions, one for each way to build it."""


class _Bound:
    """A block in which the library runs on one thread; blocks may overlap.

    ``asked`` counts the open blocks; ``before`` is the number of threads outside.
    """

    def __init__(self, read: Callable[[], int], write: Callable[[int], Any]) -> None:
        self.read = read
        self.write = write
        self.asked = self.before = 0
        self.lock = forkable()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        """Leave the blocks of other threads, which a forked process does not have."""
        if self.asked and self.before > 1:
            self.write(self.before)
        self.asked = 0

    def __enter__(self) -> None:
        with self.lock:
            if not self.asked:
                self.before = self.read()
                if self.before > 1:
                    self.write(1)
            self.asked += 1

    def __exit__(self, *problem: object) -> None:
        with self.lock:
            self.asked -= 1
            if not self.asked and self.before > 1:
                self.write(self.before)


def threads() -> int:
    """Return how many threads the library uses for large products."""
    bound = library()
    return 1 if bound is None else max(bound.before if bound.asked else bound.read(), 1)


@cache
def library() -> _Bound | None:
    """Return the library that is loaded; None if it cannot be held to one of several
    threads."""
    import ctypes

    core = sys.modules.get("numpy._core._multiarray_umath")
    if core is None or core.__file__ is None:
        return None
    try:
        loaded = ctypes.CDLL(core.__file__)
    except OSError:
        return None
    for prefix in PREFIXES:
        read = getattr(loaded, prefix.format("get_num_threads"), None)
        write = getattr(loaded, prefix.format("set_num_threads"), None)
        if read is not None and write is not None:
            return _Bound(read, write) if read() > 1 else None
    return None


def product(a: Raw, b: Raw) -> Any:
    """Return ``a @ b``, computed on one thread if it takes little work."""
    rows, inner = (1, 1, *a.shape)[-2:]
    columns = b.shape[-1] if b.ndim > 1 else 1
    alone = MIN_ENTRIES_SPLIT if a.ndim == b.ndim == 1 else MIN_WORK_SPLIT
    if alone < rows * inner * columns < MIN_WORK_OF_THREADS:
        return _on_one_thread(np.matmul, a, b)
    return np.matmul(a, b)


def factored(run: Run, a: Raw, *more: Any) -> Any:
    """Return ``run(a, *more)``, a function of LAPACK on matrices ``a``, computed on one
    thread if they are small."""
    rows, columns = (1, 1, *a.shape)[-2:]
    if MIN_ENTRIES_FACTORED <= rows * columns <= MIN_WORK_SPLIT:
        return _on_one_thread(run, a, *more)
    return run(a, *more)


def _on_one_thread(run: Run, *args: Any) -> Any:
    with library() or nullcontext():
        return run(*args)


PART_BYTES = 1 << 20
"""Usual size of a part, in bytes, which fits a core's second cache."""

MIN_PART_BYTES = 1 << 16
"""Least size of a part, in bytes, on any number of threads; NumPy may add up smaller
arrays in another order."""

MIN_BYTES_TO_CUT = 1 << 22
MIN_BYTES_TO_SHARE = 1 << 20
"""Least sizes, in bytes, of a batch that is cut on one thread, and on several."""

_pool: list[ThreadPoolExecutor] = []
if hasattr(os, "register_at_fork"):
    # A forked process has none of the threads.
    os.register_at_fork(after_in_child=_pool.clear)


def over_parts(run: Run, arrays: Sequence[Raw], entries: int) -> Any:
    """Return ``run(*arrays)``, run on a few items of the first dimension at a time.

    Args:
        entries: the number of entries in the result for each item.
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
    lock, whole = Lock(), list[Any]()

    def work(nr: int) -> None:
        at = slice(count * nr // parts, count * (nr + 1) // parts)
        part = run(*[a[at] for a in arrays])
        with lock:
            if not whole:
                whole.append(np.empty((count, *part.shape[1:]), part.dtype))
        whole[0][at] = part

    share_out(range(parts), work, shares)
    return whole[0]


T = TypeVar("T")


def share_out(parts: Sequence[T], work: Callable[[T], None], most: int) -> None:
    """Do ``work`` on each part, in the calling thread and on helping ones.

    An error leaves no part for a thread to begin.

    Args:
        most: the largest number of threads.
    """
    waiting = iter(parts)

    def some() -> None:
        try:
            for part in waiting:
                work(part)
        except BaseException:
            deque(waiting, 0)
            raise

    helpers = _helped(some, min(most, len(parts)) - 1)
    try:
        some()
    finally:
        begun = [helper for helper in helpers if not helper.cancel()]
        for helper in begun:
            helper.exception()
    for helper in begun:
        helper.result()


def on_threads(function: Run) -> Run:
    """Return a function of one array that is computed entry by entry, run on parts of
    large arrays of doubles on all cores."""

    def run(x: Any) -> Any:
        if type(x) is not np.ndarray or x.size < MIN_ENTRIES_OF_THREADS:
            return function(x)
        if x.dtype != np.float64 or not x.flags.c_contiguous:
            return function(x)
        out, shares = np.empty_like(x), cores()
        flat, into = x.reshape(-1), out.reshape(-1)
        ends = np.linspace(0, x.size, 2 * shares + 1).astype(int).tolist()
        parts = [slice(*each) for each in pairwise(ends)]
        share_out(parts, lambda at: function(flat[at], out=into[at]), shares)
        return out

    return run


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _helped(work: Callable[[], None], count: int) -> list[Future[None]]:
    """Start ``work`` on up to ``count`` threads, and return their futures."""
    if count < 1:
        return []
    if not _pool:
        from concurrent.futures import ThreadPoolExecutor

        _pool.append(ThreadPoolExecutor(max(threads(), cores()) - 1))
    try:
        return [_pool[0].submit(copy_context().run, work) for _ in range(count)]
    except RuntimeError:  # the interpreter is about to end
        return []
