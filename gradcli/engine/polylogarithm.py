"""The polylogarithm of integer order on arrays of real numbers up to 1.

Invariant: no series is summed where its terms fall more slowly than powers of 1/2, and
no terms cancel except at the zeros of the function.

    polylogarithm(np, 2, np.array(1.0))      # pi**2/6
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

from .raw import Library, Raw

SMALL = 0.4
"""Largest distance from 0 at which the power series is summed."""

FAR = 4.5
"""Size of a negative argument from which on the value is found at its reciprocal."""

TERMS = 64
"""Number of terms of a series; later ones are below the rounding of the first."""

CUT = 20
"""Number of terms of zeta's sum before Euler's and Maclaurin's formula."""


def polylogarithm(np: Library, order: int, x: Raw) -> Raw:
    """Return ``sum(x**k / k**order)``, continued to all real ``x``. Beyond 1 it is NaN
    for orders from 1 on, which have no real value there."""
    wide = np.asarray(x).astype("float64")
    if order > 1:
        found = _of_two_or_more(np, order, wide)
    elif order == 1:
        found = -np.log1p(-wide)
    else:
        found = _of_rational_order(1 - order, wide)
    dtype = getattr(x, "dtype", wide.dtype)
    return found.astype(dtype if dtype.kind == "f" else wide.dtype)


def _of_rational_order(n: int, x: Raw) -> Raw:
    """Return the polylogarithm of order ``1 - n``, a polynomial of Euler's over a
    power. DLMF 25.12.10, with ``x`` times the derivative taken ``n - 1`` times."""
    numbers = [1]
    for m in range(2, n):
        pairs = zip([*numbers, 0], [0, *numbers], strict=True)
        numbers = [(k + 1) * a + (m - k) * b for k, (a, b) in enumerate(pairs)]
    total = 0 * x
    for number in numbers:
        total = total * x + number
    return x * total / (1 - x) ** n


def _of_two_or_more(np: Library, n: int, x: Raw) -> Raw:
    near, far, negative = np.abs(x) <= SMALL, x < -FAR, x < -SMALL
    safe = np.where(near, 1.0, np.abs(x))
    log = np.where(x <= 1, np.log(safe), math.nan)
    within = np.where(far, 0.0, log)
    inside = _powers(np, n, np.where(near, x, 0.0))
    beside = _by_logarithm(np, n, np.where(negative, -0.5, within))
    # At -exp(log), a power series in log.
    below = -_in_powers(np.where(negative, within, 0.0), lambda k: alternating(n - k))
    beyond = _by_reciprocal(np, n, np.where(far, x, -FAR), np.where(far, log, 1.0))
    return np.where(near, inside, np.where(
        far, beyond, np.where(negative, below, beside)))  # fmt: skip


def _powers(np: Library, n: int, x: Raw) -> Raw:
    """Return the sum of the power series at 0, for order ``n``."""
    total = 0 * x
    for k in range(TERMS, 0, -1):
        total = (total + float(k) ** -n) * x
    return total


def _by_logarithm(np: Library, n: int, log: Raw) -> Raw:
    """Return the values at ``exp(log)`` near 1, by DLMF 25.12.12 and its limit."""
    harmonic = sum(1 / k for k in range(1, n))
    gap = np.where(np.equal(log, 0), 1.0, -log)
    own = (harmonic - np.log(gap)) * log ** (n - 1) / math.factorial(n - 1)
    return own + _in_powers(log, lambda k: 0.0 if k == n - 1 else zeta(n - k))


def _by_reciprocal(np: Library, n: int, x: Raw, log: Raw) -> Raw:
    """Return the values below -1 by those at 1/x and powers of ``log``."""
    other = _powers(np, n, 1 / x) * (-1.0) ** (n - 1)
    total = 0 * log
    for k in range(n // 2 + 1):
        total = total + alternating(2 * k) * log ** (n - 2 * k) / math.factorial(
            n - 2 * k
        )
    return other - 2 * total


def _in_powers(x: Raw, coefficient: Callable[[int], float]) -> Raw:
    """Return ``sum(coefficient(k) * x**k / k!)``."""
    total = 0 * x
    for k in range(TERMS, -1, -1):
        total = total * x + coefficient(k) / math.factorial(k)
    return total


@cache
def zeta(n: int) -> float:
    """Return Riemann's zeta function of an integer but 1; DLMF 25.2.9, 25.6.3."""
    if n <= 0:
        return float(_bernoulli(1 - n) / (n - 1)) if n else -0.5
    rest = CUT ** (1.0 - n) / (n - 1) + CUT**-n / 2
    factor = n * CUT ** (-n - 1.0)
    for k in range(1, 9):
        rest += float(_bernoulli(2 * k)) / math.factorial(2 * k) * factor
        factor *= (n + 2 * k - 1) * (n + 2 * k) / CUT**2
    return math.fsum([*(float(k) ** -n for k in range(1, CUT)), rest])


@cache
def alternating(n: int) -> float:
    """Return ``sum((-1)**(k - 1) / k**n)``, continued to all integers ``n``."""
    return math.log(2) if n == 1 else (1 - 2.0 ** (1 - n)) * zeta(n)


@cache
def _bernoulli(n: int) -> Fraction:
    """Return Bernoulli's number of index ``n``, which is -1/2 for 1, by the recurrence
    that defines them."""
    parts = (math.comb(n + 1, k) * _bernoulli(k) for k in range(n))
    return Fraction(1) if n == 0 else -sum(parts, Fraction(0)) / (n + 1)
