"""Exponentials of matrices, of balls and power series.

Values are FLINT's. A power series of matrices is a matrix of blocks, the coefficient of
the k-th power in the k-th blocks to the right of the diagonal; the first row of blocks
of its exponential has the coefficients of the result, and no rule of differentiation is
needed.

Invariant: what is given holds the entry for every matrix in the balls.

    exponential(arb(1), arb(0), arb(1), arb(0), arb(0))     # of [[0, 1], [0, 0]]: 1
"""

from __future__ import annotations

from functools import lru_cache
from math import inf, isqrt
from typing import Any, Final

import numpy as np
from flint import arb, arb_mat, arb_series, ctx

from ..engine import NUMPY
from ..engine.factors import MAX_NORM
from .eigenvalues import Series, counted, series_of
from .limits import MAX_EXPONENTIALS_KEPT

Exact = tuple[tuple[Any, Any], ...]
"""The middles and the radii of balls."""

FACTORS: Final = 16
"""Units of rounding, times the rows, that an approximation of a small matrix's
exponential may be off by: it solves one system."""

# on balls and power series


def exponential(place: Any, *entries: Any) -> Any:
    """An entry of a matrix's exponential.

    Args:
        place: its number, row by row.
        entries: the matrix's entries, row by row.
    """
    n = isqrt(len(entries))
    given = series_of([entries[i : i + n] for i in range(0, len(entries), n)])
    every = [e for part in given for e in part.entries()]
    if all(e.is_finite() for e in every):
        exact = tuple([(e.mid(), e.rad()) for e in every])
        at = divmod(counted(place), n)
        found = [part[at] for part in _exponential(exact, n, ctx.prec)]
    else:
        found = [arb(0, inf)] * len(given)
    return arb_series(found) if len(given) > 1 else found[0]


@lru_cache(MAX_EXPONENTIALS_KEPT)
def _exponential(exact: Exact, n: int, bits: int) -> Series:
    """The coefficients of the exponential of matrices' power series, by those of its
    argument; ``bits`` is the precision at hand."""
    balls = [arb(middle, radius) for middle, radius in exact]
    count = len(balls) // (n * n)
    whole = [[arb(0)] * (n * count) for _ in range(n * count)]
    for number, entry in enumerate(balls):
        power, at = divmod(number, n * n)
        i, j = divmod(at, n)
        for block in range(count - power):
            whole[block * n + i][(block + power) * n + j] = entry
    rows = arb_mat(whole).exp().tolist()[:n]
    return [arb_mat([row[k * n : (k + 1) * n] for row in rows]) for k in range(count)]


# in floats


def exponential_in_floats(place: Any, *entries: Any) -> Any:
    """The same as the engine's arrays compute it."""
    found = NUMPY.matrix_exp(_matrices(entries))
    return found.reshape(-1)[int(place)]


def rounding_of_exponential(args: Any) -> list[Any]:
    """How far rounding carries an entry, in units: the errors of an approximation of a
    small power, and of the squares that are made of it. Of floats, or of columns."""
    place, *entries = args
    a = _matrices(entries)
    n = a.shape[-1]
    norms = np.abs(a).sum(-2).max(-1)
    with np.errstate(all="ignore"):
        doublings = int(np.ceil(np.log2(np.maximum(norms.max() / MAX_NORM, 1))))
        power = NUMPY.matrix_exp(a / 2.0**doublings)
        error = FACTORS * n * np.abs(power).max((-2, -1), keepdims=True)
        error = np.broadcast_to(error, a.shape)
        for _ in range(doublings):
            sizes = np.abs(power)
            error = sizes @ error + error @ sizes + n * (sizes @ sizes)
            power = power @ power
    at = int(np.ravel(place)[0])
    return [error.reshape(*a.shape[:-2], n * n)[..., at]]


def _matrices(entries: Any) -> Any:
    n = isqrt(len(entries))
    stacked = np.stack([np.asarray(e) for e in entries], -1)
    return stacked.reshape(*stacked.shape[:-1], n, n)
