"""The largest of many short lines is NumPy's, whichever way the lines are laid."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.engine import NUMPY, limits

SPECIAL = [np.nan, np.inf, -np.inf, 1.0]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("length", [1, 2, 7, limits.MAX_SHORT_LINE, 40])
@pytest.mark.parametrize("keepdim", [True, False])
def test_the_largest_of_short_lines_is_numpys(dtype, length, keepdim):
    draw = np.random.default_rng(length)
    x = draw.normal(size=(limits.MIN_SIZE_TO_TURN // 2, 2, length)).astype(dtype)
    x.flat[: len(SPECIAL)] = SPECIAL
    for dim in (2, (2,)):
        found = NUMPY.amax(x, dim, keepdim)
        wanted = np.max(x, 2, keepdims=keepdim)
        assert found.dtype == wanted.dtype
        assert found.flags.c_contiguous
        assert np.array_equal(found, wanted, equal_nan=True)


def test_other_dimensions_and_orders_are_numpys():
    x = np.random.default_rng(0).normal(size=(90, 40, 4))
    for dim in (0, 1, (1, 2), None):
        assert np.array_equal(NUMPY.amax(x, dim), np.max(x, dim))
    assert np.array_equal(NUMPY.amax(x.T, 2), np.max(x.T, 2))
