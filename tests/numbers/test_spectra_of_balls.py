"""Eigenvalues and singular values as balls hold what mpmath computes with 200 digits,
exponentials of matrices what it computes with 60, and their derivatives hold its
difference quotients."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
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

DIGITS = 200
STEP = mpmath.mpf(10) ** -60


def drawn(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape)


def with_eigenvalues(*values: float) -> Any:
    """A symmetric matrix with eigenvalues near these."""
    q = np.linalg.qr(drawn(len(values), len(values)))[0]
    found = q @ np.diag(values) @ q.T
    return found + found.T


def triangle(matrix: Any) -> list[Any]:
    return [matrix[i][j] for i in range(len(matrix)) for j in range(i + 1)]


def symmetric(entries: Sequence[Any], n: int) -> Any:
    matrix, given = mpmath.zeros(n), iter(entries)
    for i in range(n):
        for j in range(i + 1):
            matrix[i, j] = matrix[j, i] = next(given)
    return matrix


def least_first(entries: Sequence[Any], n: int) -> list[Any]:
    with mpmath.workdps(DIGITS):
        return sorted(mpmath.eigsy(symmetric(entries, n), eigvals_only=True))


def largest_first(entries: Sequence[Any], n: int) -> list[Any]:
    with mpmath.workdps(DIGITS):
        matrix = mpmath.matrix(len(entries) // n, n)
        for i, entry in enumerate(entries):
            matrix[divmod(i, n)] = entry
        return sorted(mpmath.svd_r(matrix, compute_uv=False), reverse=True)


def as_ball(number: Any) -> Any:
    with mpmath.workdps(DIGITS):
        return arb(mpmath.nstr(number, DIGITS)) + arb(0, 1e-99)


def holds(found: Any, number: Any) -> bool:
    with working(1000):
        return bool((found - as_ball(number)).contains(0))


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


@pytest.mark.parametrize("matrix", [*SYMMETRIC, *EQUAL])
def test_an_eigenvalue_is_that_of_mpmath(matrix: Any) -> None:
    n, entries = len(matrix), triangle(matrix.tolist())
    for k, true in enumerate(least_first(entries, n)):
        with working(START_BITS):
            found = apply("eigenvalue", ball(k), *map(ball, entries))
        assert holds(found, true)
        assert found.rad() < 2.0**-50 * max(1.0, abs(matrix).max())
        assert in_floats("eigenvalue", [k, *entries]) == pytest.approx(
            float(true), abs=1e-14 * abs(matrix).max()
        )


@pytest.mark.parametrize("matrix", RECTANGULAR)
def test_a_singular_value_is_that_of_mpmath(matrix: Any) -> None:
    n, entries = matrix.shape[1], matrix.reshape(-1).tolist()
    for k, true in enumerate(largest_first(entries, n)):
        with working(START_BITS):
            found = apply("singular_value", ball(k), ball(n), *map(ball, entries))
        assert holds(found, true)
        assert found.rad() < 2.0**-50
        assert in_floats("singular_value", [k, n, *entries]) == pytest.approx(
            float(true), abs=1e-14
        )


@pytest.mark.parametrize("matrix", SYMMETRIC[1:4] + EQUAL[:3])
def test_wide_balls_hold_the_eigenvalues_of_every_matrix_in_them(matrix: Any) -> None:
    n, radius, draw = len(matrix), 1e-3, np.random.default_rng(0)
    with working(START_BITS):
        wide = [arb(entry, radius) for entry in triangle(matrix.tolist())]
        found = [apply("eigenvalue", ball(k), *wide) for k in range(n)]
    for _ in range(4):
        away = draw.uniform(-radius, radius, (n, n))
        inside = triangle((matrix + away).tolist())
        assert all(map(holds, found, least_first(inside, n)))


@pytest.mark.parametrize("name", ["eigenvalue", "singular_value"])
@pytest.mark.parametrize("k", [0, 2])
def test_derivatives_hold_difference_quotients(name: str, k: int) -> None:
    matrix = SYMMETRIC[5] if name == "eigenvalue" else RECTANGULAR[2]
    if name == "eigenvalue":
        entries, head, values = triangle(matrix.tolist()), [ball(k)], least_first
    else:
        entries, head = matrix.reshape(-1).tolist(), [ball(k), ball(3)]
        values = largest_first
    args = [*head, *map(ball, entries)]

    def moved(steps: dict[int, int]) -> Any:
        with mpmath.workdps(DIGITS):
            given = [mpmath.mpf(e) + STEP * steps.get(i, 0)
                     for i, e in enumerate(entries)]  # fmt: skip
        return values(given, 3)[k]

    for i in (0, 1, len(entries) - 1):
        with mpmath.workdps(DIGITS):
            slope = (moved({i: 1}) - moved({i: -1})) / (2 * STEP)
            bend = (moved({i: 1}) - 2 * moved({}) + moved({i: -1})) / STEP**2
        with working(START_BITS, 3):
            first = derivative(name, len(head) + i, args)
            second = second_derivative(name, len(head) + i, len(head) + i, args)
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


# exponentials

FEW_DIGITS = 60
WIDE_STEP = mpmath.mpf(10) ** -20


def square(n: int) -> Any:
    return np.random.default_rng(n).normal(size=(n, n))


MATRICES = [
    square(2), square(3), square(4) * 5, np.eye(3), np.zeros((3, 3)),
    np.diag([-30.0, 2.0, 2.0]), np.triu(np.ones((4, 4)), 1),
    np.array([[0.0, 1e6, 0.0], [0.0, 0.0, 1e-6], [0.0, 0.0, -1.0]]),
]  # fmt: skip


def exponential(entries: list[Any], n: int, place: int) -> Any:
    with mpmath.workdps(FEW_DIGITS):
        matrix = mpmath.matrix(n, n)
        for i, entry in enumerate(entries):
            matrix[divmod(i, n)] = entry
        return mpmath.expm(matrix)[divmod(place, n)]


def holds_few(found: Any, number: Any) -> bool:
    with mpmath.workdps(FEW_DIGITS):
        text = mpmath.nstr(number, FEW_DIGITS)
    with working(500):
        return bool((found - arb(text)).contains(0))


@pytest.mark.parametrize("matrix", MATRICES, ids=range(len(MATRICES)))
def test_an_entry_of_an_exponential_is_that_of_mpmath(matrix: Any) -> None:
    n, entries = len(matrix), matrix.reshape(-1).tolist()
    for place in range(n * n):
        with working(START_BITS):
            found = apply("exponential", ball(place), *map(ball, entries))
        wide = found + arb(0, 1e-40 * (1 + float(abs(found.mid()))))
        assert holds_few(wide, exponential(entries, n, place))
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
        off = abs(mpmath.mpf(own) - exponential(entries, n, place))
        assert off <= units * 2.0**-53


def test_wide_balls_hold_the_exponentials_of_every_matrix_in_them() -> None:
    draw, radius = np.random.default_rng(0), 1e-3
    matrix = square(3)
    with working(START_BITS):
        wide = [arb(e, radius) for e in matrix.reshape(-1).tolist()]
        found = [apply("exponential", ball(k), *wide) for k in range(9)]
    for _ in range(4):
        inside = (matrix + draw.uniform(-radius, radius, (3, 3))).reshape(-1).tolist()
        assert all(holds_few(f, exponential(inside, 3, k)) for k, f in enumerate(found))


@pytest.mark.parametrize("matrix", [square(3), np.eye(3)], ids=["drawn", "one"])
def test_derivatives_of_exponentials_hold_difference_quotients(matrix: Any) -> None:
    entries, place = matrix.reshape(-1).tolist(), 5
    args = [ball(place), *map(ball, entries)]

    def moved(*steps: tuple[int, int]) -> Any:
        with mpmath.workdps(FEW_DIGITS):
            given = [mpmath.mpf(e) for e in entries]
            for i, sign in steps:
                given[i] += sign * WIDE_STEP
        return exponential(given, 3, place)

    for i, j in ((0, 0), (3, 8), (5, 2)):
        with mpmath.workdps(FEW_DIGITS):
            slope = (moved((i, 1)) - moved((i, -1))) / (2 * WIDE_STEP)
            bend = sum(
                a * b * moved((i, a), (j, b)) for a in (1, -1) for b in (1, -1)
            ) / (4 * WIDE_STEP**2)
        with working(START_BITS, 3):
            first = derivative("exponential", 1 + i, args)
            second = second_derivative("exponential", 1 + i, 1 + j, args)
        assert max(first.rad(), second.rad()) < 1e-25
        assert holds_few(first + arb(0, 1e-15), slope)
        assert holds_few(second + arb(0, 1e-12), bend)


def test_an_exponential_that_is_too_large_is_not_known() -> None:
    huge = [ball(1e300)] * 9
    with working(START_BITS):
        assert not derivative("exponential", 1, [ball(0), *huge]).is_finite()
