"""A line search for a step that satisfies the strong Wolfe conditions.

Invariant: the search first brackets such a step, then narrows the bracket by cubic
interpolation; the lower end of the bracket is always the better of its ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

MIN_DECREASE_SHARE = 1e-4
MAX_SLOPE_SHARE = 0.9
MIN_BRACKET_LENGTH = 1e-9
MAX_GROWTH_FACTOR = 10
MIN_GROWTH_SHARE = 0.01
EDGE_SHARE = 0.1
"""The share of a bracket at either end where a new point means little progress."""


class Evaluation:
    """The loss and its gradient at the step ``t`` along a direction."""

    __slots__ = ("gradient", "loss", "slope", "t")

    def __init__(
        self, t: float, loss: float, gradient: Any, direction: object = None
    ) -> None:
        self.t = t
        self.loss = loss
        self.gradient = gradient
        self.slope: Any = None if direction is None else gradient.dot(direction)


def between(a: Evaluation, b: Evaluation, bounds: Any = None) -> Any:
    """Find the minimum of the cubic through two points with their slopes."""
    low, high = bounds or sorted((a.t, b.t))
    if a.t > b.t:
        a, b = b, a
    bend = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = bend**2 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2.0
    root = square**0.5
    share = (b.slope + root - bend) / (b.slope - a.slope + 2 * root)
    return min(max(b.t - (b.t - a.t) * share, low), high)


def strong_wolfe(
    evaluate: Callable[[float], Evaluation],
    start: Evaluation,
    t: float,
    longest: float,
    most: int,
) -> tuple[Evaluation, int]:
    """Find a step along a direction, or the best one within a number of tries.

    Args:
        evaluate: the loss and its gradient at a step.
        start: the same at step 0.
        t: the first step to try.
        longest: the direction's largest entry, to tell when a bracket is narrow.
        most: how many tries to make beside the first step.

    Returns:
        The evaluation at the step that was found, and how many were made.
    """

    def too_high(point: Evaluation) -> bool:
        return bool(
            point.loss > start.loss + MIN_DECREASE_SHARE * point.t * start.slope
        )

    def flat(point: Evaluation) -> bool:
        return bool(abs(point.slope) <= -MAX_SLOPE_SHARE * start.slope)

    previous, point = start, evaluate(t)
    tries = 0
    while tries < most:
        if too_high(point) or (tries > 1 and point.loss >= previous.loss):
            break
        if flat(point):
            return point, tries + 1
        if point.slope >= 0:
            break
        bounds = (
            point.t + MIN_GROWTH_SHARE * (point.t - previous.t),
            point.t * MAX_GROWTH_FACTOR,
        )
        t = between(previous, point, bounds)
        previous, point = point, evaluate(t)
        tries += 1
    else:
        previous = start
    return narrow(evaluate, [previous, point], too_high, flat, tries, longest, most)


def narrow(
    evaluate: Callable[[float], Evaluation], ends: list[Evaluation],
    too_high: Callable[[Evaluation], bool], flat: Callable[[Evaluation], bool],
    tries: int, longest: float, most: int,
) -> tuple[Evaluation, int]:  # fmt: skip
    """Shrink a bracket until an end of it will do; give the better of its ends."""
    stuck = False
    low, high = _better_first(ends)
    while tries < most and abs(ends[1].t - ends[0].t) * longest >= MIN_BRACKET_LENGTH:
        t, stuck = _inside(between(*ends), ends, stuck)
        point = evaluate(t)
        tries += 1
        if too_high(point) or point.loss >= ends[low].loss:
            ends[high] = point
            low, high = _better_first(ends)
            continue
        done = flat(point)
        if not done and point.slope * (ends[high].t - ends[low].t) >= 0:
            ends[high] = ends[low]
        ends[low] = point
        if done:
            break
    return ends[low], tries + 1


def _better_first(ends: list[Evaluation]) -> tuple[int, int]:
    return (0, 1) if ends[0].loss <= ends[1].loss else (1, 0)


def _inside(t: float, ends: list[Evaluation], stuck: bool) -> tuple[float, bool]:
    """Keep a new step off the bracket's ends if it came near them twice in a row."""
    left, right = sorted((ends[0].t, ends[1].t))
    margin = EDGE_SHARE * (right - left)
    if min(right - t, t - left) >= margin:
        return t, False
    if not (stuck or t >= right or t <= left):
        return t, True
    return (right - margin if abs(t - right) < abs(t - left) else left + margin), False
