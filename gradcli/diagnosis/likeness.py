"""Arrays compared: are they the same, and is one a constant times the other?

Invariant: an answer holds for all pairs together; nothing is concluded from zeros.

    constant_factor([(true, claimed), ...])      # 2.0
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from ..engine.raw import Host

Array = Host
Pair = tuple[Array, Array]

CLOSE = 1e-8
"""Relative distance up to which two numbers are one, computed in different orders."""

SIMPLE = 64
"""Largest numerator and denominator of a factor that a person may have forgotten."""


def same(a: Array, b: Array) -> bool:
    """Tell whether two arrays are one, dimensions of size 1 aside."""
    a, b = np.squeeze(a), np.squeeze(b)
    if a.shape != b.shape or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return False
    size = max(largest(a), largest(b))
    return bool((abs(a - b) <= CLOSE * size).all())


def all_same(pairs: Iterable[Pair]) -> bool:
    return all(same(a, b) for a, b in pairs)


def speaking(pairs: Sequence[Pair]) -> bool:
    """Tell whether both sides are anything but zero, so that a likeness means
    something."""
    return any(largest(a) for a, _ in pairs) and any(largest(b) for _, b in pairs)


def alike(pairs: Sequence[Pair]) -> bool:
    """Tell whether both sides are anything but zero, and the same."""
    return speaking(pairs) and all_same(pairs)


def largest(a: Array) -> float:
    return float(abs(a).max()) if a.size else 0.0


def constant_factor(pairs: Sequence[Pair]) -> float | None:
    """Return the ``c`` with ``a = c * b`` for all pairs; None if there is none, or if
    the pairs are too poor to tell."""
    if any(np.squeeze(a).shape != np.squeeze(b).shape for a, b in pairs):
        return None
    if not pairs:
        return None
    a = np.concatenate([np.ravel(p) for p, _ in pairs])
    b = np.concatenate([np.ravel(q) for _, q in pairs])
    if not a.size or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return None
    square = float(b @ b)
    if not square or not largest(a):
        return None
    c = float(a @ b) / square
    if not c or largest(a - c * b) > CLOSE * max(largest(a), abs(c) * largest(b)):
        return None
    return c


def simple_number(c: float) -> Fraction | None:
    """Return the small fraction that a number is, if it is one."""
    near = Fraction(c).limit_denominator(SIMPLE)
    if abs(float(near) - c) > CLOSE * abs(c) or abs(near.numerator) > SIMPLE * SIMPLE:
        return None
    return near


def number_text(c: float) -> str:
    """Write a number as a person would."""
    simple = simple_number(c)
    return str(simple) if simple is not None else f"{c:.8g}"
