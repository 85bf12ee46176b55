"""Values of inputs: ordinary numbers, ties, and the ends of the number line.

Invariant: a value is a number or nested list that reads the same in gradcli's language
and in Python, and that the program's dtype holds exactly or rounds alike in both.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from gradcli.ops import Case
from tests.laws.draw import draw_array

TIES = (-2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 1.0, 2.0, 3.0)

ENDS = {
    "float64": (np.inf, -np.inf, np.nan, 1e308, -1e308, 5e-324, -1e-310, 0.0, -0.0,
                1e-160, 1e160, 709.9, -745.0, 1.0),
    "float32": (np.inf, -np.inf, np.nan, 3e38, -3e38, 1e-45, -1e-40, 0.0, -0.0,
                1e-20, 1e20, 88.8, -103.0, 1.0),
}  # fmt: skip
"""Where sums overflow, squares underflow, and an exponential does either."""

Numbers = Callable[[Random, tuple[int, ...], Case | None], Any]


def ordinary(random: Random, shape: tuple[int, ...], case: Case | None) -> Any:
    """What the case asks for, or standard normal numbers."""
    rng = np.random.default_rng(random.getrandbits(32))
    if case is None or (case.make == "uniform" and random.random() < 0.3):
        return rng.standard_normal(shape)
    return draw_array(rng, shape, case)


def ties(random: Random, shape: tuple[int, ...], case: Case | None) -> Any:
    count = int(np.prod(shape))
    return np.array([random.choice(TIES) for _ in range(count)]).reshape(shape)


def ends_of(dtype: str) -> Numbers:
    """Ordinary numbers among which every third is special."""

    def draw(random: Random, shape: tuple[int, ...], case: Case | None) -> Any:
        found = np.array(ordinary(random, shape, case))
        flat = found.reshape(-1)
        for i in range(flat.size):
            if random.random() < 0.35:
                flat[i] = random.choice(ENDS[dtype])
        return found

    return draw


def kinds(dtype: str) -> list[Numbers]:
    """The kinds of values, each as often as it is drawn."""
    return [ordinary, ordinary, ordinary, ties, ends_of(dtype)]


def listed(array: Any, dtype: str) -> Any:
    """The array as nested lists of numbers that are written short."""
    rounded = np.asarray(array, dtype)
    return _short(rounded.tolist(), dtype)


def _short(value: Any, dtype: str) -> Any:
    if isinstance(value, list):
        return [_short(v, dtype) for v in value]
    digits = float(f"{value:.4g}")
    return digits if np.isfinite(value) else value
