"""Special functions of large numbers are their limits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

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
