"""Crossings, pairs of terms where a program decides something, and the points at which
two terms meet: the nearest one, and those along one entry.

A run on terms keeps where each decision was made. The surface on which the gap, the
difference of the terms, is 0 is found by Newton's method, with hundreds of digits. At
first each step goes to the point of the linearised surface nearest to the start, later
to that nearest to the last step. Along an entry the start is where the gap changes
sign, or is closest to 0, among evenly spaced points.

Invariants: a crossing belongs to the row that was running and to the text whose value
was being computed; a comparison of the program itself has no row. A point that is
returned lies far closer to the surface than the width of the differences taken there;
if the method does not converge, no point is returned.

    point, crossings = watched(job)
    crossings[0].op.name, crossings[0].span         # "relu", Span(0, 7)
    meeting(Gap(point.terms, crossings[0], entries), 1.0).distance          # 0.5
"""

from __future__ import annotations

import math
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Final

from ..engine.modes import MODE
from ..lang.errors import Span
from ..lang.exactly import ExactFactory, ExactLibrary
from ..ops import Op
from ..ops.records import compared_record
from .balls import Ball, apply, ball, to_float, working
from .decided import bounds_of, ratio
from .formulas import shown
from .graph import Elsewhere, Evaluation
from .namespace import ObjectNamespace
from .process.job import Job
from .subject import Subject, exact_output, run_of
from .system import Number
from .terms import Term, Terms

if TYPE_CHECKING:
    from ..engine import Tensor

MAX_QUOTED_CHARACTERS: Final = 40

WIDE_BITS: Final = 1330
"""Precision, in bits, of non-smooth points and of the search for them."""

FAST_BITS: Final = 53
"""Precision, in bits, of values that only bracket a root."""

MAX_NEWTON_STEPS: Final = 80
MAX_NEAREST_STEPS: Final = 50

MAX_STRAYING_FACTOR: Final = 8
"""Largest distance of the search from its start, as a multiple of the radius."""

SAMPLES_PER_ENTRY: Final = 512
"""Number of points along an entry: two meetings closer than those may count as one."""

HALVINGS: Final = 40

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


@compared_record
class Crossing:
    """Two terms such that something is decided differently where they meet.

    op    the row that decides; None: a comparison of the program's own
    span  the text whose value was being computed; None: the condition of a branch
    """

    op: Op | None
    span: Span | None
    left: Term
    right: Term


class _ComparedTerms(Terms):
    """Terms that keep what is compared, rounded, or near the edge of a domain.

    met  what nobody is known to have decided yet; of a rounding both terms are one
    """

    def __init__(self, reach: int) -> None:
        super().__init__()
        self._reach = reach
        self.met: list[Crossing] = []
        self.attributed: list[Crossing] = []
        self.crossings: list[Crossing] = []

    def compare(self, relation: str, a: Term, b: Term) -> bool:
        if a is not b and not (a.constant and b.constant):
            self.met.append(Crossing(None, None, a, b))
        return super().compare(relation, a, b)

    def fixed(self, element: Term, value: Number) -> Term:
        if not element.constant and element.value.is_finite():
            self.met.append(Crossing(None, None, element, element))
        return super().fixed(element, value)

    def note_edges(self, name: str, elements: Sequence[Term]) -> None:
        for position, relation, bound in bounds_of(name, elements):
            term = elements[position]
            if relation != "==" and not term.constant:
                self.met.append(Crossing(None, None, term, self.lift(bound)))
        super().note_edges(name, elements)

    def ran(self, op: Op, *call: object) -> None:
        """Assign to ``op`` what was met since the last row ran."""
        self.attributed += [replace(met, op=op) for met in self.met]
        self.met = []

    def computed(self, span: Span | None) -> None:
        """Assign what was met to the text at ``span``, whose value is now computed."""
        for met in (*self.attributed, *self.met):
            rounded = met.left is met.right
            ends = self._jumps(met.op, met.left) if rounded else [met.right]
            self.crossings += [replace(met, span=span, right=end) for end in ends]
        self.met, self.attributed = [], []

    def _jumps(self, op: Op | None, element: Term) -> list[Term]:
        """Return the jumps of a rounding function around its argument."""
        if op is None or op.jumps_at is None:
            return []
        shift = Fraction(op.jumps_at)
        here = Fraction(*ratio(element.value.mid())) - shift
        first, last = math.floor(here) - self._reach, math.ceil(here) + self._reach
        found = [k + shift for k in range(first, last + 1)]
        return [self.lift(float(b)) for b in found if b or not op.smooth_at_zero]


class _Attributing(ExactLibrary):
    def __init__(self, factory: ExactFactory, terms: _ComparedTerms) -> None:
        super().__init__(factory)
        self._terms = terms

    def on_result(self, value: object, span: Span) -> None:
        super().on_result(value, span)
        self._terms.computed(span)

    def truth(self, value: object) -> bool:
        try:
            return super().truth(value)
        finally:
            self._terms.computed(None)


def watched(job: Job, reach: int = 0) -> tuple[Subject, list[Crossing]]:
    """Return the run of a job's program on terms, and all crossings, near or far;
    ``reach`` is the number of further jumps of a rounding to keep on each side."""
    terms = _ComparedTerms(reach)

    def evaluate(inputs: dict[str, Tensor]) -> object:
        xp = next(iter(inputs.values())).xp
        factory = ExactFactory(xp, job.dtype, job.seed)
        return exact_output(job, inputs, _Attributing(factory, terms))

    with MODE.having(on_call=(*MODE.on_call, terms.ran)):
        point = run_of(job, evaluate, ObjectNamespace(terms))
    return point, terms.crossings


def conventions(job: Job) -> dict[frozenset[str | None], str]:
    """Return the table's rules at the kinks of a job's point, each with the function
    that has it, by the texts of the two terms that meet, and by each text alone."""
    found: dict[frozenset[str | None], str] = {}
    try:
        _, crossings = watched(job)
    except Exception:
        # A note without the rule still has its reason.
        return found
    for crossing in crossings:
        op, left, right = crossing.op, crossing.left, crossing.right
        if op is not None and op.kink and left.value.overlaps(right.value):
            span = crossing.span
            text = "" if span is None else job.source[span.start : span.end]
            short = 0 < len(text) <= MAX_QUOTED_CHARACTERS and "\n" not in text
            rule = f"{text if short else op.base}: {op.kink}"
            texts = shown(left), shown(right)
            for key in (texts, texts[:1], texts[1:]):
                found.setdefault(frozenset(key), rule)
    found.pop(frozenset({None}), None)
    return found


# where two terms meet


@compared_record
class CrossingPoint:
    """A location, as a number for each entry, and its distance from the start."""

    moved: Mapping[int, Ball]
    distance: float


class _Middles(Evaluation):
    """An evaluation of these steps of a graph elsewhere, on numbers without bounds."""

    def __init__(self, graph: Elsewhere, steps: list[int]) -> None:
        super().__init__(graph)
        self._steps = steps

    def below(self, roots: Iterable[int], known: Container[int] = ()) -> list[int]:
        return self._steps

    def _applied(self, name: str, args: Sequence[Ball]) -> Ball:
        return args[0] if name == "stop" else apply(name, *args).mid()

    def slope(self, step: int, position: int, bits: int) -> Ball:
        return super().slope(step, position, bits).mid()


class Gap:
    """The difference of two terms as a function of the entries that may move."""

    def __init__(self, terms: Terms, ends: Crossing, entries: Collection[int]) -> None:
        self.ends = [ends.left.serial, ends.right.serial]
        self._terms = terms
        self._below = terms.evaluation.below(self.ends)
        self.start: Location = {s: terms.leaf(s) for s in self._below if s in entries}

    def at(self, location: Mapping[int, Ball], bits: int) -> tuple[Ball, _Middles]:
        """Return the gap at a location, and the evaluation there."""
        elsewhere = Elsewhere(self._terms, location, all_carry=True)
        found = _Middles(elsewhere, self._below)
        left, right = found.values(self.ends, bits)
        return (left - right).mid(), found

    def fast(self, location: Mapping[int, float]) -> float:
        """Return the gap at a location, computed with few bits."""
        with working(FAST_BITS):
            numbers = {step: ball(number) for step, number in location.items()}
            return to_float(self.at(numbers, FAST_BITS)[0])


def meeting(gap: Gap, within: float) -> CrossingPoint | None:
    """Return the nearest location, at most ``within`` away, where a gap is 0, or
    None."""
    with working(WIDE_BITS):
        if gap.at({}, WIDE_BITS)[0].is_zero():
            return CrossingPoint({}, 0.0)
        location = _settled(gap, gap.start, frozenset(gap.start), within)
        return None if location is None else _within(location, gap.start, within)


def meetings(gap: Gap, within: float) -> Iterator[CrossingPoint]:
    """Yield where a gap is 0 if a single entry moves by at most ``within``."""
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


def _brackets(gap: Gap, entry: int, within: float) -> Iterator[tuple[float, float]]:
    """Yield intervals of an entry in which the gap may be zero."""
    here = to_float(gap.start[entry])
    width = 2 * within / SAMPLES_PER_ENTRY
    # The samples are shifted by half a step, so that the start lies between two.
    at = [here - within + (k - 0.5) * width for k in range(SAMPLES_PER_ENTRY + 2)]
    location = {s: to_float(v) for s, v in gap.start.items()}
    gaps = [gap.fast({**location, entry: x}) for x in at]
    for (a, b), (f, g) in zip(pairwise(at), pairwise(gaps), strict=True):
        if isfinite(f) and isfinite(g) and (f < 0) != (g < 0):
            for _ in range(HALVINGS):
                middle = (a + b) / 2
                if gap.fast({**location, entry: middle}) * f > 0:
                    a = middle
                else:
                    b = middle
            # The zero was located in floating point, so the interval is widened.
            slack = b - a + 1e-12 * (1 + abs(a))
            yield a - slack, b + slack
    for k, (f, g, h) in enumerate(zip(gaps, gaps[1:], gaps[2:], strict=False)):
        if f * h > 0 and abs(f) >= abs(g) <= abs(h):
            yield at[k], at[k + 2]


def _settled(
    gap: Gap, start: Location, moving: frozenset[int], within: float
) -> Location | None:
    """Return where Newton's method converges if ``moving`` entries move; else None."""
    location, steps, rough = dict(start), [ball(0)], True
    for count in range(MAX_NEWTON_STEPS):
        height, there = gap.at(location, WIDE_BITS)
        away = _norm(location[s] - start[s] for s in location)
        if not height.is_finite() or away > MAX_STRAYING_FACTOR * within:
            return None
        slopes = there.cotangents(gap.ends, (1, -1), WIDE_BITS)
        normal = {s: slopes.get(s, ball(0)).mid() for s in moving}
        flat = _norm(normal.values()) < MIN_SLOPE
        if height.is_zero() or (flat and abs(height) <= GAP_TOLERANCE):
            return location
        following = _step(start if rough else location, location, height, normal)
        if following is None:
            return None
        steps.append(_norm(following[s] - location[s] for s in location))
        size = 1 + _norm(location.values())
        if steps[-1] <= SETTLED_RELATIVE_STEP * size:
            return following
        far = steps[-1] > ROUGH_RELATIVE_STEP * size
        rough = rough and far and count < MAX_NEAREST_STEPS
        least, most = HALVING_RATIOS
        halved = (least * a < b < most * a for a, b in pairwise(steps[-3:]))
        if len(steps) > 2 and all(halved):
            # Each step is about half of the last, as at a double root.
            following = {s: 2 * following[s] - location[s] for s in location}
            steps = [ball(0)]
        location = following
    return None


def _within(location: Location, start: Location, within: float) -> CrossingPoint | None:
    distance = to_float(_norm(location[s] - start[s] for s in location))
    return CrossingPoint(location, distance) if distance <= within else None


def _step(
    start: Mapping[int, Ball], location: Mapping[int, Ball], gap: Ball,
    normal: Mapping[int, Ball],
) -> Location | None:  # fmt: skip
    """Return the point of the linearised surface nearest to ``start``, if it has
    one."""
    square = sum((n * n for n in normal.values()), ball(0)).mid()
    if square.is_zero() or not square.is_finite():
        return None
    back = sum((n * (location[s] - start[s]) for s, n in normal.items()), ball(0))
    moved = {s: (start[s] + n * (back - gap) / square).mid() for s, n in normal.items()}
    return {**location, **moved}


def _norm(vector: Iterable[Ball]) -> Ball:
    return sum((v * v for v in vector), ball(0)).sqrt().mid()
