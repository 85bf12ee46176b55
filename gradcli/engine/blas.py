"""How many threads NumPy's library of linear algebra takes for a product.

Invariant: a product that is done before its threads have met runs in one; the library's
own number stands again once no such product runs. Where the library is another than the
one that NumPy's packages carry, nothing is changed.

    product(a, b)           # a @ b
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np

from .raw import Raw

MIN_WORK_SPLIT = 1 << 18
"""Most multiplications for which the library itself takes one thread."""

MIN_WORK_OF_THREADS = 1 << 22
"""Fewest multiplications of a product on threads; fewer take less than 0.1 ms, and
waiting for threads that others keep from running takes many times as long."""

WIDE = 4
MIN_INNER_OF_WIDE = 256
"""Ratio of columns to rows, and inner length, from which a product of single floats and
a transposed matrix is faster the other way round: ``(b.T @ a.T).T``."""

PREFIXES = ("scipy_openblas_{}64_", "openblas_{}64_", "openblas_{}")
"""Patterns of the names of the library's functions, one for each way to build it."""


class _Bound:
    """Holds the library to one thread while products run that ask for it.

    ``asked`` counts them; ``before`` is the number of threads that stood before.
    """

    def __init__(self, read: Callable[[], int], write: Callable[[int], Any]) -> None:
        self.read = read
        self.write = write
        self.asked = self.before = 0
        self.lock = Lock()

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


def _searched() -> _Bound | None:
    """Look for the functions of the library that is loaded."""
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


_found: list[_Bound | None] = []


def threads() -> int:
    """Return how many threads the library takes for large products."""
    bound = library()
    return 1 if bound is None else max(bound.before if bound.asked else bound.read(), 1)


def library() -> _Bound | None:
    """Return the library, if it has several threads and can be held to one."""
    if not _found:
        _found.append(_searched())
    return _found[0]


def _is_wide(a: Raw, b: Raw) -> bool:
    return bool(
        a.dtype == b.dtype == np.float32
        and a.ndim == b.ndim == 2
        and WIDE * a.shape[0] <= b.shape[1]
        and a.shape[1] >= MIN_INNER_OF_WIDE
        and b.flags.f_contiguous
        and a.flags.c_contiguous
    )


def product(a: Raw, b: Raw) -> Any:
    """Return ``a @ b``; in one thread where matrices are small."""
    if a.ndim < 2 or b.ndim < 2:
        return np.matmul(a, b)
    if _is_wide(a, b):
        return np.ascontiguousarray(product(b.T, a.T).T)
    work = a.shape[-2] * a.shape[-1] * b.shape[-1]
    if not MIN_WORK_SPLIT < work < MIN_WORK_OF_THREADS:
        return np.matmul(a, b)
    bound = library()
    if bound is None:
        return np.matmul(a, b)
    with bound:
        return np.matmul(a, b)
