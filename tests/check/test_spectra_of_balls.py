"""Eigenvalues and singular values of matrices as balls hold what mpmath
computes with many digits, and their derivatives hold its difference quotients."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb

from gradcli.check.balls import (
    START_BITS,
    apply,
    ball,
    derivative,
    in_floats,
    second_derivative,
    working,
)

DIGITS = 200
"""Digits that mpmath computes with, by function."""


def drawn(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape)


def with_eigenvalues(*values: float) -> Any:
    """A symmetric matrix with eigenvalues near these."""
    q = np.linalg.qr(drawn(len(values), len(values)))[0]
    found = q @ np.diag(values) @ q.T
    return found + found.T


SYMMETRIC = [
    *(drawn(n, n) + drawn(n, n).T for n in range(1, 6)),
    with_eigenvalues(1, 1 + 1e-6, 3),
    with_eigenvalues(1, 1 + 1e-6, 1 + 2e-6, 2, -1),
    drawn(3, 1) @ drawn(1, 3) + (drawn(3, 1) @ drawn(1, 3)).T,
    np.array([[1e8, 1.0, 2.0], [1.0, 1e-8, 3e-5], [2.0, 3e-5, 7e-3]]),
]

EQUAL = [
    np.eye(3),
    np.ones((4, 4)),
    np.diag([1.0, 1.0, 1.0, 2.0, 2.0]),
    np.zeros((3, 3)),
    np.array([[2.0, 1.0, 1.0], [1.0, 2.0, 1.0], [1.0, 1.0, 2.0]]),
]

RECTANGULAR = [drawn(3, 3), drawn(4, 4), drawn(5, 3), np.ones((3, 3)), drawn(6, 5)]


def triangle(matrix: Any) -> list[Any]:
    return [matrix[i][j] for i in range(len(matrix)) for j in range(i + 1)]


def entries_of(name: str, matrix: Any) -> list[Any]:
    """What a function is given of a matrix."""
    whole = np.asarray(matrix)
    every: list[Any] = whole.reshape(-1).tolist()
    return triangle(whole.tolist()) if name == "eigenvalue" else every


def numbers(name: str, entries: Sequence[Any], columns: int) -> list[Any]:
    """All values that a function gives of these entries, by mpmath."""
    rest = iter(entries)
    with mpmath.workdps(DIGITS):
        if name == "eigenvalue":
            matrix = mpmath.zeros(columns)
            for i in range(columns):
                for j in range(i + 1):
                    matrix[i, j] = matrix[j, i] = next(rest)
            return sorted(mpmath.eigsy(matrix, eigvals_only=True))
        matrix = mpmath.matrix(len(entries) // columns, columns)
        for i, entry in enumerate(rest):
            matrix[divmod(i, columns)] = entry
        return sorted(mpmath.svd_r(matrix, compute_uv=False), reverse=True)


def head(name: str, place: int, columns: int) -> list[int]:
    """The arguments before the entries."""
    return [place, columns] if name == "singular_value" else [place]


def holds(found: Any, number: Any, room: float = 1e-99) -> bool:
    with mpmath.workdps(DIGITS):
        exactly = mpmath.nstr(number, DIGITS)
    with working(1000):
        return bool((found - arb(exactly) - arb(0, room)).contains(0))


EVERY = [
    *(("eigenvalue", m) for m in (*SYMMETRIC, *EQUAL)),
    *(("singular_value", m) for m in RECTANGULAR),
]


@pytest.mark.parametrize(("name", "matrix"), EVERY)
def test_a_number_is_that_of_mpmath(name: str, matrix: Any) -> None:
    columns, entries = matrix.shape[1], entries_of(name, matrix)
    size = abs(matrix).max() if name == "eigenvalue" else 1.0
    for k, true in enumerate(numbers(name, entries, columns)):
        given = [*head(name, k, columns), *entries]
        with working(START_BITS):
            found = apply(name, *map(ball, given))
        own = in_floats(name, given)
        assert holds(found, true)
        assert found.rad() < 2.0**-50 * max(1.0, size)
        assert own == pytest.approx(float(true), abs=1e-14 * size)


WIDE = [("eigenvalue", m) for m in SYMMETRIC[1:4] + EQUAL[:3]]


@pytest.mark.parametrize(("name", "matrix"), WIDE)
def test_wide_balls_hold_the_numbers_of_every_matrix_in_them(
    name: str, matrix: Any
) -> None:
    n, radius, draw = len(matrix), 1e-3, np.random.default_rng(0)
    entries = entries_of(name, matrix)
    count = len(numbers(name, entries, n))
    with working(START_BITS):
        wide = [arb(entry, radius) for entry in entries]
        found = [apply(name, ball(k), *wide) for k in range(count)]
    for _ in range(4):
        inside = entries_of(name, matrix + draw.uniform(-radius, radius, (n, n)))
        for each, true in zip(found, numbers(name, inside, n), strict=True):
            assert holds(each, true)


BENT = [
    *(("eigenvalue", SYMMETRIC[5], k, ((0, 0), (1, 1), (5, 5))) for k in (0, 2)),
    *(
        ("singular_value", RECTANGULAR[2], k, ((0, 0), (1, 1), (14, 14)))
        for k in (0, 2)
    ),
]


@pytest.mark.parametrize(("name", "matrix", "k", "pairs"), BENT)
def test_derivatives_hold_difference_quotients(
    name: str, matrix: Any, k: int, pairs: Any
) -> None:
    columns, entries = matrix.shape[1], entries_of(name, matrix)
    before = head(name, k, columns)
    args = [*map(ball, before), *map(ball, entries)]
    step = mpmath.mpf(10) ** -60

    def moved(*steps: tuple[int, int]) -> Any:
        with mpmath.workdps(DIGITS):
            given = [mpmath.mpf(e) for e in entries]
            for i, sign in steps:
                given[i] += sign * step
        return numbers(name, given, columns)[k]

    for i, j in pairs:
        with mpmath.workdps(DIGITS):
            slope = (moved((i, 1)) - moved((i, -1))) / (2 * step)
            bend = sum(
                a * b * moved((i, a), (j, b)) for a in (1, -1) for b in (1, -1)
            ) / (4 * step**2)
        at = len(before)
        with working(START_BITS, 3):
            first = derivative(name, at + i, args)
            second = second_derivative(name, at + i, at + j, args)
        assert first.rel_accuracy_bits() > 40
        assert holds(first, slope)
        assert holds(second, bend)


@pytest.mark.parametrize("matrix", EQUAL)
def test_equal_eigenvalues_have_no_known_derivative(matrix: Any) -> None:
    entries = [ball(Fraction(e)) for e in triangle(matrix.tolist())]
    n = len(matrix)
    known = []
    for bits in (START_BITS, 1000):
        with working(bits):
            known += [derivative("eigenvalue", 1, [ball(k), *entries]).is_finite()
                      for k in range(n)]  # fmt: skip
    true = np.linalg.eigvalsh(matrix).round(9).tolist()
    assert known == 2 * [true.count(value) == 1 for value in true]
