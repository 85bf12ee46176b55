"""Special functions of large numbers, and logarithms of sums, have their values."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy.special import log_expit

from gradcli.engine import NUMPY


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_airy_function_of_large_numbers_is_0(dtype):
    found = NUMPY.airy_ai(np.array([105.5, 1e6, np.finfo(dtype).max], dtype))
    assert found.dtype == dtype
    assert not found.any()
    assert NUMPY.airy_ai(np.array(1.0)) == pytest.approx(0.13529241631288141)


def test_a_function_of_positive_numbers_is_nan_below_each_time() -> None:
    for name in ("Ci", "Chi"):
        for _ in range(2):
            assert np.isnan(getattr(NUMPY, name)(np.array([-2.0]))).all()


@pytest.mark.parametrize("order", [1, 2, 3, 6])
@pytest.mark.parametrize("x", [-999.25, -1000.25, -1e4 - 0.3, -1e9 - 0.7, -1e14 - 0.25])
def test_polygamma_far_below_0_is_its_reflection(order: int, x: float) -> None:
    (found,) = NUMPY.polygamma(order, np.array([x])).tolist()
    with mpmath.workdps(60):
        at = mpmath.mpf(x)
        turned = mpmath.diff(
            lambda z: mpmath.pi * mpmath.cot(mpmath.pi * z),
            at - mpmath.nint(at), order,
        )  # fmt: skip
        true = (-1) ** order * mpmath.psi(order, 1 - at) - turned
        assert abs(found - true) <= 1e-14 * abs(true)


EXTREME = [0.0, -0.0, 1e-30, 800.0, -800.0, 1e300, -1e300, np.inf, -np.inf, np.nan]


@pytest.fixture(params=["float32", "float64"])
def entries(request):
    drawn = np.random.default_rng(0).normal(size=2000) * 20
    with np.errstate(over="ignore"):
        return np.concatenate([EXTREME, drawn]).astype(request.param)


def test_a_logarithm_of_a_sigmoid_is_the_librarys(entries):
    found = NUMPY.logsigmoid(entries)
    assert found.dtype == entries.dtype
    close = 8 * np.finfo(entries.dtype).eps
    np.testing.assert_allclose(found, log_expit(entries), rtol=close, atol=1e-44)


def test_a_logarithm_of_a_sum_is_numpys(entries):
    a, b = np.meshgrid(entries[:200], entries[:200])
    found, close = NUMPY.logaddexp(a, b), 8 * np.finfo(entries.dtype).eps
    assert found.dtype == entries.dtype
    with np.errstate(invalid="ignore"):
        wanted = np.logaddexp(a, b)
    np.testing.assert_allclose(found, wanted, rtol=close, atol=close)


def test_shapes_broadcast_and_numbers_are_taken(entries):
    column = entries[:5, None]
    found = NUMPY.logaddexp(column, entries)
    assert found.shape == (5, entries.size)
    assert NUMPY.logaddexp(entries, 0).dtype == entries.dtype
    lone = NUMPY.logaddexp(entries.dtype.type(1), entries.dtype.type(2))
    assert lone == np.logaddexp(entries.dtype.type(1), entries.dtype.type(2))
