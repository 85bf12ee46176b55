"""Logarithms of sums of exponentials are the library's, of large arrays as well."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_expit

from gradcli.engine import NUMPY

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
