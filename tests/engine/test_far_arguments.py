"""Special functions of large numbers are their limits."""

from __future__ import annotations

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
