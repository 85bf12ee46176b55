"""The points at which two terms meet: the nearest one, and those along an entry.

Newton's method on the gap between them, in as many digits as one-sided differences
need: at first each step goes to the nearest point of the linearised surface, at the
end straight onto the surface. Along an entry, the places to start from are where the
gap changes its sign, or comes nearest to zero, among evenly spaced points.

Invariant: a point that is given back lies on the surface to far more digits than the
steps that are taken from it; where the method does not settle there is none.

    meeting(left, right, entries, 1.0).distance     # 0.5
    [p.distance for p in meetings(left, right, entries, 4.0)]       # [0.5, 3.5]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import Any, Final

import mpmath

from ...numbers.chain import partial
from ...numbers.precision import context_of, guarded
from ...numbers.scalars import SCALARS
from ...numbers.system import to_context
from ...numbers.term import Term, ordered

WIDE: Final = context_of(400)
FAST: Final = mpmath.fp
STILL: Final = WIDE.mpf("1e-200")
"""A step, relative to the place, from which on the search has settled."""

NEARLY: Final = WIDE.mpf("1e-15")
"""A step from which on the nearest point is known, but for its digits."""

STEPS: Final = 80
ROUNDS: Final = 50
"""Steps, and how many of them may go to the nearest point."""

HALF: Final = (0.45, 0.55)
"""Between these a step is half of the one before."""

FAR: Final = 8
"""How many times the distance asked for the search may stray."""

SAMPLES: Final = 512
"""Points along an entry: meetings closer than their distance may be one."""

HALVINGS: Final = 40

Place = dict[int, Any]


@dataclass(frozen=True, slots=True)
class Point:
    """A place, a number per entry that moved, and its distance from the start."""

    moved: Mapping[int, Any]
    distance: Any


class _Gap:
    """``left - right`` as a function of the entries that may move."""

    def __init__(self, left: Term, right: Term, entries: Mapping[int, Term]) -> None:
        self._left = left.serial
        self._right = right.serial
        self._terms = ordered([left, right])
        self.start: Place = {
            s: WIDE.mpf(t.value) for t in self._terms if (s := t.serial) in entries
        }

    def values(self, place: Mapping[int, Any], context: Any = WIDE) -> dict[int, Any]:
        """The value of every term there."""
        values: dict[int, Any] = {}
        for term in self._terms:
            if term.name == "number":
                value = to_context(context, term.content)
            elif term.name == "symbol":
                value = context.mpf(place.get(term.serial, term.value))
            elif term.name == "stop":
                value = values[term.args[0].serial]
            else:
                arguments = [values[a.serial] for a in term.args]
                value = guarded(context, SCALARS[term.name].number, *arguments)
            values[term.serial] = value
        return values

    def of(self, values: Mapping[int, Any]) -> Any:
        return values[self._left] - values[self._right]

    def fast(self, place: Mapping[int, float]) -> float:
        """The gap in floating point, which is good enough to look around."""
        return float(self.of(self.values(place, FAST)))

    def slopes(self, values: Mapping[int, Any]) -> dict[int, Any]:
        """The derivative of the gap in every entry that may move."""
        arrived = {self._left: WIDE.one}
        arrived[self._right] = arrived.get(self._right, WIDE.zero) - 1
        for term in reversed(self._terms):
            g = arrived.get(term.serial)
            if g is None or term.name in ("number", "symbol"):
                continue
            if term.name == "stop":
                below = term.args[0].serial
                arrived[below] = arrived.get(below, WIDE.zero) + g
                continue
            at = [values[a.serial] for a in term.args]
            for position, argument in enumerate(term.args):
                step = g * partial(WIDE, term, position, at)
                arrived[argument.serial] = arrived.get(argument.serial, 0) + step
        return {s: arrived.get(s, WIDE.zero) for s in self.start}


def meeting(
    left: Term, right: Term, entries: Mapping[int, Term], within: float
) -> Point | None:
    """The nearest place where ``left == right``, at most ``within`` away.

    Args:
        left, right: the terms that meet.
        entries: what may move, by serial.
        within: how far.
    """
    if left.value == right.value:
        return Point({}, WIDE.zero)
    gap = _Gap(left, right, entries)
    place = _settled(gap, gap.start, frozenset(gap.start), within)
    return None if place is None else _within(place, gap.start, within)


def meetings(
    left: Term, right: Term, entries: Mapping[int, Term], within: float
) -> Iterator[Point]:
    """The places where ``left == right`` if one entry alone is moved, up to ``within``
    either way."""
    gap = _Gap(left, right, entries)
    for entry in gap.start:
        for begin, end in _brackets(gap, entry, within):
            middle = {**gap.start, entry: (WIDE.mpf(begin) + end) / 2}
            place = _settled(gap, middle, frozenset([entry]), end - begin)
            if place is not None and begin <= place[entry] <= end:
                found = _within(place, gap.start, within)
                if found is not None:
                    yield found


def _brackets(gap: _Gap, entry: int, within: float) -> Iterator[tuple[float, float]]:
    """Stretches of an entry in which the gap may be zero."""
    here = float(gap.start[entry])
    width = 2 * within / SAMPLES
    # Half a stretch aside, so that the program's own point lies in one.
    at = [here - within + (k - 0.5) * width for k in range(SAMPLES + 2)]
    place = {s: float(v) for s, v in gap.start.items()}
    gaps = [gap.fast({**place, entry: x}) for x in at]
    for (a, b), (f, g) in zip(pairwise(at), pairwise(gaps), strict=True):
        if isfinite(f) and isfinite(g) and (f < 0) != (g < 0):
            yield _halved(gap, {**place, entry: a}, entry, (a, b), f)
    for k, (f, g, h) in enumerate(zip(gaps, gaps[1:], gaps[2:], strict=False)):
        if f * h > 0 and abs(f) >= abs(g) <= abs(h):
            yield at[k], at[k + 2]


def _halved(
    gap: _Gap, place: dict[int, float], entry: int, ends: tuple[float, float], f: float
) -> tuple[float, float]:
    """A stretch in which the gap changes its sign, made short."""
    begin, end = ends
    for _ in range(HALVINGS):
        middle = (begin + end) / 2
        place[entry] = middle
        if gap.fast(place) * f > 0:
            begin = middle
        else:
            end = middle
    # What floating point takes for the place of a zero is one but for its rounding.
    slack = end - begin + 1e-12 * (1 + abs(begin))
    return begin - slack, end + slack


def _settled(
    gap: _Gap, start: Place, moving: frozenset[int], within: float
) -> Place | None:
    """Where Newton's method comes to rest, if only ``moving`` entries move."""
    place, steps, rough = dict(start), [WIDE.zero], True
    for count in range(STEPS):
        values = gap.values(place)
        height = gap.of(values)
        if not WIDE.isfinite(height) or _distance(place, start) > FAR * within:
            return None
        if not height:
            return place
        slopes = gap.slopes(values)
        normal = {s: slopes[s] for s in moving}
        following = _step(start if rough else place, place, height, normal)
        if following is None:
            return None
        steps.append(_distance(following, place))
        size = 1 + _norm(place.values())
        if steps[-1] <= STILL * size:
            return following
        rough = rough and steps[-1] > NEARLY * size and count < ROUNDS
        if _halving(steps[-3:]):
            following = {s: 2 * following[s] - place[s] for s in place}
            steps = [WIDE.zero]
        place = following
    return None


def _halving(steps: Sequence[Any]) -> bool:
    """Whether a double root is approached: each step is half of what is left."""
    least, most = HALF
    return len(steps) == 3 and all(
        least * before < after < most * before for before, after in pairwise(steps)
    )


def _within(place: Place, start: Place, within: float) -> Point | None:
    distance = _distance(place, start)
    return Point(place, distance) if distance <= within else None


def _step(
    start: Mapping[int, Any], place: Mapping[int, Any], gap: Any,
    normal: Mapping[int, Any],
) -> Place | None:  # fmt: skip
    """The point of the linearised surface that is nearest to the start."""
    square = WIDE.fsum(n * n for n in normal.values())
    if not square or not WIDE.isfinite(square):
        return None
    back = WIDE.fsum(n * (place[s] - start[s]) for s, n in normal.items())
    moved = {s: start[s] + n * (back - gap) / square for s, n in normal.items()}
    return {**place, **moved}


def _distance(a: Mapping[int, Any], b: Mapping[int, Any]) -> Any:
    return _norm(a[s] - b[s] for s in a)


def _norm(vector: Iterable[Any]) -> Any:
    return WIDE.sqrt(WIDE.fsum(v * v for v in vector))
