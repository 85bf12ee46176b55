"""Certified ranges over a box of the value, of each gradient, and the gradient's sign.

The box is cut into pieces. On each piece the program runs on balls as wide as the
piece, once for every way its branches may go; derivatives are FLINT's. The piece with
the loosest bound is cut next, until bounds are close to numbers computed at points.

Invariant: a range holds every value that the program has in the box, however early the
search stops. A sign is said to change only if both signs were found at points.

    found = ranges(job, {"x": Span((-1.0,), (2.0,))}, program_of(job), Budget(5.0))
    found.value                     # (Range(0.0, 4.0, ...),)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field, replace
from heapq import heappop, heappush
from itertools import islice
from math import inf, isfinite, nextafter
from typing import Any, Final

from ..ops.records import compared_record
from .balls import START_BITS, ZERO, Ball, ball, is_nan, size, to_float, working
from .boxes import BoxNamespace, BoxTerms, Enclosures, Unresolved, ways
from .process.budget import Budget, OutOfTime
from .process.job import Job, words_of
from .subject import Evaluate, run_of

MAX_RUNS: Final = 4_000
MAX_RUN_STEPS: Final = 3_000_000
MAX_CUTS: Final = 50

CLOSE: Final = 1e-8
"""Largest distance of a bound from a number that was found at a point, as a part of
the largest such number's size."""

MAX_BENT_SIDES: Final = 4
"""Largest number of a box's sides for which second derivatives narrow bounds."""

MAX_KINK_RUNS: Final = 600
"""Number of runs after which pieces are no longer cut to locate kinks better."""

NARROW: Final = 2.0**-24
"""Width of a piece, as a part of the box's side, at which a kink is located."""

MAX_SHOWN_KINKS: Final = 6

UNDECIDED: Final = "undecided"


@compared_record
class InputInterval:
    """An interval of an input: the lower and upper ends of its entries, in C order."""

    lower: tuple[float, ...]
    upper: tuple[float, ...]


@compared_record
class ProvenRange:
    """Proven bounds of a number, and the range of it that was found at points.

    least, most  an upper bound of the smallest number found, a lower of the largest
    sign         whether a gradient keeps its sign, in words
    at           where the sign changes: a point with each sign, the negative first
    """

    lower: float
    upper: float
    least: float = inf
    most: float = -inf
    sign: str = UNDECIDED
    at: tuple[Mapping[str, float], ...] = ()


@compared_record
class BoxPlace:
    """A part of the box where something is not smooth, or has no value."""

    what: str
    near: Mapping[str, tuple[float, float]]


@compared_record
class Ranges:
    """Certified ranges of one program over one box, as far as work and time allowed.

    value      the ranges of the output's entries
    gradients  the ranges of the gradient's entries, by input
    kinks      places where there may be no derivative
    holes      places where the program may have no value, or a value without a bound
    pieces     the number of pieces that the box was cut into
    close      whether every bound is close to a number that was found
    """

    value: tuple[ProvenRange, ...]
    gradients: Mapping[str, tuple[ProvenRange, ...]]
    kinks: tuple[BoxPlace, ...]
    holes: tuple[BoxPlace, ...]
    pieces: int
    close: bool


Ends = tuple[float, float]

Way = Any
"""Type of an `Subject` on `BoxTerms`: one way through the program."""

EVERYTHING: Final = (-inf, inf)


@compared_record
class _Piece:
    """A piece of the box: its ends by entry, and what was found on it.

    bounds  the bounds of each output and gradient; None: the program has no value here
    kinks   descriptions of what is not smooth on it
    hole    why there is no bound; None if there is one
    only    the one run that is valid on all of it; None if branches go several ways
    shares  by side, the largest part of a bound's width that is due to that side
    """

    ends: Mapping[str, Ends]
    cuts: int
    bounds: tuple[Ends, ...] | None
    kinks: tuple[str, ...] = ()
    hole: str | None = None
    only: Way | None = None
    shares: Mapping[str, float] = field(default_factory=dict)


def ranges(
    job: Job, box: Mapping[str, InputInterval], evaluate: Evaluate, budget: Budget
) -> Ranges:
    """Return the ranges over a box, as narrow as the limits on work and time allow."""
    search = _BoxSearch(job, box, evaluate, budget)
    # The bounds that were found before the time ran out hold.
    with suppress(OutOfTime), budget.slice(budget.left):
        search.work()
    return search.ranges()


class _BoxSearch:
    def __init__(
        self,
        job: Job,
        box: Mapping[str, InputInterval],
        evaluate: Evaluate,
        budget: Budget,
    ) -> None:
        self.job = job
        self.budget = budget
        self.evaluate = evaluate
        labels = {i.name: i.labels() for i in job.inputs}
        self.box = {
            label: (low, high)
            for name, span in box.items()
            for label, low, high in zip(
                labels[name], span.lower, span.upper, strict=True
            )
        }
        self.asked = {i.name: labels[i.name] for i in job.inputs if i.claim}
        self.outputs = job.output.count
        given = job.cotangent
        self.weights = [1.0] * self.outputs if given is None else given.values()
        self.entries = [label for own in self.asked.values() for label in own]
        count = self.outputs + len(self.entries)
        self.least, self.most = [inf] * count, [-inf] * count
        self.negative: dict[int, Mapping[str, float]] = {}
        self.positive: dict[int, Mapping[str, float]] = {}
        whole = _Piece(self.box, 0, (EVERYTHING,) * count, hole="it was not examined")
        self.pieces: dict[int, _Piece] = {0: whole}
        self.runs = self.steps = 0

    # running

    def _run(self, terms: BoxTerms) -> Way:
        try:
            subject = run_of(self.job, self.evaluate, BoxNamespace(terms))
        except Exception as error:
            raise Unresolved(words_of(error)) from error
        self.runs += 1
        self.steps += terms.steps
        return subject

    def _there(self, only: Way, ends: Mapping[str, Ends]) -> Enclosures:
        self.runs += 1
        self.steps += only.terms.steps
        found: Enclosures = only.evaluation.moved(intervals(ends))
        return found

    def _followed(
        self, ends: Mapping[str, Ends], known: Way | None
    ) -> Iterator[tuple[Way, list[Ball], dict[str, Ball]]]:
        """Yield the program's runs on a box, one for each way its branches may go, each
        with the numbers that it gives. ``known`` is the only run on a larger box, whose
        branches hold here, or None."""
        if known is not None:
            yield known, *self._numbers(known, self._there(known, ends))
            return
        for terms, subject in ways(self._run, intervals(ends)):
            yield subject, *self._numbers(subject, terms.evaluation)

    def _numbers(
        self, subject: Way, evaluation: Enclosures
    ) -> tuple[list[Ball], dict[str, Ball]]:
        values = evaluation.values(subject.outputs, START_BITS)
        found = evaluation.cotangents(subject.outputs, self.weights, START_BITS)
        symbols = subject.terms.symbols.items()
        return values, {label: found.get(step, ZERO) for label, step in symbols}

    def _value(self, ends: Mapping[str, Ends], only: Way) -> Ends:
        return ends_of(self._there(only, ends).value(only.outputs[0], START_BITS))

    def work(self) -> None:
        """Cut the piece with the loosest bound, until all are close or work ends."""
        first = self._looked_at(self.box, 0, None)
        self.pieces = {0: first}
        self._visit(first)
        heaps: list[list[tuple[float, int]]] = [[] for _ in range(2 * len(self.least))]
        self._enter(heaps, 0, first)
        number = 0
        while self.runs < MAX_RUNS and self.steps < MAX_RUN_STEPS:
            worst = self._worst(heaps)
            worst = self._rough() if worst is None else worst
            if worst is None:
                return
            piece = self.pieces[worst]
            halves = [self._looked_at(ends, piece.cuts + 1, piece.only)
                      for ends in cut(piece, self.box)]  # fmt: skip
            del self.pieces[worst]
            for half in halves:
                number += 1
                self.pieces[number] = half
                self._enter(heaps, number, half)
                self._visit(half)
            self.budget.check()

    def _enter(self, heaps: list[Any], number: int, piece: _Piece) -> None:
        for k, (low, high) in enumerate(piece.bounds or ()):
            heappush(heaps[2 * k], (low, number))
            heappush(heaps[2 * k + 1], (-high, number))

    def _worst(self, heaps: list[list[tuple[float, int]]]) -> int | None:
        farthest, worst = CLOSE, None
        for place, heap in enumerate(heaps):
            while heap and heap[0][1] not in self.pieces:
                heappop(heap)
            if not heap:
                continue
            bound, number = heap[0]
            k = place // 2
            piece = self.pieces[number]
            if not can_be_cut(piece, self.box):
                continue
            reached = -self.most[k] if place % 2 else self.least[k]
            gap = reached - bound
            scale = max(abs(self.most[k]), abs(self.least[k]), 1e-300)
            far = gap / scale if isfinite(gap) and isfinite(scale) else inf
            if far > farthest:
                farthest, worst = far, number
        return worst

    def _rough(self) -> int | None:
        """Return the number of the widest piece with a kink or a hole, if it is wide
        enough."""
        if self.runs > MAX_KINK_RUNS:
            return None
        wide = [
            (max(_widths(p, self.box))[0], n) for n, p in self.pieces.items()
            if (p.kinks or p.hole) and can_be_cut(p, self.box)
        ]  # fmt: skip
        width, widest = max(wide, default=(0.0, None))
        return widest if width > NARROW else None

    # looking at a piece

    def _looked_at(
        self, ends: Mapping[str, Ends], cuts: int, known: Way | None
    ) -> _Piece:
        nothing = (EVERYTHING,) * len(self.least)
        bounds: list[Ends] | None = None
        what: dict[str, None] = {}
        hole, slopes, only = None, dict[str, Ball](), known
        try:
            for subject, values, slopes in self._followed(ends, known):
                numbers = [*values, *(slopes[label] for label in self.entries)]
                own = list(map(ends_of, numbers))
                if known is None:
                    what |= dict.fromkeys(subject.terms.kinks.values())
                    if subject.terms.taken:
                        what["a comparison goes either way"] = None
                    only = subject
                if any(is_nan(v) for v in values):
                    hole = "the program has no value"
                    continue
                bounds = own if bounds is None else list(map(hull, bounds, own))
        except Unresolved as error:
            return _Piece(ends, cuts, nothing, tuple(what), str(error))
        if what:
            only = None
        if bounds is None:
            return _Piece(ends, cuts, None, hole=hole)
        shares: Mapping[str, float] = {}
        if hole is None and not all(map(isfinite, bounds[0])):
            hole = "the value has no bound"
        few = len(ends) <= MAX_BENT_SIDES
        if only is not None and only.terms.cut:
            # The slopes of a program that stops gradients are not its value's slopes.
            slopes = {}
            if few and self.outputs == 1:
                wide = only.evaluation.moved(intervals(ends))
                steps = only.terms.symbols
                self.steps += len(ends) * only.terms.steps
                slopes = {n: wide.change(only.outputs[0], steps[n]) for n in ends}
        if only is not None and slopes and self.outputs == 1:
            bounds[0] = self._narrowed(bounds[0], ends, slopes, only)
        if only is not None and few:
            shares = self._bent(bounds, ends, slopes, only)
        return _Piece(ends, cuts, tuple(bounds), tuple(what), hole, only, shares)

    def _narrowed(
        self, value: Ends, ends: Mapping[str, Ends], slopes: Mapping[str, Ball],
        only: Way,
    ) -> Ends:  # fmt: skip
        """Return the value's bounds narrowed by its slopes: a monotonic value has its
        extremes at the ends, and small slopes keep it near the value at the middle."""
        if self.job.cotangent is not None:
            return value
        least, most = corners(ends, slopes)
        if least != ends:
            found = self._value(least, only)[0], self._value(most, only)[1]
            return meeting(value, found)
        middles = {label: (middle(*e),) * 2 for label, e in ends.items()}
        centre = interval(*self._value(middles, only))
        with working(START_BITS):
            reach = ZERO
            for label, e in ends.items():
                reach = reach + slopes[label] * (interval(*e) - middles[label][0])
            return meeting(value, ends_of(centre + reach))

    def _bent(
        self, bounds: list[Ends], ends: Mapping[str, Ends], slopes: Mapping[str, Ball],
        only: Way,
    ) -> dict[str, float]:  # fmt: skip
        """Narrow the gradient's bounds by second derivatives. Return by side the
        largest part of a bound's width that is due to that side."""
        terms = only.terms
        steps = [terms.symbols[label] for label in self.entries]
        middles = {label: middle(*e) for label, e in ends.items()}
        centre = only.evaluation.moved({n: ball(m) for n, m in middles.items()})
        _, at_centre = self._numbers(only, centre)
        wide = only.evaluation.moved(intervals(ends))
        reach = [ZERO] * len(steps)
        parts: dict[str, list[float]] = {}
        columns: dict[str, list[Ball]] = {}
        for label, e in ends.items():
            column = wide.bends(only.outputs, self.weights, steps, terms.symbols[label])
            columns[label] = column
            self.steps += 4 * terms.steps
            with working(START_BITS):
                away = interval(*e) - middles[label]
                moved = [c * away for c in column]
                reach = [r + m for r, m in zip(reach, moved, strict=True)]
                own = [slopes.get(label, ZERO) * away] * self.outputs + moved
            parts[label] = [to_float(size(m)) for m in own]
        for k, label in enumerate(self.entries):
            with working(START_BITS):
                found = ends_of(at_centre[label] + reach[k])
            least, most = corners(ends, {n: own[k] for n, own in columns.items()})
            # A monotonic gradient has its extremes at two corners of the piece.
            if all(low == high for low, high in least.values()):
                first, last = (self._slope(label, only, at) for at in (least, most))
                found = meeting(found, (first[0], last[1]))
            bounds[self.outputs + k] = meeting(bounds[self.outputs + k], found)
        return {
            label: max(
                (p / (high - low) for p, (low, high) in zip(own, bounds, strict=True)
                 if low < high), default=0.0,
            )
            for label, own in parts.items()
        }  # fmt: skip

    def _slope(self, label: str, only: Way, at: Mapping[str, Ends]) -> Ends:
        self.steps += only.terms.steps
        there = only.evaluation.moved(intervals(at))
        return ends_of(self._numbers(only, there)[1][label])

    def _visit(self, piece: _Piece) -> None:
        """Keep the numbers at the middle of a piece and at two of its corners, but
        derivatives only if nothing is decided there."""
        for of in (middle, min, max) if piece.bounds is not None else ():
            point = {n: of(*e) for n, e in piece.ends.items()}
            at = {n: (v, v) for n, v in point.items()}
            with suppress(Unresolved):
                for subject, numbers, slopes in self._followed(at, piece.only):
                    terms = subject.terms
                    met = terms.taken or terms.kinks or terms.tied
                    if piece.only is not None or not met:
                        numbers = [*numbers, *(slopes[e] for e in self.entries)]
                    for k, number in enumerate(numbers):
                        if number.is_finite():
                            self._note(k, number, point)

    def _note(self, k: int, number: Ball, point: Mapping[str, float]) -> None:
        low, high = ends_of(number)
        self.least[k] = min(self.least[k], high)
        self.most[k] = max(self.most[k], low)
        if number > 0:
            self.positive.setdefault(k, point)
        elif number < 0:
            self.negative.setdefault(k, point)

    def ranges(self) -> Ranges:
        ranges = [self._range(k) for k in range(len(self.least))]
        rest = iter(ranges[self.outputs :])
        gradients = {
            name: tuple(islice(rest, len(own))) for name, own in self.asked.items()
        }
        pieces = self.pieces.values()
        return Ranges(
            tuple(replace(each, sign=UNDECIDED) for each in ranges[: self.outputs]),
            gradients,
            tuple(_merged((what, p) for p in pieces for what in p.kinks)),
            tuple(_merged((p.hole, p) for p in pieces if p.hole)),
            len(self.pieces),
            all(map(_is_close, ranges)),
        )

    def _range(self, k: int) -> ProvenRange:
        bounds = [p.bounds[k] for p in self.pieces.values() if p.bounds is not None]
        low = min((b[0] for b in bounds), default=inf)
        high = max((b[1] for b in bounds), default=-inf)
        sign, at = sign_of(low, high), tuple[Mapping[str, float], ...]()
        if k in self.negative and k in self.positive:
            sign, at = "changes sign", (self.negative[k], self.positive[k])
        return ProvenRange(low, high, self.least[k], self.most[k], sign, at)


def sign_of(lower: float, upper: float) -> str:
    """Return, in words, the sign of all numbers between two bounds."""
    if lower > upper:
        return UNDECIDED
    if lower == upper == 0:
        return "zero throughout"
    if lower >= 0:
        return "positive throughout" if lower > 0 else "never negative"
    if upper <= 0:
        return "negative throughout" if upper < 0 else "never positive"
    return UNDECIDED


def _is_close(found: ProvenRange) -> bool:
    gap = max(found.least - found.lower, found.upper - found.most)
    return gap < inf and gap <= CLOSE * max(abs(found.least), abs(found.most), 1e-300)


def interval(low: float, high: float) -> Ball:
    """Return the narrowest ball that contains an interval."""
    if low == high:
        return ball(low)
    with working(START_BITS):
        return ball(low).union(ball(high))


def intervals(ends: Mapping[str, Ends]) -> dict[str, Ball]:
    return {label: interval(*e) for label, e in ends.items()}


def ends_of(b: Ball) -> Ends:
    """Return floats at or beyond a ball's ends; infinities if it is not finite."""
    if not b.is_finite():
        return EVERYTHING
    low, high = to_float(b.lower()), to_float(b.upper())
    if ball(low) > b.lower():
        low = nextafter(low, -inf)
    if ball(high) < b.upper():
        high = nextafter(high, inf)
    return low, high


def corners(
    ends: Mapping[str, Ends], slopes: Mapping[str, Ball]
) -> tuple[dict[str, Ends], dict[str, Ends]]:
    """Return the parts of a box where a number with these slopes is least and most."""
    least, most = dict(ends), dict(ends)
    for label, (low, high) in ends.items():
        if slopes[label] >= 0:
            least[label], most[label] = (low, low), (high, high)
        elif slopes[label] <= 0:
            least[label], most[label] = (high, high), (low, low)
    return least, most


def hull(a: Ends, b: Ends) -> Ends:
    return min(a[0], b[0]), max(a[1], b[1])


def meeting(a: Ends, b: Ends) -> Ends:
    return max(a[0], b[0]), min(a[1], b[1])


def middle(low: float, high: float) -> float:
    return low / 2 + high / 2


def _widths(piece: _Piece, box: Mapping[str, Ends]) -> Iterator[tuple[float, str]]:
    """Yield each side that can be halved with its width as a part of the box's side."""
    for label, (low, high) in piece.ends.items():
        whole = box[label][1] - box[label][0]
        if low < middle(low, high) < high:
            yield (high - low) / whole, label


def can_be_cut(piece: _Piece, box: Mapping[str, Ends]) -> bool:
    """Tell whether a piece is wide enough to be cut in two."""
    widest = max(_widths(piece, box), default=None)
    return widest is not None and widest[0] > 2.0**-MAX_CUTS


def cut(
    piece: _Piece, box: Mapping[str, Ends]
) -> tuple[dict[str, Ends], dict[str, Ends]]:
    """Return the two halves of a piece, cut across the side with the largest share of a
    bound's width, or across the widest; early cuts are at 0 if it lies inside."""
    sides = list(_widths(piece, box))
    _, label = max((piece.shares.get(n, 0.0), w, n) for w, n in sides)[1:]
    low, high = piece.ends[label]
    at = 0.0 if piece.cuts < 2 and low < 0 < high else middle(low, high)
    return {**piece.ends, label: (low, at)}, {**piece.ends, label: (at, high)}


def _merged(found: Any) -> Iterator[BoxPlace]:
    """Yield the first few places; touching pieces with the same text are joined."""
    grown: list[BoxPlace] = []
    order = sorted(found, key=lambda pair: (pair[0], list(pair[1].ends.values())))
    for what, piece in order:
        near = dict(piece.ends)
        if grown and grown[-1].what == what:
            last = grown[-1].near
            if all(last[n][0] <= high and low <= last[n][1]
                   for n, (low, high) in near.items()):  # fmt: skip
                near = {n: hull(last[n], e) for n, e in near.items()}
                grown.pop()
        grown.append(BoxPlace(what, near))
    yield from grown[:MAX_SHOWN_KINKS]
