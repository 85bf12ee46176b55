"""Special functions of large numbers are their limits."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.engine import NUMPY


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_airy_function_of_large_numbers_is_0(dtype):
    found = NUMPY.airy(np.array([105.5, 1e6, np.finfo(dtype).max], dtype))
    assert found.dtype == dtype
    assert not found.any()
    assert NUMPY.airy(np.array(1.0)) == pytest.approx(0.13529241631288141)
