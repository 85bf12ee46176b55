"""Points at which two terms meet: the nearest one, and those along one entry.

The surface on which the gap, the difference of the terms, is 0 is found by Newton's
method, with hundreds of digits. At first each step goes to the point of the linearised
surface nearest to the start, later to that nearest to the last step. Along an entry the
start is where the gap changes sign, or is closest to 0, among evenly spaced points.

Invariant: a point that is returned lies far closer to the surface than the width of
the differences taken there; if the method does not converge, no point is returned.

    meeting(left, right, entries, 1.0).distance     # 0.5
    [p.distance for p in meetings(left, right, entries, 4.0)]       # [0.5, 3.5]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import Final

from ...engine.walk import accumulate
from ...numbers.balls import Ball, apply, ball, derivative, to_float, working
from ...numbers.system import exact
from ...numbers.terms import Term, ordered

WIDE_BITS: Final = 1330
"""Precision, in bits, of non-smooth points and of the search for them."""

FAST_BITS: Final = 53
"""Precision, in bits, of values that only bracket a root."""

MAX_NEWTON_STEPS: Final = 80
"""Largest number of steps of Newton's method."""

MAX_NEAREST_STEPS: Final = 50
"""Largest number of Newton's steps toward the nearest point of the surface."""

MAX_STRAYING_FACTOR: Final = 8
"""Largest distance of the search from its start, as a multiple of the radius."""

SAMPLES_PER_ENTRY: Final = 512
"""Number of points along an entry: two meetings closer than those may count as one."""

HALVINGS: Final = 40
"""Number of times that an interval with a change of sign is halved."""

GAP_TOLERANCE: Final = ball(2) ** (30 - WIDE_BITS)
"""Largest gap that counts as 0 where the slope is almost 0."""

MIN_SLOPE: Final = ball(2) ** -300
"""Slope of the gap below which a gap of almost 0 ends the search."""

SETTLED_RELATIVE_STEP: Final = ball(10) ** -200
"""Step, as a part of the location's size, at which the search has converged."""

ROUGH_RELATIVE_STEP: Final = ball(10) ** -15
"""Step, as a part of the location's size, at which the nearest point is known."""

HALVING_RATIOS: Final = (0.45, 0.55)
"""Smallest and largest ratio of two steps of which one counts as half the other."""

Location = dict[int, Ball]


@dataclass(frozen=True, slots=True)
class Point:
    """A location, as a number for each entry, and its distance from the start."""

    moved: Mapping[int, Ball]
    distance: float


class _Gap:
    """The function ``left - right`` of the entries that may move, without bounds."""

    def __init__(self, left: Term, right: Term, entries: Mapping[int, Term]) -> None:
        self._left = left.serial
        self._right = right.serial
        self._terms = ordered([left, right])
        self._made = {t.serial: t for t in self._terms}
        self.start: Location = {
            s: t.value for t in self._terms if (s := t.serial) in entries
        }

    def values(
        self, location: Mapping[int, Ball | float], bits: int = WIDE_BITS
    ) -> Location:
        """Return the value of every term at a location, by serial."""
        values: Location = {}
        with working(bits):
            for term in self._terms:
                values[term.serial] = self._value(term, location, values).mid()
        return values

    def _value(
        self, term: Term, location: Mapping[int, Ball | float], values: Location
    ) -> Ball:
        if term.name == "number":
            return ball(exact(term.content))
        if term.name == "symbol":
            start: Ball = ball(0) + location.get(term.serial, term.value)
            return start
        arguments = [values[a.serial] for a in term.args]
        return arguments[0] if term.name == "stop" else apply(term.name, *arguments)

    def of(self, values: Location) -> Ball:
        gap: Ball = values[self._left] - values[self._right]
        return gap.mid()

    def fast(self, location: Mapping[int, float]) -> float:
        """Return the gap at a location, computed with few bits."""
        return to_float(self.of(self.values(location, FAST_BITS)))

    def slopes(self, values: Location) -> Location:
        """Return the derivative of the gap by every entry that may move."""

        def pull(serial: int, g: Ball) -> Iterator[tuple[int, Ball]]:
            term = self._made[serial]
            at = [values[a.serial] for a in term.args]
            for position, argument in enumerate(term.args):
                slope = derivative(term.name, position, at)
                yield argument.serial, (g * slope).mid()

        seeds = {self._left: ball(1)}
        seeds[self._right] = (seeds.get(self._right) or ball(0)) - 1
        order = [t.serial for t in reversed(self._terms)]
        arrived = accumulate(order, seeds, pull)
        return {s: arrived.get(s, ball(0)) for s in self.start}


def meeting(
    left: Term, right: Term, entries: Mapping[int, Term], within: float
) -> Point | None:
    """Return the nearest location where ``left == right``; None if none is found.

    Args:
        left, right: the terms that meet.
        entries: the entries that may move, by serial.
        within: the largest distance of the location.
    """
    if (left.value - right.value).is_zero():
        return Point({}, 0.0)
    gap = _Gap(left, right, entries)
    with working(WIDE_BITS):
        location = _settled(gap, gap.start, frozenset(gap.start), within)
        return None if location is None else _within(location, gap.start, within)


def meetings(
    left: Term, right: Term, entries: Mapping[int, Term], within: float
) -> Iterator[Point]:
    """Yield the locations where ``left == right`` if a single entry moves by at most
    ``within``."""
    gap = _Gap(left, right, entries)
    for entry in gap.start:
        for begin, end in _brackets(gap, entry, within):
            middle = {**gap.start, entry: ball((begin + end) / 2)}
            with working(WIDE_BITS):
                location = _settled(gap, middle, frozenset([entry]), end - begin)
                if location is None or not begin <= to_float(location[entry]) <= end:
                    continue
                found = _within(location, gap.start, within)
            if found is not None:
                yield found


def _brackets(gap: _Gap, entry: int, within: float) -> Iterator[tuple[float, float]]:
    """Yield intervals of an entry in which the gap may be zero."""
    here = to_float(gap.start[entry])
    width = 2 * within / SAMPLES_PER_ENTRY
    # The samples are shifted by half a step, so that the start lies between two.
    at = [here - within + (k - 0.5) * width for k in range(SAMPLES_PER_ENTRY + 2)]
    location = {s: to_float(v) for s, v in gap.start.items()}
    gaps = [gap.fast({**location, entry: x}) for x in at]
    for (a, b), (f, g) in zip(pairwise(at), pairwise(gaps), strict=True):
        if isfinite(f) and isfinite(g) and (f < 0) != (g < 0):
            yield _halved(gap, {**location, entry: a}, entry, (a, b), f)
    for k, (f, g, h) in enumerate(zip(gaps, gaps[1:], gaps[2:], strict=False)):
        if f * h > 0 and abs(f) >= abs(g) <= abs(h):
            yield at[k], at[k + 2]


def _halved(
    gap: _Gap, location: dict[int, float], entry: int, ends: tuple[float, float],
    f: float,
) -> tuple[float, float]:  # fmt: skip
    """Return a short interval, found by halving, in which the gap changes sign."""
    begin, end = ends
    for _ in range(HALVINGS):
        middle = (begin + end) / 2
        location[entry] = middle
        if gap.fast(location) * f > 0:
            begin = middle
        else:
            end = middle
    # The zero was located in floating point, so the interval is widened by rounding.
    slack = end - begin + 1e-12 * (1 + abs(begin))
    return begin - slack, end + slack


def _settled(
    gap: _Gap, start: Location, moving: frozenset[int], within: float
) -> Location | None:
    """Return where Newton's method converges if ``moving`` entries move; else None."""
    location, steps, rough = dict(start), [ball(0)], True
    for count in range(MAX_NEWTON_STEPS):
        values = gap.values(location)
        height = gap.of(values)
        if (
            not height.is_finite()
            or _distance(location, start) > MAX_STRAYING_FACTOR * within
        ):
            return None
        slopes = gap.slopes(values)
        normal = {s: slopes[s] for s in moving}
        flat = _norm(normal.values()) < MIN_SLOPE
        if height.is_zero() or (flat and abs(height) <= GAP_TOLERANCE):
            return location
        following = _step(start if rough else location, location, height, normal)
        if following is None:
            return None
        steps.append(_distance(following, location))
        size = 1 + _norm(location.values())
        if steps[-1] <= SETTLED_RELATIVE_STEP * size:
            return following
        rough = (
            rough
            and steps[-1] > ROUGH_RELATIVE_STEP * size
            and count < MAX_NEAREST_STEPS
        )
        least, most = HALVING_RATIOS
        halved = (least * a < b < most * a for a, b in pairwise(steps[-3:]))
        if len(steps) > 2 and all(halved):
            # Each step is about half of the last, as at a double root.
            following = {s: 2 * following[s] - location[s] for s in location}
            steps = [ball(0)]
        location = following
    return None


def _within(location: Location, start: Location, within: float) -> Point | None:
    distance = to_float(_distance(location, start))
    return Point(location, distance) if distance <= within else None


def _step(
    start: Mapping[int, Ball], location: Mapping[int, Ball], gap: Ball,
    normal: Mapping[int, Ball],
) -> Location | None:  # fmt: skip
    """Return the point of the linearised surface that is nearest to ``start``; None
    where the surface has no slope."""
    square = sum((n * n for n in normal.values()), ball(0)).mid()
    if square.is_zero() or not square.is_finite():
        return None
    back = sum((n * (location[s] - start[s]) for s, n in normal.items()), ball(0))
    moved = {s: (start[s] + n * (back - gap) / square).mid() for s, n in normal.items()}
    return {**location, **moved}


def _distance(a: Mapping[int, Ball], b: Mapping[int, Ball]) -> Ball:
    return _norm(a[s] - b[s] for s in a)


def _norm(vector: Iterable[Ball]) -> Ball:
    return sum((v * v for v in vector), ball(0)).sqrt().mid()
