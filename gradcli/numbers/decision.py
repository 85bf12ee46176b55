"""Which of two numbers is the larger: balls of more and more bits until they part.

Invariant: equal numbers are told by exact equality; those that no precision within the
bounds tells apart count as equal.

    apart(evaluation, a, b)         # a ball on one side of 0, or 0
"""

from __future__ import annotations

from typing import Final

from .balls import NAN, ZERO, Ball, ball, is_infinite, is_nan, to_float, working
from .graph import Evaluation

MAX_BITS: Final = 4096
"""Precision beyond that of the graph up to which two numbers are told apart."""


def apart(evaluation: Evaluation, a: int, b: int) -> Ball:
    """``a - b`` on one side of 0; 0 where the two cannot be told apart; `NAN` where one
    of them is no number."""
    first = evaluation.bits
    for bits in evaluation.precisions([a, b], len(evaluation.known[first])):
        x, y = evaluation.values([a, b], bits)
        if is_nan(x) or is_nan(y):
            return NAN
        if is_infinite(x) or is_infinite(y):
            left, right = to_float(x), to_float(y)
            return ZERO if left == right else ball(float("inf" if left > right
                                                         else "-inf"))  # fmt: skip
        with working(bits):
            gap = x - y
        if gap.is_zero():
            return ZERO
        if gap > 0 or gap < 0:
            if bits <= MAX_BITS:
                evaluation.bits = max(first, bits)
            return gap
        if bits - first >= MAX_BITS and x.is_finite() and y.is_finite():
            break
    return ZERO
