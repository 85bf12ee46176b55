"""The nearest point at which two terms meet.

Newton's method on the gap between them, each step to the nearest point of the
linearised surface, in as many digits as one-sided differences need.

Invariant: a point that is given back lies on the surface to far more digits than the
steps that are taken from it; where the method does not settle there is none.

    meeting(left, right, entries, 1.0).distance     # 0.5
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from .chain import partial
from .precision import context_of, guarded
from .scalars import SCALARS
from .system import to_context
from .terms import Term, ordered

WIDE: Final = context_of(400)
STILL: Final = WIDE.mpf("1e-200")
"""A step, relative to the place, from which on the search has settled."""

STEPS: Final = 60
HALF: Final = (0.45, 0.55)
"""Between these a step is half of the one before."""

FAR: Final = 8
"""How many times the distance asked for the search may stray."""


@dataclass(frozen=True, slots=True)
class Point:
    """A place, a number per entry that moved, and its distance from the start."""

    moved: Mapping[int, Any]
    distance: Any


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
    terms = ordered([left, right])
    start = {s: WIDE.mpf(t.value) for t in terms if (s := t.serial) in entries}
    place, steps = dict(start), [WIDE.zero]
    for _ in range(STEPS):
        values = _values(terms, place)
        gap = values[left.serial] - values[right.serial]
        if not WIDE.isfinite(gap) or _distance(place, start) > FAR * within:
            return None
        if not gap:
            return _within(place, start, within)
        following = _step(start, place, gap, _slopes(terms, values, left, right))
        if following is None:
            return None
        steps.append(_distance(following, place))
        if steps[-1] <= STILL * (1 + _norm(place.values())):
            return _within(following, start, within)
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


def _within(
    place: Mapping[int, Any], start: Mapping[int, Any], within: float
) -> Point | None:
    distance = _distance(place, start)
    return Point(place, distance) if distance <= within else None


def _step(
    start: Mapping[int, Any], place: Mapping[int, Any], gap: Any,
    slopes: Mapping[int, Any],
) -> dict[int, Any] | None:  # fmt: skip
    """The point of the linearised surface that is nearest to the start."""
    normal = {s: slopes.get(s, WIDE.zero) for s in start}
    square = WIDE.fsum(n * n for n in normal.values())
    if not square or not WIDE.isfinite(square):
        return None
    back = WIDE.fsum(n * (place[s] - start[s]) for s, n in normal.items())
    return {s: start[s] + n * (back - gap) / square for s, n in normal.items()}


def _distance(a: Mapping[int, Any], b: Mapping[int, Any]) -> Any:
    return _norm(a[s] - b[s] for s in a)


def _norm(vector: Iterable[Any]) -> Any:
    return WIDE.sqrt(WIDE.fsum(v * v for v in vector))


def _values(terms: Sequence[Term], at: Mapping[int, Any]) -> dict[int, Any]:
    """The value of every term where the symbols have other values."""
    values: dict[int, Any] = {}
    for term in terms:
        if term.name == "number":
            value = to_context(WIDE, term.content)
        elif term.name == "symbol":
            value = at.get(term.serial, term.value)
        elif term.name == "stop":
            value = values[term.args[0].serial]
        else:
            arguments = [values[a.serial] for a in term.args]
            value = guarded(WIDE, SCALARS[term.name].number, *arguments)
        values[term.serial] = value
    return values


def _slopes(
    terms: Sequence[Term], values: Mapping[int, Any], left: Term, right: Term
) -> dict[int, Any]:
    """The derivative of the gap in every term."""
    arrived = {left.serial: WIDE.one}
    arrived[right.serial] = arrived.get(right.serial, WIDE.zero) - 1
    for term in reversed(terms):
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
            arrived[argument.serial] = arrived.get(argument.serial, WIDE.zero) + step
    return arrived
