"""Kinks of a program near a point, and verdicts on the engine's number at each.

Invariant: a verdict rests on one-sided slopes of the program itself, to which no rule
of the engine and no derivative of SymPy contributes: each run decides as the program
does on that side, and a slope is a quotient of values with hundreds of digits. It is
finite only if two steps of very different size agree on it within `SLOPE_TOLERANCE`; it
is infinite if it keeps growing, and nan otherwise. What is called a subgradient has
been compared with the slopes along every coordinate and along directions drawn by the
seed.

    report = kinks_of(job, radius=0.0)
    report.kinks[0].condition           # "x - 1 == 0"
    report.places[0].sides[0].verdict   # "subgradient"
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import fsum, inf, isfinite, isnan, nan
from random import Random
from typing import Final

from ..engine import Tensor
from ..lang.exactly import ExactFactory, ExactLibrary
from ..ops.records import compared_record
from .balls import Ball, ball, text, to_float, working
from .crossings import (
    WIDE_BITS,
    Crossing,
    CrossingPoint,
    Gap,
    meeting,
    meetings,
    watched,
)
from .formulas import shown
from .namespace import ObjectArray, ObjectNamespace
from .process.budget import Budget
from .process.job import Job
from .rounding import unit_roundoff
from .subject import Subject, exact_output, objects, unit
from .system import Balls

MAX_ENTRIES_AT_KINK: Final = 100

SAME_POINT_ROUNDINGS: Final = 4
"""Distance, in roundings of an entry, at which a point is still the program's own."""

SUBGRADIENT_DIRECTIONS: Final = 8

MIN_DISTANCE: Final = 1e-20
"""Distance below which a point is the program's own."""

SUBGRADIENT_SLACK: Final = 1e-12
"""Amount by which a slope may fall below a subgradient because of rounding."""

POINT_DIGITS: Final = 40
"""Number of digits in which two points must agree to be one."""

MAX_POINTS: Final = 64

MAX_JUMPS_EITHER_WAY: Final = 32
"""Number of jumps of a rounding function on each side that are kept for a radius."""

ZERO_DIGITS: Final = 50
"""Number of decimals that are zero in a slope that is taken for 0."""

Span = tuple[int, int]
"""Type of a part of the program's text, by its first and its last position."""

WIDE_STEP: Final = ball(2) ** -332
NARROW_STEP: Final = ball(2) ** -498
SLOPE_TOLERANCE: Final = ball(10) ** -25
DIVERGING_RATIO: Final = ball(1.2)
MIN_DIVERGING_SLOPE: Final = ball(10)


@compared_record
class Kink:
    """A comparison or a row of the program that changes its decision at a point.

    more   the number of further entries at which the same text changes its decision
    place  the position in the report of the place it lies at
    rule   the table's convention there; empty for a comparison of the program's own
    """

    function: str
    span: Span | None
    condition: str | None
    more: int
    distance: float
    place: int
    rule: str


@compared_record
class Side:
    """The derivative by one entry from below and from above, and the engine's.

    below    The slope from below.
    above    The slope from above.
    jumps    Whether the value jumps there.
    engine   What gradcli grad gives.
    verdict  Whether that is a gradient, a subgradient or neither.
    """

    input: str
    entry: str
    below: float
    above: float
    jumps: bool
    engine: float | None = None
    verdict: str | None = None

    @property
    def is_smooth(self) -> bool:
        """Whether there is a derivative, and the engine's number, if known, is it."""
        if self.jumps or isnan(self.below) or isnan(self.above):
            return False
        even = isfinite(self.below) and _equal(self.below, self.above)
        return even and self.verdict in (None, "gradient")

    @property
    def words(self) -> str:
        """The slopes on both sides in words."""
        slopes = f"{self.below!r} from below, {self.above!r} from above"
        return f"{self.entry}: {slopes}{', where the value jumps' * self.jumps}"


@compared_record
class KinkPlace:
    """A point on kinks.

    here      Whether it is the point that was given.
    sides     The derivative by each entry, from below and from above.
    left_out  How many entries were not examined.
    """

    here: bool
    values: Mapping[str, float]
    sides: tuple[Side, ...]
    left_out: int


@compared_record
class KinkReport:
    """All kinks and the places they lie at, nearest first.

    left_out    the number of farther places that were not examined
    unsearched  the number of conditions of which only the nearest place was searched
    """

    radius: float
    kinks: tuple[Kink, ...]
    places: tuple[KinkPlace, ...]
    left_out: int
    unsearched: int = 0


@compared_record
class _Candidate:
    """A crossing, a point that lies on it, its condition as text, and the positions of
    the entries that it depends on."""

    crossing: Crossing
    point: CrossingPoint
    condition: str | None
    touched: frozenset[int]


def kinks_of(job: Job, radius: float) -> KinkReport:
    """Return the kinks at the point and within ``radius`` of it, with their slopes;
    raise `NoMeaning` if the program does not run on numbers of many digits."""
    budget = Budget(job.seconds)
    with budget.slice(job.seconds):
        point, crossings = watched(job, MAX_JUMPS_EITHER_WAY if radius else 0)
        return _KinkSearch(job, point, radius, budget).report(crossings)


class _KinkSearch:
    """A search for kinks; what there is no time for is left out and counted."""

    def __init__(self, job: Job, point: Subject, radius: float, budget: Budget) -> None:
        self.job = job
        self.budget = budget
        self.subject = point
        entries = point.all_entries()
        self.position = {e.serial: i for i, e in enumerate(entries)}
        self.start = [e.value for e in entries]
        self.names = [(i.name, label) for i in job.inputs if i.claim
                      for label in i.labels()]  # fmt: skip
        self.radius = radius
        self.fine = SAME_POINT_ROUNDINGS * unit_roundoff(job.dtype)
        self.field = OutputFunction(job)
        self.unsearched = 0
        """Number of conditions that were not searched for along the entries."""

    def report(self, crossings: Sequence[Crossing]) -> KinkReport:
        groups: dict[object, list[_Candidate]] = {}
        for found in self._candidates(crossings):
            moved = found.point.moved.items()
            key = tuple((s, text(v, POINT_DIGITS)) for s, v in moved
                        if v != self.start[self.position[s]])  # fmt: skip
            groups.setdefault(key, []).append(found)
        ordered = sorted(groups.values(), key=lambda g: g[0].point.distance)
        kinks: list[Kink] = []
        kept: list[KinkPlace] = []
        for candidates in ordered[:MAX_POINTS]:
            place, real = self._place(candidates)
            if real:
                kinks += self._kinks(real, len(kept))
                kept.append(place)
        left = len(ordered[MAX_POINTS:])
        return KinkReport(self.radius, tuple(kinks), tuple(kept), left, self.unsearched)

    def _candidates(self, crossings: Iterable[Crossing]) -> Iterator[_Candidate]:
        seen = set()
        for crossing in crossings:
            left, right = crossing.left, crossing.right
            key = crossing.span, left.serial, right.serial
            if key in seen:
                continue
            seen.add(key)
            ends = self.subject.evaluation.entries_below([left.serial, right.serial])
            touched = frozenset(self.position[s] for s in ends & self.position.keys())
            for point in self._points(crossing, len(touched)):
                if point.distance <= self.radius or self._is_here(point):
                    texts = shown(left), shown(right)
                    condition = None if None in texts else f"{texts[0]} == {texts[1]}"
                    yield _Candidate(crossing, point, condition, touched)

    def _points(self, crossing: Crossing, count: int) -> Iterator[CrossingPoint]:
        """Yield the nearest meeting, and all of them if one entry alone decides."""
        largest = max((abs(to_float(v)) for v in self.start), default=0.0)
        gap = Gap(self.subject.terms, crossing, self.position)
        nearest = meeting(gap, max(self.radius, self.fine * largest))
        if nearest is not None:
            yield nearest
        if not self.radius or not (count == 1 or nearest is None):
            return
        if self.budget.left < self.job.seconds / 2:
            self.unsearched += 1
            return
        for point in meetings(gap, self.radius):
            # The program's own point was yielded above, as the nearest one.
            if point.distance > MIN_DISTANCE:
                yield point

    def _is_here(self, point: CrossingPoint) -> bool:
        sizes = [abs(to_float(self.start[self.position[s]])) for s in point.moved]
        return bool(point.distance <= self.fine * max(sizes, default=0))

    def _place(self, group: Sequence[_Candidate]) -> tuple[KinkPlace, list[_Candidate]]:
        """Return a point with its slopes, and the candidates that are kinks there."""
        here = self._is_here(group[0].point)
        location = list(self.start)
        for serial, value in group[0].point.moved.items():
            location[self.position[serial]] = value
        touched = sorted(set().union(*[each.touched for each in group]))
        claims = [i.claim.values() for i in self.job.inputs if i.claim is not None]
        engine = dict(enumerate(v for claim in claims for v in claim)) if here else {}
        sides: list[Side] = []
        for at in touched[:MAX_ENTRIES_AT_KINK]:
            if self.budget.left < self.job.seconds / 5:
                break
            sides.append(self._side(location, at, engine.get(at)))
        sides = self._jointly(location, touched, sides)
        uneven = {i for i, s in zip(touched, sides, strict=False) if not s.is_smooth}
        real = []
        for each in group:
            op = each.crossing.op
            declared = here and op is not None and bool(op.kink)
            if each.touched and (declared or not uneven.isdisjoint(each.touched)):
                real.append(each)
        names = [entry for _, entry in self.names]
        values = dict(zip(names, map(to_float, location), strict=True))
        return KinkPlace(here, values, tuple(sides), len(touched) - len(sides)), real

    def _kinks(self, real: Iterable[_Candidate], place: int) -> Iterator[Kink]:
        """Yield one kink for each row, with the count of further sets of entries."""
        rows: dict[object, dict[frozenset[int], _Candidate]] = {}
        for each in real:
            crossing = each.crossing
            row = crossing.op.name if crossing.op else each.condition
            rows.setdefault((crossing.span, row), {}).setdefault(each.touched, each)
        for own in rows.values():
            first = next(iter(own.values()))
            op = first.crossing.op
            yield Kink(op.base if op else "", first.crossing.span, first.condition,
                       len(own) - 1, float(first.point.distance), place,
                       op.kink if op else "")  # fmt: skip

    def _side(self, location: Sequence[Ball], at: int, engine: float | None) -> Side:
        found = self.field.side(location, at, self.names[at])
        if engine is None:
            return found
        verdict = judged(engine, found.below, found.above, found.jumps)
        return replace(found, engine=engine, verdict=verdict)

    def _jointly(
        self, location: Sequence[Ball], touched: Sequence[int], sides: list[Side]
    ) -> list[Side]:
        """Return the sides, tested along joint directions, too, for subgradients."""
        words = {s.verdict for s in sides} - {"gradient"}
        word = words.pop() if len(words) == 1 else None
        if word not in _SIGN or not 1 < len(sides) == len(touched):
            return sides
        draw = Random(self.job.seed)
        for _ in range(SUBGRADIENT_DIRECTIONS):
            way = [0.0] * len(self.start)
            for i in touched:
                way[i] = draw.choice((-1, 1)) * draw.random()
            ahead, _ = slope(self.field, location, way, 1)
            claimed = fsum(
                (s.engine or 0.0) * way[i] for i, s in zip(touched, sides, strict=True)
            )
            if _SIGN[word] * (ahead - claimed) < -SUBGRADIENT_SLACK:
                return [replace(s, verdict="neither") for s in sides]
        return sides


_SIGN: Final[dict[str | None, int]] = {"subgradient": 1, "supergradient": -1}


def judged(engine: float, lower: float, upper: float, jumps: bool) -> str:
    """Return the name of the engine's number, from the slopes on both sides of a kink.

    gradient       the slope on both sides, which agree
    subgradient    a number between the sides of a convex kink
    supergradient  a number between the sides of a concave kink
    one-sided      the slope on the only side that has one
    step           the slope on both sides of a jump
    pole           the infinity that the slopes on both sides tend to
    neither        any other number
    """
    sides = [s for s in (lower, upper) if not isnan(s)]
    if len(sides) < 2:
        return "one-sided" if sides and _equal(engine, sides[0]) else "neither"
    if _equal(lower, upper):
        if not _equal(engine, lower):
            return "neither"
        return "gradient" if not jumps else "step" if isfinite(lower) else "pole"
    # A number within rounding of a side's slope is taken for that slope.
    number = next((side for side in sides if _equal(engine, side)), engine)
    if jumps or not min(sides) <= number <= max(sides):
        return "neither"
    return "subgradient" if lower < upper else "supergradient"


def _equal(a: float, b: float) -> bool:
    if not (isfinite(a) and isfinite(b)):
        return bool(a == b)
    return bool(abs(a - b) <= 1e-9 * max(1, abs(a), abs(b)))


class OutputFunction:
    """The weighted output as a function of all entries that are asked for.

    fixed  the numbers of the other inputs, by name; what they have in the job if not
           given
    """

    def __init__(
        self, job: Job, fixed: Mapping[str, Sequence[object]] | None = None
    ) -> None:
        self._job = job
        given = {i.name: list(map(ball, i.value.values())) for i in job.inputs}
        self._fixed: Mapping[str, Sequence[object]] = {**given, **(fixed or {})}
        self._namespace = ObjectNamespace(Balls())
        factory = ExactFactory(self._namespace, job.dtype, job.seed)
        self._library = ExactLibrary(factory)

    def at(self, location: Sequence[Ball | float]) -> Ball:
        """Return the output there, to hundreds of digits; nan if it has none."""
        tensors, start = {}, 0
        for each in self._job.inputs:
            count = len(each.value.values())
            numbers: Sequence[object] = self._fixed[each.name]
            if each.claim is not None:
                numbers = location[start : start + count]
                start += count
            array = ObjectArray(objects(numbers, each.value.shape), self._namespace)
            tensors[each.name] = Tensor(array, self._namespace)
        with working(WIDE_BITS):
            output = exact_output(self._job, tensors, self._library)
            parts = self._namespace.elements(output.raw).reshape(-1).tolist()
            given = self._job.cotangent
            weights = [1.0] * len(parts) if given is None else given.values()
            terms = (ball(w) * p for w, p in zip(weights, parts, strict=True))
            return sum(terms, ball(0))

    def side(self, location: Sequence[Ball], at: int, names: tuple[str, str]) -> Side:
        """Return the slopes by an entry, given by its position, of an input, which are
        named."""
        way = unit(len(location), at)
        (lower, falls), (upper, jumps) = (
            slope(self, location, way, side) for side in (-1, 1)
        )
        return Side(*names, lower, upper, falls or jumps)


def slope(
    field: OutputFunction, location: Sequence[Ball], way: Sequence[float], side: int
) -> tuple[float, bool]:
    """Return the derivative along ``way``, ahead of a location (1) or behind, and
    whether the value jumps on that side."""
    here = field.at(location)
    steps, gaps = [], []
    with working(WIDE_BITS):
        for width in (WIDE_STEP, NARROW_STEP):
            first = field.at(_moved(location, way, side * width))
            second = field.at(_moved(location, way, 2 * side * width))
            steps.append((second - first) / (side * width))
            gaps.append(abs(first - here))
        jumps = not here.is_finite() or not gaps[1] <= SLOPE_TOLERANCE * (1 + abs(here))
        return _limit(*steps), jumps


def _moved(
    location: Sequence[Ball], way: Sequence[float], width: Ball
) -> list[Ball | float]:
    return [p + width * w if w else p for p, w in zip(location, way, strict=True)]


def _limit(near: Ball, nearer: Ball) -> float:
    """Return the number that two difference quotients tend to; nan if to none."""
    if not (near.is_finite() and nearer.is_finite()):
        return nan
    if abs(nearer - near) <= SLOPE_TOLERANCE * (1 + abs(nearer)):
        tiny = abs(nearer) < ball(10) ** -ZERO_DIGITS
        return 0.0 if tiny else to_float(nearer)
    if abs(nearer) > DIVERGING_RATIO * abs(near) and abs(nearer) > MIN_DIVERGING_SLOPE:
        return inf if nearer > 0 else -inf
    return nan
