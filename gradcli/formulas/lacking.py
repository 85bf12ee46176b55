"""Functions that NumPy lacks; a program that calls one has a copy of it.

Invariant: a function needs only NumPy, as ``np``, and is copied without a change.
"""

# mypy: allow-untyped-defs
# mypy: allow-untyped-calls

import numpy as np


def put(shape, index, g):
    """Zeros with g at an index."""
    out = np.zeros(shape)
    out[index] = g
    return out


def put_add(shape, index, g):
    """Zeros with g added at an index."""
    out = np.zeros(shape)
    np.add.at(out, index, g)
    return out


def argsort(x, axis=-1, descending=False):
    """The order of the entries; equal ones keep theirs."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    order = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    return np.flip(x.shape[axis] - 1 - order, axis)


def lu_factors(a):
    """Both triangles in one matrix, and the rows exchanged, counted from 1."""
    both, k = np.array(a, dtype=float), min(a.shape[-2:])
    pivots = np.zeros((*a.shape[:-2], k), dtype=int)
    for at in np.ndindex(a.shape[:-2]):
        m = both[at]
        for i in range(k):
            p = i + int(np.argmax(np.abs(m[i:, i])))
            m[[i, p]], pivots[at][i] = m[[p, i]], p + 1
            m[i + 1 :, i] /= m[i, i]
            m[i + 1 :, i + 1 :] -= np.outer(m[i + 1 :, i], m[i, i + 1 :])
    return both, pivots


def matrix_exp(a):
    """Exponentials of matrices: Taylor's series of a small part of them, squared."""
    size = max(np.abs(a).sum(-1).max(initial=0.0), 1.0)
    doublings = int(np.ceil(np.log2(size))) + 4
    term = total = np.broadcast_to(np.eye(a.shape[-1]), a.shape)
    for k in range(1, 16):
        term = term @ (a / 2.0**doublings) / k
        total = total + term
    for _ in range(doublings):
        total = total @ total
    return total
