"""Where a matrix turns out to be singular or indefinite, for the error that says so.

Invariant: asked only after the array module gave up; matrices are copied to the host.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import devices


def zero_pivot(a: Any) -> int:
    """The number, counted from 1, of the first pivot that is 0."""
    for matrix in _matrices(a):
        n = len(matrix)
        for k in range(n):
            best = k + int(np.argmax(np.abs(matrix[k:, k])))
            if matrix[best, k] == 0:
                return k + 1
            matrix[[k, best]] = matrix[[best, k]]
            matrix[k + 1 :] -= np.outer(matrix[k + 1 :, k] / matrix[k, k], matrix[k])
    return 1


def indefinite_minor(a: Any) -> int:
    """The order of the first leading minor that is not positive-definite."""
    for matrix in _matrices(a):
        for n in range(1, len(matrix) + 1):
            try:
                np.linalg.cholesky(matrix[:n, :n])
            except np.linalg.LinAlgError:
                return n
    return 1


def _matrices(a: Any) -> Any:
    array = np.array(devices.host(a))
    return array.reshape(-1, *array.shape[-2:])
