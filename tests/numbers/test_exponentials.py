"""Exponentials of matrices as balls hold what mpmath computes with 60 digits, and their
derivatives hold its difference quotients."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb

from gradcli.engine import NUMPY
from gradcli.numbers.balls import (
    START_BITS,
    apply,
    ball,
    derivative,
    in_floats,
    second_derivative,
    working,
)
from gradcli.numbers.spectra import rounding_of_exponential

DIGITS = 60
STEP = mpmath.mpf(10) ** -20


def drawn(n: int, size: float = 1.0) -> Any:
    return np.random.default_rng(n).normal(size=(n, n)) * size


MATRICES = [
    drawn(2), drawn(3), drawn(4, 5.0), np.eye(3), np.zeros((3, 3)),
    np.diag([-30.0, 2.0, 2.0]), np.triu(np.ones((4, 4)), 1),
    np.array([[0.0, 1e6, 0.0], [0.0, 0.0, 1e-6], [0.0, 0.0, -1.0]]),
]  # fmt: skip


def true(entries: list[Any], n: int, place: int) -> Any:
    with mpmath.workdps(DIGITS):
        matrix = mpmath.matrix(n, n)
        for i, entry in enumerate(entries):
            matrix[divmod(i, n)] = entry
        return mpmath.expm(matrix)[divmod(place, n)]


def holds(found: Any, number: Any) -> bool:
    with mpmath.workdps(DIGITS):
        text = mpmath.nstr(number, DIGITS)
    with working(500):
        return bool((found - arb(text)).contains(0))


@pytest.mark.parametrize("matrix", MATRICES, ids=range(len(MATRICES)))
def test_an_entry_is_that_of_mpmath(matrix: Any) -> None:
    n, entries = len(matrix), matrix.reshape(-1).tolist()
    for place in range(n * n):
        with working(START_BITS):
            found = apply("exponential", ball(place), *map(ball, entries))
        wide = found + arb(0, 1e-40 * (1 + float(abs(found.mid()))))
        assert holds(wide, true(entries, n, place))
        assert found.rad() < 1e-25 * (1 + abs(matrix).max() ** 2)
        own = in_floats("exponential", [place, *entries])
        assert own == NUMPY.matrix_exp(matrix).reshape(-1)[place]


@pytest.mark.parametrize("matrix", MATRICES, ids=range(len(MATRICES)))
def test_floats_lie_within_the_rounding_that_is_told(matrix: Any) -> None:
    n, entries = len(matrix), matrix.reshape(-1).tolist()
    for place in range(n * n):
        (units,) = rounding_of_exponential([float(place), *entries])
        twice = [np.full(2, float(e)) for e in (place, *entries)]
        columns = rounding_of_exponential(twice)
        assert columns[0].tolist() == [units, units]
        own = in_floats("exponential", [place, *entries])
        off = abs(mpmath.mpf(own) - true(entries, n, place))
        assert off <= units * 2.0**-53


def test_wide_balls_hold_the_exponentials_of_every_matrix_in_them() -> None:
    draw, radius = np.random.default_rng(0), 1e-3
    matrix = drawn(3)
    with working(START_BITS):
        wide = [arb(e, radius) for e in matrix.reshape(-1).tolist()]
        found = [apply("exponential", ball(k), *wide) for k in range(9)]
    for _ in range(4):
        inside = (matrix + draw.uniform(-radius, radius, (3, 3))).reshape(-1).tolist()
        assert all(holds(f, true(inside, 3, k)) for k, f in enumerate(found))


@pytest.mark.parametrize("matrix", [drawn(3), np.eye(3)], ids=["drawn", "one"])
def test_derivatives_hold_difference_quotients(matrix: Any) -> None:
    entries, place = matrix.reshape(-1).tolist(), 5
    args = [ball(place), *map(ball, entries)]

    def moved(*steps: tuple[int, int]) -> Any:
        with mpmath.workdps(DIGITS):
            given = [mpmath.mpf(e) for e in entries]
            for i, sign in steps:
                given[i] += sign * STEP
        return true(given, 3, place)

    for i, j in ((0, 0), (3, 8), (5, 2)):
        with mpmath.workdps(DIGITS):
            slope = (moved((i, 1)) - moved((i, -1))) / (2 * STEP)
            bend = sum(
                a * b * moved((i, a), (j, b)) for a in (1, -1) for b in (1, -1)
            ) / (4 * STEP**2)
        with working(START_BITS, 3):
            first = derivative("exponential", 1 + i, args)
            second = second_derivative("exponential", 1 + i, 1 + j, args)
        assert max(first.rad(), second.rad()) < 1e-25
        assert holds(first + arb(0, 1e-15), slope)
        assert holds(second + arb(0, 1e-12), bend)


def test_what_is_too_large_is_not_known() -> None:
    huge = [ball(1e300)] * 9
    with working(START_BITS):
        assert not derivative("exponential", 1, [ball(0), *huge]).is_finite()
