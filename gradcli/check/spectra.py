"""Eigenvalues and singular values of matrices of balls and power series.

FLINT computes the eigenvalues of the matrix of midpoints; for any other matrix in the
balls they differ by at most the distance of the two matrices (Weyl 1912). A derivative
comes from Newton's iteration on the power series of the characteristic polynomial.

Invariant: a result contains the number for every matrix in the balls; where two
eigenvalues are not told apart, their derivatives are unknown.

    eigenvalue(arb(0), arb(2), arb(1), arb(2))      # the least of [[2, 1], [1, 2]]: 1
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isqrt
from typing import Any

import numpy as np
from flint import acb_mat, arb, arb_mat, arb_series, ctx

from ..engine import NUMPY
from ..engine.errors import LinAlgError

Series = list[Any]
"""Matrix of power series, as the list of the matrices of coefficients of each order; a
matrix of balls is a list of one."""

# eigenvalues and singular values


def eigenvalue(below: Any, *triangle: Any) -> Any:
    """Return the eigenvalue, with ``below`` smaller ones, of the symmetric matrix with
    a given lower triangle, row by row."""
    return _eigenvalue(_series_of(_symmetric(triangle)), _counted(below))


def singular_value(above: Any, columns: Any, *entries: Any) -> Any:
    """Return the singular value, with ``above`` larger ones, of a matrix with no more
    columns than rows, whose entries are given row by row."""
    n = _counted(columns)
    matrix = _series_of(_rows(entries, n))
    gram = _product([m.transpose() for m in matrix], matrix)
    square = _eigenvalue(gram, n - 1 - _counted(above))
    return square.sqrt() if isinstance(square, arb_series) else _root(square)


def _symmetric(triangle: Sequence[Any]) -> list[list[Any]]:
    n = isqrt(2 * len(triangle))
    rows = [triangle[i * (i + 1) // 2 :][: i + 1] for i in range(n)]
    return [[rows[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]


def _counted(b: Any) -> int:
    still: Any = b[0] if isinstance(b, arb_series) else b
    return int(still.unique_fmpz())


def _root(square: Any) -> Any:
    """Return the root of a number that is at least 0, though its ball may go below."""
    if square > 0 or square.is_zero() or not square.is_finite():
        return square.sqrt()
    return arb(0, square.abs_upper().sqrt().abs_upper())


def _eigenvalue(matrix: Series, below: int) -> Any:
    value = _ascending(matrix[0])[below]
    return value if len(matrix) == 1 else _moving(_characteristic(matrix), value)


def _ascending(matrix: Any) -> list[Any]:
    middle = matrix.mid()
    away = _norm(matrix - middle)
    if not away.is_finite():
        return [arb(0, inf)] * matrix.nrows()
    try:
        found = _of_middle(middle)
    except ValueError:
        found, moved = _of_moved(middle)
        away = away + moved
    # The k-th lower end and the k-th upper end are bounds of the k-th eigenvalue.
    lows = sorted(b.lower() for b in found)
    highs = sorted(b.upper() for b in found)
    around = arb(0, away.abs_upper())
    return [low.union(high) + around for low, high in zip(lows, highs, strict=True)]


def _of_middle(middle: Any) -> list[Any]:
    return [found.real for found in acb_mat(middle).eig(multiple=True)]


def _of_moved(middle: Any) -> tuple[list[Any], Any]:
    """Return the eigenvalues of ``middle`` after its diagonal is moved, by half of the
    precision, so that they differ, and a bound of the distance."""
    n, size = middle.nrows(), _norm(middle)
    step = (size * arb(2) ** -(ctx.prec // 2)).mid()
    steps = [[k * step if j == k else 0 for j in range(n)] for k in range(n)]
    moved = n * step
    try:
        return _of_middle((middle + arb_mat(steps)).mid()), 2 * moved
    except ValueError:
        return [arb(0)] * n, size


def _norm(matrix: Any) -> Any:
    sums = [sum(map(abs, row), arb(0)).abs_upper() for row in matrix.tolist()]
    return max(sums) if all(each.is_finite() for each in sums) else arb(inf)


def _rows(entries: Sequence[Any], columns: int) -> list[Sequence[Any]]:
    return [entries[i : i + columns] for i in range(0, len(entries), columns)]


def _series_of(rows: Sequence[Sequence[Any]]) -> Series:
    """Return the matrices of coefficients of a matrix of balls and power series."""
    if not any(isinstance(e, arb_series) for row in rows for e in row):
        return [arb_mat([list(row) for row in rows])]
    every = [[e if isinstance(e, arb_series) else arb_series([e]) for e in row]
             for row in rows]  # fmt: skip
    return [arb_mat([[e[k] for e in row] for row in every]) for k in range(ctx.cap)]


def _product(a: Series, b: Series) -> Series:
    found = [a[0] * part for part in b]
    for k in range(1, len(a)):
        for i in range(1, k + 1):
            found[k] = found[k] + a[i] * b[k - i]
    return found


def _characteristic(matrix: Series) -> list[Any]:
    """Return the coefficients of ``det(t - matrix)``, by Faddeev and LeVerrier."""
    n = matrix[0].nrows()
    one = arb_mat(n, n, [i % (n + 1) == 0 for i in range(n * n)])
    found = [arb_series([1])]
    product = [one * 0 for _ in matrix]
    for k in range(1, n + 1):
        beside = [part + one * found[-1][i] for i, part in enumerate(product)]
        product = _product(matrix, beside)
        found.append(arb_series([-part.trace() / k for part in product]))
    return found[::-1]


def _moving(coefficients: Sequence[Any], value: Any) -> Any:
    """Return the power series, from ``value`` on, of a polynomial's simple root: each
    step of Newton's iteration makes one more coefficient right."""
    slope = _at(value, [k * c[0] for k, c in enumerate(coefficients)][1:])
    if slope.contains(0) or not slope.is_finite():
        return arb_series([value] + [arb(0, inf)] * (ctx.cap - 1))
    root = arb_series([value])
    for _ in range(ctx.cap - 1):
        missed = _at(root, coefficients)
        root = root - (missed - missed[0]) / slope
    return root


def _at(x: Any, coefficients: Sequence[Any]) -> Any:
    found = coefficients[-1]
    for c in coefficients[-2::-1]:
        found = found * x + c
    return found


# in floats


def eigenvalue_in_floats(below: Any, *triangle: Any) -> Any:
    """Return an eigenvalue as the engine's arrays compute it, in floating point."""
    matrix = np.array(_symmetric(triangle))
    return _in_floats(lambda a: NUMPY.eigh_factors(a)[0], matrix, int(below))


def singular_value_in_floats(above: Any, columns: Any, *entries: Any) -> Any:
    matrix = np.array(entries).reshape(-1, int(columns))
    return _in_floats(lambda a: NUMPY.svd_factors(a, False)[1], matrix, int(above))


def _in_floats(values: Any, matrix: Any, place: int) -> Any:
    wide = matrix.astype(np.float32) if matrix.dtype == np.float16 else matrix
    try:
        return values(wide)[place].astype(matrix.dtype)
    except (np.linalg.LinAlgError, LinAlgError):
        return matrix.dtype.type(np.nan)
