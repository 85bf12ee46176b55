"""The functions that a GPU's library lacks are those of the CPU, step by step."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest

from gradcli.engine import NUMPY
from gradcli.engine.series import SERIES

IN_MPMATH: dict[str, Any] = {
    "airy_ai": mpmath.airyai,
    "airy_ai_prime": lambda x: mpmath.airyai(x, derivative=1),
    "erfi": mpmath.erfi,
    "fresnels": mpmath.fresnels,
    "fresnelc": mpmath.fresnelc,
    "lambertw": mpmath.lambertw,
}

RANGES: dict[str, tuple[float, ...]] = {
    "airy_ai": (-9.6, -2.3, 0.0, 2.5, 9.6),
    "airy_ai_prime": (-9.6, -2.3, 0.0, 2.5, 9.6),
    "erfi": (-3.0, 0.0, 1.0, 3.0),
    "fresnels": (-4.0, 0.0, 1.6, 4.0),
    "fresnelc": (-4.0, 0.0, 1.6, 4.0),
    "lambertw": (-0.3678794411714423, -0.36785, -0.3, -0.1, 0.0, 1.0, 1e6),
}
"""Ends of the stretches on which points are drawn."""

EDGES = [0.0, -0.0, 5e-324, 1e-310, 2.0, 9.5, -9.5, 26.7, 106.0, 1e5, 1e10, 1e300,
         np.inf, -np.inf, np.nan, -1.0, -1e10]  # fmt: skip


def drawn(name: str) -> np.ndarray:
    rng, ends = np.random.default_rng(0), RANGES[name]
    return np.concatenate([rng.uniform(a, b, 40) for a, b in pairwise(ends)])


@pytest.mark.parametrize("name", SERIES)
def test_a_series_is_exact_to_a_few_roundings(name: str) -> None:
    with mpmath.workdps(30):
        for x in drawn(name):
            true = IN_MPMATH[name](mpmath.mpf(float(x)))
            ours = mpmath.mpf(float(SERIES[name](np, np.float64(x))))
            size = max(abs(true), mpmath.mpf(0.5)) if x < 0 else abs(true)
            assert abs(ours - true) <= 1e-14 * size, (name, x)


@pytest.mark.parametrize("name", SERIES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_series_ends_where_the_function_of_the_cpu_ends(name: str) -> None:
    x = np.array(EDGES)
    ours, here = SERIES[name](np, x), getattr(NUMPY, name)(x)
    np.testing.assert_allclose(ours, here, 1e-11, 1e-300)
    assert (np.signbit(ours) == np.signbit(here))[np.isfinite(here)].all()


@pytest.mark.parametrize("name", ["fresnels", "fresnelc"])
def test_integrals_of_fresnel_are_half_at_large_numbers(name: str) -> None:
    x = np.array([1e155, 1e300, -1e300, np.inf])
    assert getattr(NUMPY, name)(x).tolist() == [0.5, 0.5, -0.5, 0.5]
