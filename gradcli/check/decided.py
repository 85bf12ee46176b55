"""Functions whose branch the values at the point decide: maxima, sorting, rounding; and
the decisions of systems whose elements are steps of a graph, where two numbers are
compared as balls of more and more bits, until these are separate.

Invariants: every decision goes through ``system.compare``, which keeps it as a side
condition; a point without a derivative is reported to ``system.kink``. Numbers whose
gap is exactly 0 are equal; those that no precision within the bounds separates count as
equal and are a tie. Where rounding is known, a number within rounding of a tie or a
jump counts as one: it is decided as the engine's numbers decide it, and recorded.

    apart(evaluation, a, b)         # a ball on one side of 0, or 0
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial, reduce
from itertools import pairwise
from math import inf, isfinite
from typing import Any, Final, SupportsIndex, TypeVar

import numpy as np

from ..engine.raw import Host, Run
from ..ops import FUNCTIONS, Op, overloads, parameters
from ..ops.basis import ARITHMETIC, UFUNCS
from ..ops.exact import Exact
from . import balls
from .balls import (
    INFINITY,
    NAN,
    ZERO,
    Ball,
    ball,
    is_infinite,
    is_nan,
    to_float,
    working,
)
from .graph import MAX_COMPARISON_BITS, Evaluation, SeriesLine, compute
from .rounding import Roundings
from .system import (
    RELATIONS,
    Element,
    NoMeaning,
    Number,
    System,
    exact,
    has_many_digits,
    lifted,
)

Choose = Callable[[System[Element], Element, Element], Element]
"""Function that returns one of two elements."""

Extreme = Callable[[System[Element], list[Element]], Element]
"""Function that returns one of several elements."""


def _is_nan(system: System[Element], e: Element) -> bool:
    return is_nan(system.value(e))


def _asked(
    question: Callable[[Ball], bool], system: System[Element], e: Element
) -> bool:
    system.classify(e)
    return question(system.value(e))


def _beyond(relation: str, system: System[Element], a: Element, b: Element) -> Element:
    """Return ``a`` if it stands in the relation to ``b``, else ``b``; nan wins."""
    if _is_nan(system, a) or _is_nan(system, b):
        return a if _is_nan(system, a) else b
    return a if system.compare(relation, a, b) else b


_larger, _smaller = partial(_beyond, ">="), partial(_beyond, "<=")


def _compared(relation: str, system: System[Element], a: Element, b: Element) -> bool:
    return system.compare(relation, a, b)


def _is_negative(system: System[Element], e: Element) -> bool:
    if system.is_zero(e):
        system.unsigned(e)
    return system.compare("<", e, system.lift(0))


def _ignoring_nan(
    choose: Choose[Element], system: System[Element], a: Element, b: Element
) -> Element:
    for element, other in ((a, b), (b, a)):
        if _is_nan(system, element):
            system.classify(element)
            return other
    return choose(system, a, b)


def _best(
    choose: Choose[Element], system: System[Element], row: list[Element]
) -> Element:
    """Return the extreme element of a row as the same object, to be found by ``is``."""
    if not row:
        raise ValueError("the largest or smallest of no entries is not defined")
    return reduce(partial(choose, system), row)


largest, smallest = partial(_best, _larger), partial(_best, _smaller)


def product(system: System[Element], row: list[Element]) -> Element:
    return reduce(partial(system.apply, "mul"), row, system.lift(1))


def order(system: System[Element], row: list[Element], descending: bool) -> list[int]:
    """Return the positions that sort a row; comparing neighbours is what is decided. In
    a run of equal entries whose ties are decided against their order, each position
    moves up by one, so that every rank gets another entry. As in NumPy's order, nan is
    the largest."""

    @cache
    def is_unchanged(a: int, b: int) -> bool:
        return system.compare(relation, row[a], row[b])

    def key(i: int) -> Ball:
        value = system.value(row[i])
        middle = value.mid() if value.is_finite() else value
        return -middle if descending else middle

    absent = [i for i, e in enumerate(row) if _is_nan(system, e)]
    for i in absent:
        system.classify(row[i])
    positions = sorted(set(range(len(row))) - set(absent), key=key)
    relation = ">=" if descending else "<="
    ordered: list[int] = absent if descending else []
    for run in _runs(
        positions, lambda a, b: not is_unchanged(a, b) or key(a) == key(b)
    ):
        same = all(is_unchanged(a, b) for a, b in pairwise(run))
        ordered += run if same else [*run[1:], run[0]]
    return ordered if descending else ordered + absent


def _runs(positions: list[int], linked: Callable[[int, int], bool]) -> list[list[int]]:
    runs: list[list[int]] = []
    for position in positions:
        if runs and linked(runs[-1][-1], position):
            runs[-1].append(position)
        else:
            runs.append([position])
    return runs


def finite_or(system: System[Element], instead: Sequence[float], e: Element) -> Element:
    """Return the element, or the one of ``instead`` for nan, infinity or -infinity."""
    system.classify(e)
    value = system.value(e)
    if not is_nan(value) and not is_infinite(value):
        return e
    nan, above, below = instead
    chosen = nan if is_nan(value) else above if value > 0 else below
    return system.fixed(e, chosen)


def _to_integer(rounding: str, system: System[Element], e: Element) -> Element:
    """Return an element rounded to an integer, with conditions at the next jumps."""
    value = system.narrowed(e)
    if is_nan(value) or is_infinite(value):
        system.kink(e, f"{rounding} has no finite value there")
        return system.stop(e)
    if not value.is_finite():
        return e
    rounded = _ROUNDINGS[rounding]
    middle = inside = Fraction(*ratio(value.mid()))
    jump = _nearest_jump(rounding, middle)
    near = system.nearest(e, jump)
    if near:
        system.kink(e, f"{rounding} jumps there")
    if near or abs(middle - jump) < _NEAR:
        # The middle of a ball may lie on the other side.
        middle = system.landed(e, jump, _NEAR)
        beside = (jump - _NEAR, jump + _NEAR)
        same = (p for p in beside if rounded(p) == rounded(middle))
        inside = next(same, middle)
    lower, upper = _jumps_around(rounding, inside)
    system.note(e, ">=" if rounded(lower) == rounded(middle) else ">", lower)
    system.note(e, "<=" if rounded(upper) == rounded(middle) else "<", upper)
    return system.fixed(e, int(rounded(middle)))


_NEAR: Final = Fraction(1, 4)
"""Distance from a jump within which there is no other."""


def whole(system: System[Element], e: Element) -> Element:
    """Return an element rounded toward zero, as ``int`` does, without derivative."""
    return system.stop(_to_integer("trunc", system, e))


def _jumps_around(rounding: str, value: Fraction) -> tuple[Fraction, Fraction]:
    row = _row(rounding)
    shift = Fraction(row.jumps_at or 0)
    lower = math.floor(value - shift) + shift
    upper = lower + 1
    if row.smooth_at_zero:
        lower, upper = lower or lower - 1, upper or upper + 1
    return lower, upper


def _nearest_jump(rounding: str, value: Fraction) -> Fraction:
    row = _row(rounding)
    shift = Fraction(row.jumps_at or 0)
    jump = round(value - shift) + shift
    if row.smooth_at_zero and not jump:
        return Fraction(1 if value > 0 else -1)
    return jump


@cache
def _row(name: str) -> Op:
    return overloads(name)[0]


def ratio(middle: Ball) -> tuple[int, int]:
    """Return the numerator and the denominator of an exact ball."""
    significand, power = map(int, middle.man_exp())
    if power >= 0:
        return significand << power, 1
    return significand, 1 << -power


_ROUNDINGS: Final[dict[str, Callable[[Fraction], int]]] = {
    "floor": math.floor,
    "ceil": math.ceil,
    "round": round,
    "trunc": math.trunc,
}


def _quotient(
    rounding: str, system: System[Element], a: Element, b: Element
) -> Element:
    return _to_integer(rounding, system, system.apply("div", a, b))


def _remainder(
    rounding: str, system: System[Element], a: Element, b: Element
) -> Element:
    quotient = _quotient(rounding, system, a, b)
    return system.apply("sub", a, system.apply("mul", quotient, b))


def floats(system: System[Element], data: Host) -> Host:
    """Return elements' values, rounded to floats."""
    rounded = [to_float(system.value(e)) for e in data.flat]
    return np.array(rounded, dtype=np.float64).reshape(data.shape)


def as_floats(system: System[Element], data: Host) -> Host:
    """Return elements' values as floats, and note that they were read as such."""
    found = floats(system, data)
    for element, value in zip(data.flat, found.flat, strict=True):
        system.read(element, float(value))
    return found


def _stepped(name: str, system: System[Element], e: Element) -> Element:
    """Return a function that jumps at one point alone; a constant has its side."""
    at = _row(name).steps_at
    if at is None or not system.is_settled(e) or not system.value(e).contains(at):
        return system.apply(name, e)
    return system.apply(name, system.lift(at + system.side(e, system.lift(at))))


def _as_engine(name: str, rule: Run, system: System[Element], *args: Element) -> Any:
    found = system.compute_in_floats(name, args)
    return rule(system, *args) if found is None else found


_DECIDED: Final[dict[str, Run]] = {
    "maximum": _larger,
    "minimum": _smaller,
    "fmax": partial(_ignoring_nan, _larger),
    "fmin": partial(_ignoring_nan, _smaller),
    "floor_divide": partial(_quotient, "floor"),
    "remainder": partial(_remainder, "floor"),
    "fmod": partial(_remainder, "trunc"),
    **{name: partial(_to_integer, name) for name in _ROUNDINGS},
    "sign": partial(_stepped, "sign"),
}

NUMERIC: Final[dict[str, Run]] = {
    name: partial(_as_engine, name, rule) for name, rule in _DECIDED.items()
}
"""Elementwise functions of elements that return an element, by name."""

MASKS: Final[dict[str, Run]] = {
    **{own.__name__: partial(_compared, sign) for sign, own in RELATIONS.items()},
    "signbit": _is_negative,
    "isnan": partial(_asked, is_nan),
    "isinf": partial(_asked, is_infinite),
    "isfinite": partial(_asked, lambda b: bool(b.is_finite())),
}
"""Elementwise functions of elements that return a truth value, by name."""

LOGIC: Final[dict[str, Run]] = {
    name: getattr(np, own) for name, own in UFUNCS.items() if own.startswith("logical_")
}
"""Elementwise functions of truth values that return a truth value, by name."""


Step = TypeVar("Step", bound=SupportsIndex)


Bounds = tuple[tuple[int, str, Number], ...]
"""Bounds, each an argument's position, a relation and a number: ``(0, ">", 0)``."""


def is_literal(name: str) -> bool:
    """Tell whether an operand written as a number is part of a formula: an order."""
    entry = FUNCTIONS.get(name)
    return entry is not None and entry.literal


def bounds_of(name: str, arguments: Sequence[object]) -> Bounds:
    """Return the bounds within which a function is defined and smooth."""
    entry = FUNCTIONS.get(name)
    if entry is None or entry.bounds is None:
        return _domain(name)
    found: Bounds = entry.bounds(balls, *arguments)
    return found


@cache
def _domain(name: str) -> Bounds:
    """Return the bounds of a row's domain: ``x > -1 and x < 1`` is two of them."""
    entry = FUNCTIONS.get(name)
    if entry is None or not entry.domain:
        return ()
    names = parameters(entry)
    parts = [part.split() for part in entry.domain.split(" and ")]
    return tuple((names.index(x), sign, int(number)) for x, sign, number in parts)


Way = Mapping[int, float]
"""Type of a way that entries move from the point: a distance, by an entry's step."""

WAY_TERMS: Final = 8
"""Number of coefficients of a power series along a way."""

MAX_FRACTION_BITS: Final = 1 << 16
"""Largest size, in bits, of a numerator or denominator that is computed exactly."""

MAX_FRACTION_POWER: Final = 1 << 12
"""Largest exponent of a power of a fraction that is computed exactly."""

EQUAL: Final = 2
"""Value of ``tie_break`` with which ties are decided as equal numbers are."""

_NARROW: Final = ball(Fraction(1, 8))
"""Largest radius of a ball that is rounded to an integer."""


class Deciding(System[Step]):
    """The base of systems that are graphs; ``int(element)`` is an element's step.

    tie_break  decides ties: 0 as the engine's numbers do, -1 as less, 1 as greater,
               `EQUAL` as equal; or a way, as numbers a little further on are decided
    level      whether no side of a tie was greater a little further on
    roundings  rounding errors of the engine's numbers; None: only equal values tie
    lost       errors of the engine's numbers beyond their own rounding, by the steps of
               the program's numbers: the absolute error, and one in units of rounding
    unsure     whether rounding decides a tie or a jump
    inexact    whether floats of many digits were computed, so that each of them is off
               by a rounding
    parted     whether the engine's numbers differ where equal ones were told apart
    assumed    pairs of constants that count as equal, because no precision tells them
               apart, and for which no arithmetic of fractions shows it
    kinks      words for what has no derivative there, by step
    zeros      steps of value 0 whose sign, which only floats have, decides something
    """

    def __init__(self, tie_break: int | Way, dtype: str | None) -> None:
        graph: Any = self
        self.tie_break = tie_break
        self.level = False
        self._line: SeriesLine | None = None
        self.evaluation = Evaluation(graph)
        self.roundings = None if dtype is None else Roundings(self.evaluation, dtype)
        self.unsure = self.inexact = self.parted = False
        self.assumed: dict[tuple[int, int], None] = {}
        self.kinks: dict[int, str] = {}
        self.lost: dict[int, tuple[float, float]] = {}
        self.zeros: set[int] = set()
        self._numbers: dict[tuple[Number, float], Step] = {}
        self._exact: dict[int, tuple[Exact, Step]] = {}

    def written(self, number: Number) -> Step:
        """Return a new element that is a number of the program."""
        raise NotImplementedError

    def note_tie(self, a: Step, b: Step, slack: float, side: int) -> bool:
        """Note that elements are equal within ``slack``; tell if that is a tie.
        ``side`` is the sign of their exact difference."""
        raise NotImplementedError

    def is_constant(self, element: Step) -> bool:
        """Tell whether no derivative by an input goes through an element."""
        raise NotImplementedError

    @property
    def tied_side(self) -> int:
        """Sign that the difference of tied numbers is taken to have."""
        assert isinstance(self.tie_break, int)
        return 0 if self.tie_break == EQUAL else self.tie_break

    def is_settled(self, element: Step) -> bool:
        if self.in_floats or not self.is_constant(element):
            return False
        graph, seen, stack = self.evaluation.graph, set[int](), [int(element)]
        while stack:
            step = stack.pop()
            if graph.name(step) == "symbol":
                return False
            new = set(graph.args(step)) - seen
            seen |= new
            stack += new
        return True

    def _assume(self, a: Step, b: Step) -> None:
        """Count two constants as equal; note it if arithmetic does not show it."""
        exactly = fraction_of(self.evaluation, int(a))
        if exactly is None or exactly != fraction_of(self.evaluation, int(b)):
            self.assumed[int(a), int(b)] = None

    def lift(self, number: Number) -> Step:
        if self.in_floats and isinstance(number, float) and isfinite(number):
            return self._leaf(Fraction(number), 0.0)
        if self.inexact and isinstance(number, float) and has_many_digits(number):
            return self._leaf(Fraction(number), abs(number) / 2**53)
        return lifted(number, self._leaf, self.apply, self._exact)

    def _leaf(self, number: Number, off: float) -> Step:
        found = self._numbers.get((number, off))
        if found is None or number != number:
            found = self._numbers[number, off] = self.written(number)
            if off:
                self.lost[int(found)] = off, 0.0
        return found

    def value(self, element: Step) -> Ball:
        """Return the value, computed with more bits if it is not finite at first."""
        found = self.evaluation.value(int(element))
        if found.is_finite() or found.is_exact():
            return found
        return self.evaluation.settled([int(element)])[0]

    def compare(self, relation: str, a: Step, b: Step) -> bool:
        holds = RELATIONS[relation]
        gap = separated_difference(self.evaluation, int(a), int(b))
        if is_nan(gap):
            return relation == "!="
        slack = sum(self.slack(e, gap) + self._underflow(e) for e in (a, b))
        side = 1 if gap > 0 else -1 if gap < 0 else 0
        if not bool(abs(gap) > slack):
            if self.is_settled(a) and self.is_settled(b):
                if not side:
                    self._assume(a, b)
                return bool(holds(side, 0))
            self.unsure = self.unsure or bool(slack)
            if self.note_tie(a, b, slack, side) or slack:
                if self.tie_break or not slack:
                    return bool(holds(self.lead(a, b), 0))
                pair = self.rounded(a), self.rounded(b)
                self.parted = self.parted or (not side and pair[0] != pair[1])
                return bool(holds(*pair))
        return bool(holds(side, 0))

    def side(self, a: Step, b: Step) -> int:
        gap = separated_difference(self.evaluation, int(a), int(b))
        if gap.is_zero() and self.is_settled(a) and self.is_settled(b):
            self._assume(a, b)
        return 1 if gap > 0 else -1 if gap < 0 else 0

    def narrowed(self, element: Step) -> Ball:
        found, step = self.value(element), int(element)
        if not found.is_finite() or found.rad() < _NARROW:
            return found
        work = len(self.evaluation.known[self.evaluation.bits])
        for bits in self.evaluation.precisions(work):
            found = self.evaluation.value(step, bits)
            if found.rad() < _NARROW:
                break
        return found

    def lead(self, a: Step, b: Step) -> int:
        """Return how a tie is decided: 1 or -1 as if ``a`` were greater or less."""
        if isinstance(self.tie_break, int):
            return self.tied_side
        if self._line is None:
            graph: Any = self
            self._line = SeriesLine(graph, self.tie_break, WAY_TERMS, held=False)
        ends = (self._line.coefficients(int(e))[1:] for e in (a, b))
        for left, right in zip(*ends, strict=True):
            gap = left - right
            if not gap.is_finite():
                raise NoMeaning("a power series has no value there")
            if not gap.contains(0):
                return 1 if gap > 0 else -1
        self.level = True
        return 0

    def nearest(self, element: Step, number: Number) -> bool:
        """Tell whether the value is ``number``, or may be so within rounding."""
        with working(self.evaluation.bits):
            gap = self.value(element) - ball(number)
        if gap.contains(0) and not gap.is_zero():
            gap = separated_difference(
                self.evaluation, int(element), int(self.lift(number))
            )
        near = not abs(gap) > self.slack(element, gap)
        if near and self.is_settled(element):
            if gap.is_zero():
                self._assume(element, self.lift(number))
            return bool(gap.is_zero())
        return near

    def is_zero(self, element: Step) -> bool:
        if not self.value(element).contains(0):
            return False
        zero = self.lift(0)
        found = bool(
            separated_difference(self.evaluation, int(element), int(zero)).is_zero()
        )
        if found and self.is_settled(element):
            self._assume(element, zero)
        return found

    def slack(self, element: Step, distance: Ball = ZERO) -> float:
        """Return how far the engine's number may lie from the element's value."""
        if self.roundings is None or not distance.is_finite():
            return 0.0
        return self.roundings.slack(int(element))

    def _underflow(self, element: Step) -> float:
        if self.roundings is None or self.is_constant(element):
            return 0.0
        value = abs(self.value(element))
        lost = bool(value < self.roundings.least) and not value.is_zero()
        return self.roundings.least if lost else 0.0

    def rounded(self, element: Step) -> float:
        """Return the element's value as the engine's numbers have it."""
        if self.roundings is None:
            return float(self.value(element).mid())
        return self.roundings.rounded(int(element))

    def kink(self, element: Step, what: str) -> None:
        self.unsure = self.unsure or bool(self.slack(element))
        if not self.is_constant(element):
            self.kinks.setdefault(int(element), what)

    def unsigned(self, element: Step) -> None:
        self.zeros.add(int(element))

    def edges_of(
        self, name: str, arguments: Sequence[Any]
    ) -> Iterator[tuple[Any, str]]:
        """Yield the arguments at which a function has no derivative, and why."""
        for position, relation, bound in bounds_of(name, arguments):
            argument = arguments[position]
            if relation == "==" or self.is_constant(argument):
                continue
            if argument.value.is_finite() and self.nearest(argument, bound):
                yield argument, f"{name} has no derivative at {bound}"


def _sum(*parts: Fraction) -> Fraction:
    return sum(parts, Fraction(0))


def _in_fractions(name: str, args: Sequence[Fraction | None]) -> Fraction | None:
    known = [a for a in args if a is not None]
    rule = _sum if name == "total" else ARITHMETIC.get(name)
    if name in ("choice", "stop", "part"):
        return args[0]
    if rule is None or len(known) < len(args):
        return None
    if name == "pow" and known[1] not in range(-MAX_FRACTION_POWER, MAX_FRACTION_POWER):
        return None
    try:
        found: Fraction = rule(*known)
    except ZeroDivisionError:
        return None
    long = max(found.numerator.bit_length(), found.denominator.bit_length())
    return found if long <= MAX_FRACTION_BITS else None


def fraction_of(evaluation: Evaluation, step: int) -> Fraction | None:
    """Return the exact value of a step that arithmetic makes of fractions; None for any
    other step, or if the fraction is long."""
    graph = evaluation.graph

    def leaf(each: int) -> Fraction | None:
        content: Any = exact(graph.leaf(each)) if graph.name(each) == "number" else inf
        return Fraction(content) if isinstance(content, int | Fraction) else None

    known: dict[int, Fraction | None] = {}
    compute(graph, evaluation.below([step]), known, leaf, _in_fractions)
    return known[step]


def separated_difference(evaluation: Evaluation, a: int, b: int) -> Ball:
    """Return ``a - b`` as a ball without 0, or as 0 where no precision separates them,
    or as `NAN` where one of them is nan."""
    first = evaluation.bits
    for bits in evaluation.precisions(len(evaluation.known[first])):
        x, y = evaluation.values([a, b], bits)
        if is_nan(x) or is_nan(y):
            return NAN
        if is_infinite(x) or is_infinite(y):
            left, right = to_float(x), to_float(y)
            return ZERO if left == right else INFINITY if left > right else -INFINITY
        with working(bits):
            gap = x - y
        if gap.is_zero():
            return ZERO
        if gap > 0 or gap < 0:
            if bits <= MAX_COMPARISON_BITS:
                evaluation.bits = max(first, bits)
            return gap
        if bits - first >= MAX_COMPARISON_BITS and x.is_finite() and y.is_finite():
            break
    return ZERO
