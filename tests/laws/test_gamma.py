"""Gamma, factorial and binomial beside mpmath: between poles and beside them, with the
right sign, in both derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from gradcli.engine import NUMPY, Tensor, grad
from gradcli.engine.record import function

from .in_mpmath import DIGITS

POINTS = (-6.25, -3.5, -1.5, -0.75, 0.25, 1.5, 4.0, 7.5, 30.25)
BESIDE_POLES = tuple(-k + gap for k in range(4) for gap in (-1e-3, 1e-6, -1e-9, 1e-11))
NUMBERS = (-7.5, -0.5, 0.25, 2.5, 5.0)
WHOLE = (-5.0, -1.0, 0.0, 3.0)


def of_gammas(n: Any, k: Any) -> Any:
    """The binomial coefficient by functions without poles in ``k``."""
    return mpmath.gamma(n + 1) * mpmath.rgamma(k + 1) * mpmath.rgamma(n - k + 1)


TRUE: dict[str, Callable[..., Any]] = {
    "gamma": mpmath.gamma,
    "factorial": lambda x: mpmath.gamma(x + 1),
    "binom": of_gammas,
}


def cases() -> Iterator[tuple[str, tuple[float, ...]]]:
    for name in ("gamma", "factorial"):
        for x in (*POINTS, *BESIDE_POLES):
            yield name, (x,)
    for n in NUMBERS:
        for k in (*NUMBERS, *WHOLE, *BESIDE_POLES[5:12]):
            yield "binom", (n, k)
            yield "binom", (n, n - k)


def derivatives(name: str, at: tuple[float, ...]) -> Iterator[tuple[str, float]]:
    """The value, the derivatives and the second derivatives that the rules give."""
    leaves = [Tensor(np.array(x), NUMPY, True) for x in at]
    y = function(name)(*leaves)
    yield "value", float(y.raw)
    for i, one in enumerate(grad([y], leaves, create_graph=True)):
        assert one is not None
        yield f"by {i}", float(one.raw)
        twice = grad([one], leaves, retain_graph=True)
        for j, two in enumerate(twice):
            yield f"by {i} and {j}", float(two.raw) if two is not None else 0.0


def true(name: str, at: tuple[Any, ...]) -> Iterator[Any]:
    count = range(len(at))
    order = lambda *by: tuple(by.count(i) for i in count)
    yield TRUE[name](*at)
    for i in count:
        yield mpmath.diff(TRUE[name], at, order(i), h=mpf(10) ** -25)
        for j in count:
            yield mpmath.diff(TRUE[name], at, order(i, j), h=mpf(10) ** -18)


@pytest.mark.parametrize("name", list(TRUE))
def test_derivatives_are_those_of_mpmath(name: str) -> None:
    with mpmath.workdps(DIGITS), np.errstate(all="ignore"):
        for at in (at for each, at in cases() if each == name):
            exact = tuple(map(mpf, at))
            moved = [true(name, tuple(x * (1 + s * mpf(2) ** -52) for x in exact))
                     for s in (1, -1)]  # fmt: skip
            found = derivatives(name, at)
            for (what, y), t, *near in zip(
                found, true(name, exact), *moved, strict=True
            ):
                # What a last digit of the operands makes is no error of the rules.
                off = max(abs(other - t) for other in near)
                most = 1e-11 * abs(t) + 200 * off + 1e-100
                assert abs(y - t) <= most, (at, what, y, t)


def test_poles_are_poles() -> None:
    with np.errstate(all="ignore"):
        at_0 = list(derivatives("gamma", (0.0,)))[:2]
        assert [y for _, y in at_0] == [np.inf, -np.inf]
        for at in (-1.0, -2.0, -9.0):
            assert all(np.isnan(y) for _, y in derivatives("gamma", (at,)))
            assert all(np.isnan(y) for _, y in derivatives("binom", (at, 0.5)))


@pytest.mark.parametrize("k", [0, 1, 2, 5])
def test_a_binomial_of_a_negative_integer_is_its_polynomial(k: int) -> None:
    with np.errstate(all="ignore"), mpmath.workdps(DIGITS):
        for n in (-1.0, -2.0, -6.0):
            y, by_n, by_k = [y for what, y in derivatives("binom", (n, float(k)))
                             if "and" not in what]  # fmt: skip
            terms = lambda x: mpmath.ff(x, k) / mpmath.factorial(k)
            assert y == pytest.approx(float(terms(mpf(n))), rel=1e-13)
            slope = float(mpmath.diff(terms, mpf(n), h=mpf(10) ** -25))
            assert by_n == pytest.approx(slope, rel=1e-11, abs=1e-13)
            assert np.isnan(by_k)


def test_whole_numbers_give_whole_numbers() -> None:
    n, k = np.meshgrid(np.arange(-8.0, 30.0), np.arange(-3.0, 12.0))
    y = function("binom")(Tensor(n, NUMPY), Tensor(k, NUMPY)).raw
    assert (y == np.rint(y)).all()


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_half_and_single_floats_keep_their_type(dtype: str) -> None:
    n, k = np.array([4.5, -0.75], dtype), np.array([2.0, -2.0], dtype)
    x, z = (Tensor(a, NUMPY, True) for a in (n, k))
    y = function("binom")(x, z)
    by = grad([function("sum")(y)], [x, z])
    assert {y.raw.dtype, *(g.raw.dtype for g in by if g is not None)} == {
        np.dtype(dtype)
    }
    exact = [
        float(of_gammas(a, b)) for a, b in zip(n.tolist(), k.tolist(), strict=True)
    ]
    np.testing.assert_allclose(y.raw, exact, rtol=8 * np.finfo(dtype).eps)
