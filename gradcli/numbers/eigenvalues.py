"""Eigenvalues of symmetric matrices and singular values, of balls and power series.

Values are FLINT's, of the matrix of all midpoints; one of another matrix in the balls
lies as far from them as the two matrices do at most (Weyl 1912). A derivative comes of
Newton's iteration on the characteristic polynomial's power series.

Invariant: what is given holds the number for every matrix in the balls; where two
eigenvalues are not told apart, their derivatives are unknown.

    eigenvalue(arb(0), arb(2), arb(1), arb(2))      # the least of [[2, 1], [1, 2]]: 1
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf, isqrt
from typing import Any

import numpy as np
from flint import acb_mat, arb, arb_series, ctx

from ..engine import NUMPY
from ..engine.errors import LinAlgError

Matrix = list[list[Any]]
"""Rows of balls, or of power series."""

# on balls


def eigenvalue(below: Any, *triangle: Any) -> Any:
    """The eigenvalue that has so many below it.

    Args:
        below: how many.
        triangle: the symmetric matrix's lower triangle, row by row.
    """
    return _eigenvalue(_counted(below), _symmetric(triangle))


def singular_value(above: Any, columns: Any, *entries: Any) -> Any:
    """The singular value that has so many above it.

    Args:
        above: how many.
        columns: how many the matrix has; no more than rows.
        entries: the matrix's entries, row by row.
    """
    n = _counted(columns)
    pairs = [[entries[k::n] for k in pair] for pair in _places(n)]
    gram = [sum((a * b for a, b in zip(*pair, strict=True)), arb(0)) for pair in pairs]
    square = _eigenvalue(n - 1 - _counted(above), _symmetric(gram))
    return square.sqrt() if isinstance(square, arb_series) else _root(square)


def _eigenvalue(below: int, matrix: Matrix) -> Any:
    value = _ascending([[_still(e) for e in row] for row in matrix])[below]
    if any(isinstance(e, arb_series) for row in matrix for e in row):
        return _moving(_characteristic(matrix), value)
    return value


def _places(n: int) -> list[tuple[int, int]]:
    """The rows and columns of a lower triangle, row by row."""
    return [(i, j) for i in range(n) for j in range(i + 1)]


def _symmetric(triangle: Sequence[Any]) -> Matrix:
    n = isqrt(2 * len(triangle))
    matrix: Matrix = [[None] * n for _ in range(n)]
    for (i, j), entry in zip(_places(n), triangle, strict=True):
        matrix[i][j] = matrix[j][i] = entry
    return matrix


def _still(x: Any) -> Any:
    return x[0] if isinstance(x, arb_series) else x


def _counted(b: Any) -> int:
    """The whole number that a ball is."""
    return int(_still(b).unique_fmpz())


def _root(square: Any) -> Any:
    """The root of a number that is not negative, of a ball that may hold less."""
    if square > 0 or square.is_zero() or not square.is_finite():
        return square.sqrt()
    return arb(0, square.abs_upper().sqrt().abs_upper())


def _ascending(matrix: Matrix) -> list[Any]:
    """All eigenvalues, each as often as it is one, the least first."""
    middles = [[e.mid() for e in row] for row in matrix]
    away = _norm([[e.rad() for e in row] for row in matrix])
    if not away.is_finite():
        return [arb(0, inf) for _ in matrix]
    try:
        found = _of_middles(middles)
    except ValueError:
        found, moved = _of_moved(middles)
        away = away + moved
    # However the balls overlap, so many of them begin, and end, below the next.
    lows = sorted(b.lower() for b in found)
    highs = sorted(b.upper() for b in found)
    around = arb(0, away.abs_upper())
    return [
        low.union(high) + around for low, high in zip(lows, highs, strict=True)
    ]  # fmt: skip


def _of_middles(middles: Matrix) -> list[Any]:
    return [found.real for found in acb_mat(middles).eig(multiple=True)]


def _of_moved(middles: Matrix) -> tuple[list[Any], Any]:
    """The eigenvalues of a matrix beside this one, of which several are equal, and how
    far it lies; half the bits tell them apart."""
    step = _norm(middles) * arb(2) ** -(ctx.prec // 2)
    for k, row in enumerate(middles):
        row[k] = (row[k] + k * step).mid()
    moved = len(middles) * step
    try:
        return _of_middles(middles), moved
    except ValueError:
        return [arb(0)] * len(middles), _norm(middles) + moved


def _norm(matrix: Matrix) -> Any:
    """What no eigenvalue is larger than."""
    return max(map(_size, matrix))


def _size(row: Iterable[Any]) -> Any:
    return sum((abs(e) for e in row), arb(0)).abs_upper()


# on power series


def _characteristic(matrix: Matrix) -> list[Any]:
    """The coefficients of ``det(t - matrix)``, the constant one first; Faddeev and
    LeVerrier."""
    n = len(matrix)
    found: list[Any] = [arb(1)]
    product: Matrix = [[arb(0)] * n for _ in range(n)]
    for k in range(1, n + 1):
        beside = [
            [e + found[-1] if i == j else e for j, e in enumerate(row)]
            for i, row in enumerate(product)
        ]
        columns = list(zip(*beside, strict=True))
        product = [[_inner(row, column) for column in columns] for row in matrix]
        found.append(-sum((product[i][i] for i in range(n)), arb(0)) / k)
    return found[::-1]


def _inner(row: Sequence[Any], column: Sequence[Any]) -> Any:
    return sum((a * b for a, b in zip(row, column, strict=True)), arb(0))


def _horner(coefficients: Sequence[Any], x: Any) -> Any:
    found = coefficients[-1]
    for c in coefficients[-2::-1]:
        found = found * x + c
    return found


def _moving(coefficients: Sequence[Any], value: Any) -> Any:
    """The power series of a simple root that begins with ``value``: at every step of
    Newton's iteration one more coefficient is right."""
    still = [_still(c) for c in coefficients]
    slope = _horner([k * c for k, c in enumerate(still)][1:], value)
    if slope.contains(0) or not slope.is_finite():
        return arb_series([value] + [arb(0, inf)] * (ctx.cap - 1))
    root = arb_series([value])
    for _ in range(ctx.cap - 1):
        missed = _horner(coefficients, root)
        root = root - (missed - missed[0]) / slope
    return root


# in floats


def eigenvalue_in_floats(below: Any, *triangle: Any) -> Any:
    """The same as the engine's arrays compute it."""
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
