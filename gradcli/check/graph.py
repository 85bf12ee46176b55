"""Graphs of scalar steps, and their values and derivatives on balls.

A graph numbers its steps so that a step's arguments have smaller numbers. There are two
kinds: scalar terms (`gradcli.check.terms`) and, for large programs, columns of terms
(`gradcli.check.tape`); the code here serves both.

Invariant: a value is computed once for each precision, and only if a caller needs it.

    Evaluation(graph).gradient([output], [1.0], [entry])       # [ball]
    derivative_of_order(graph, output, entry, 3)               # a ball
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import factorial
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from flint import arb_series

from ..engine.walk import accumulate
from .balls import (
    FUNCTIONS,
    LEAVES,
    LINEAR,
    ONE,
    PRODUCTS,
    START_BITS,
    UNKNOWN,
    UNTOLD,
    ZERO,
    Ball,
    Moving,
    apply,
    at,
    ball,
    derivative,
    is_known,
    other_factor,
    second_derivative,
    unknown,
    working,
)
from .system import exact

ACCURATE_BITS: Final = 64
"""Sure bits that a number needs before it is compared with a float."""

LOST_BITS: Final = 4
"""Sure bits below which a number counts as lost."""

MAX_STEPS_TIMES_BITS: Final = 1_500_000_000
MAX_GRAPH_BITS: Final = 1 << 17

MIN_POWER_OF_TWO: Final = -1200
"""Exponent of two below which a number is 0 in every type of float."""

MAX_ZERO_BITS: Final = 2048
"""Bits that one number, which may be near 0, needs without raising them for others."""

MAX_COMPARISON_BITS: Final = 4096
"""Most bits, beyond the graph's precision, with which two numbers are compared."""

Value = TypeVar("Value")

Pair: TypeAlias = tuple[Ball, Ball]
"""Pair of a cotangent and its derivative along an entry."""


class StepGraph(Protocol):
    """A graph of numbered scalar steps."""

    def name(self, step: int) -> str:
        """Return the name of a step's function; leaves are ``symbol`` or ``number``."""

    def args(self, step: int) -> Sequence[int]:
        """Return the steps that a step's function is applied to."""

    def leaf(self, step: int) -> Any:
        """Return the value of a leaf."""

    def carrying(self, step: int) -> Iterable[tuple[int, int]]:
        """Return pairs of position and argument, where derivatives go through it."""

    @property
    def steps(self) -> int:
        """Number of steps."""


def compute(
    graph: StepGraph, steps: Iterable[int], known: dict[int, Value],
    leaf: Callable[[int], Value], applied: Callable[[str, list[Value]], Value],
) -> None:  # fmt: skip
    """Add the values of steps, each after its arguments, to those that are ``known`` by
    step; ``leaf`` gives the value of a leaf, ``applied`` that of a function by name."""
    for step in steps:
        name = graph.name(step)
        if name in LEAVES:
            known[step] = leaf(step)
        else:
            known[step] = applied(name, [known[a] for a in graph.args(step)])


def leaf_ball(graph: StepGraph, step: int) -> Ball:
    """Return the value of a leaf: an input's float is the exact number that it is."""
    leaf = graph.leaf(step)
    if isinstance(leaf, Ball):
        return leaf
    return ball(leaf if graph.name(step) == "symbol" else exact(leaf))


class Elsewhere:
    """A graph with other values in some leaves, given by step; with ``all_carry``
    derivatives go through every argument, detached ones included."""

    def __init__(
        self, graph: StepGraph, leaves: Mapping[int, Any], all_carry: bool = False
    ) -> None:
        self.name, self.args, self.steps = graph.name, graph.args, graph.steps
        self.carrying = self._every if all_carry else graph.carrying
        self._leaf, self._leaves = graph.leaf, leaves

    def leaf(self, step: int) -> Any:
        return self._leaves[step] if step in self._leaves else self._leaf(step)

    def _every(self, step: int) -> Iterable[tuple[int, int]]:
        return enumerate(self.args(step))


class Evaluation:
    """The values of a graph's steps, precision by precision."""

    def __init__(self, graph: StepGraph) -> None:
        self.graph = graph
        self.bits = START_BITS
        """Precision in bits of first attempts: numbers of this graph have needed it."""
        self.known: dict[int, dict[int, Ball]] = {START_BITS: {}}
        self._orders: dict[tuple[int, ...], list[int]] = {}

    # values

    def value(self, step: int, bits: int = START_BITS) -> Ball:
        found = self.known.setdefault(bits, {}).get(step)
        return self.values([step], bits)[0] if found is None else found

    def _applied(self, name: str, args: Sequence[Ball]) -> Ball:
        return args[0] if name == "stop" else apply(name, *args)

    def below(self, roots: Iterable[int], known: Container[int] = ()) -> list[int]:
        """Return the roots and the steps that they are made of, arguments first; those
        in ``known``, and what these alone are made of, are left out."""
        found: set[int] = set()
        stack = list(roots)
        args = self.graph.args
        while stack:
            step = stack.pop()
            if step not in found and step not in known:
                found.add(step)
                stack.extend(args(step))
        return sorted(found)

    def values(self, steps: Sequence[int], bits: int) -> list[Ball]:
        known = self.known.setdefault(bits, {})
        missing = self.below(steps, known)
        with working(bits):
            leaf = partial(leaf_ball, self.graph)
            compute(self.graph, missing, known, leaf, self._applied)
        return [known[s] for s in steps]

    def settled(self, steps: Sequence[int]) -> list[Ball]:
        """Return the values of steps, accurate as far as the limits on work allow."""
        known = self.known[START_BITS]
        work = len(self.below(steps, known)) or len(known)
        return self.raised(lambda bits: self.values(steps, bits), steps, work)

    # precision

    def raised(
        self, compute: Callable[[int], list[Ball]], steps: Sequence[int], work: int
    ) -> list[Ball]:
        """Return what ``compute`` gives with the bits that its numbers need; an attempt
        takes ``work`` steps."""
        for bits in self.precisions(work):
            found = compute(bits)
            # With fewer bits no cancellation, but only underflow, comes so close to 0.
            tiny = bits >= -MIN_POWER_OF_TWO
            known = all(
                is_known(b, ACCURATE_BITS) or (tiny and is_nothing(b)) for b in found
            )
            lost = not all(b.is_finite() for b in found)
            if known or (lost and self._is_sure(steps, bits)):
                # A smaller need may be that of one number near 0, and is not kept.
                self.bits = max(self.bits, bits if bits > MAX_ZERO_BITS else 0)
                break
        return found

    def precisions(self, work: int) -> Iterator[int]:
        """Yield rising precisions, in bits, for an attempt of ``work`` steps."""
        most = min(MAX_GRAPH_BITS, MAX_STEPS_TIMES_BITS // max(1, work))
        bits = self.bits
        while bits < most:
            yield bits
            bits *= 2
        yield max(self.bits, most)

    def _is_sure(self, steps: Sequence[int], bits: int) -> bool:
        """Tell whether all steps below are known, so that more bits would change
        nothing."""
        last = max(steps, default=0)
        graph, open_ = self.graph, set[int]()
        for step, b in sorted(self.known[bits].items()):
            if step > last:
                break
            if not is_known(b, LOST_BITS) and not is_nothing(b):
                # A step of unknown value leaves open the steps that are made of it.
                told = graph.name(step) not in UNTOLD
                if told and open_.isdisjoint(graph.args(step)):
                    return False
                open_.add(step)
        return True

    # derivatives

    def order(self, outputs: Sequence[int]) -> list[int]:
        """Return the steps that the outputs' derivatives go through, outputs first."""
        key = tuple(outputs)
        found = self._orders.get(key)
        if found is None:
            reached, stack = set(outputs), list(outputs)
            while stack:
                for _, arg in self.graph.carrying(stack.pop()):
                    if arg not in reached:
                        reached.add(arg)
                        stack.append(arg)
            found = self._orders[key] = sorted(reached, reverse=True)
        return found

    def forget_orders(self) -> None:
        """Forget the orders of steps, after a change of what derivatives go through."""
        self._orders.clear()

    def forget(self, size: int) -> None:
        """Forget the values of all but the first ``size`` steps."""
        for bits, known in self.known.items():
            self.known[bits] = {s: v for s, v in known.items() if s < size}
        self._orders.clear()

    def slope(self, step: int, position: int, bits: int) -> Ball:
        """Return the derivative of a step in one of its arguments."""
        name = self.graph.name(step)
        if name in LINEAR:
            return derivative(name, position, ())
        args = self.graph.args(step)
        if name in PRODUCTS:
            return self.value(args[other_factor(position, len(args))], bits)
        if name == "div" and not position:
            return apply("div", ONE, self.value(args[1], bits))
        return derivative(name, position, self.values(args, bits))

    def cotangents(
        self, outputs: Sequence[int], weights: Sequence[object], bits: int
    ) -> dict[int, Ball]:
        """Return the derivative of ``sum(weight * output)`` by every step below."""
        carrying, slope = self.graph.carrying, self.slope

        def pull(step: int, g: Ball) -> Iterator[tuple[int, Ball]]:
            for position, arg in carrying(step):
                yield arg, g * slope(step, position, bits)

        with working(bits):
            seeds = self._seeds(outputs, weights)
            return accumulate(self.order(list(seeds)), seeds, pull)

    def _seeds(
        self, outputs: Sequence[int], weights: Sequence[object]
    ) -> dict[int, Ball]:
        seeds: dict[int, Ball] = {}
        for output, weight in zip(outputs, weights, strict=True):
            if weight:
                seeds[output] = seeds.get(output, ZERO) + ball(exact(weight))
        return seeds

    def gradient(
        self, outputs: Sequence[int], weights: Sequence[object], entries: Sequence[int]
    ) -> list[Ball]:
        """Return the derivative of ``sum(weight * output)`` by every entry, accurate as
        far as the limits on work allow."""
        if any(weights):
            # In a row of a Jacobian only one output has a weight that is not 0.
            pairs = zip(outputs, weights, strict=True)
            outputs, weights = zip(*[pair for pair in pairs if pair[1]], strict=True)

        def compute(bits: int) -> list[Ball]:
            found = self.cotangents(outputs, weights, bits)
            return [found.get(e, ZERO) for e in entries]

        return self.raised(compute, [*outputs], len(self.order(outputs)))

    def second(
        self, outputs: Sequence[int], weights: Sequence[object],
        entries: Sequence[int], along: int,
    ) -> list[Ball]:  # fmt: skip
        """Return the derivative of the gradient by one entry, forward over reverse."""

        def compute(bits: int) -> list[Ball]:
            with working(bits, 3):
                return self._second(outputs, weights, entries, along, bits)

        return self.raised(compute, [*outputs], len(self.order(outputs)))

    def _second(
        self, outputs: Sequence[int], weights: Sequence[object],
        entries: Sequence[int], along: int, bits: int,
    ) -> list[Ball]:  # fmt: skip
        graph = self.graph
        tangents = self.tangents(outputs, along, bits)

        def pull(step: int, pair: Pair) -> Iterator[tuple[int, Pair]]:
            g, moved = pair
            own = graph.args(step)
            moving = [(p, tangents[a]) for p, a in enumerate(own) if a in tangents]
            args = self.values(own, bits) if moving else ()
            name = graph.name(step)
            for position, arg in graph.carrying(step):
                slope = self.slope(step, position, bits)
                bend = sum(
                    (second_derivative(name, position, p, args) * t
                     for p, t in moving), ZERO,
                )  # fmt: skip
                yield arg, (g * slope, moved * slope + g * bend)

        def add(a: Pair, b: Pair) -> Pair:
            return a[0] + b[0], a[1] + b[1]

        self.values(outputs, bits)
        seeds = {
            o: (ball(exact(w)), ZERO) for o, w in zip(outputs, weights, strict=True)
        }
        found = accumulate(self.order(outputs), seeds, pull, add)
        return [found[e][1] if e in found else ZERO for e in entries]

    def moving(self, step: int) -> Iterable[tuple[int, int]]:
        """Return pairs of position and argument with which a step's value moves."""
        return self.graph.carrying(step)

    def tangents(
        self, outputs: Sequence[int], along: int, bits: int
    ) -> dict[int, Ball]:
        """Return the derivative by one entry of each step that the outputs need."""
        tangents: dict[int, Ball] = {along: ONE}
        for step in self.below(outputs):
            parts = [
                self.slope(step, position, bits) * tangents[arg]
                for position, arg in self.moving(step)
                if arg in tangents
            ]
            if parts:
                tangents[step] = sum(parts, ZERO)
        return tangents

    def entries_below(self, roots: Iterable[int]) -> set[int]:
        """Return the inputs' entries that some steps have derivatives by."""
        return {
            s for s in self.order(sorted(set(roots)))
            if self.graph.name(s) == "symbol"
        }  # fmt: skip


def is_nothing(b: Ball) -> bool:
    """Tell whether a number is so near 0 that any float of it is 0."""
    return bool(b.is_finite() and b.abs_upper() < _LEAST)


_LEAST: Final = ball(2) ** MIN_POWER_OF_TWO


class SeriesLine:
    """The power series of a graph's steps where entries move along ``way``."""

    def __init__(
        self, graph: StepGraph, way: Mapping[int, float], terms: int,
        bits: int = 2 * START_BITS, held: bool = True,
        still: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        self._graph, self._way, self._held, self._still = graph, way, held, still
        self._bits, self._terms, self._below = bits, terms, Evaluation(graph).below
        self._known: dict[int, Moving] = {}

    def coefficients(self, step: int) -> list[Ball]:
        """Return the coefficients of a step's series."""
        with working(self._bits, self._terms):
            missing = self._below([step], self._known)
            compute(self._graph, missing, self._known, self._leaf, self._applied)
        found = self._known[step]
        if isinstance(found, arb_series):
            return [found[k] for k in range(self._terms)]
        return [found, *[ZERO] * (self._terms - 1)]

    def _leaf(self, step: int) -> Moving:
        self._still()
        by, b = self._way.get(step), leaf_ball(self._graph, step)
        return b if by is None else arb_series([b, ball(by)])

    def _applied(self, name: str, args: list[Moving]) -> Moving:
        self._still()
        if name == "stop":
            return at(args[0]) if self._held else args[0]
        function = FUNCTIONS[name]
        moves = any(isinstance(a, arb_series) for a in args)
        try:
            found: Moving = (function.series if moves else function.value)(*args)
        except (ZeroDivisionError, ValueError, OverflowError):
            return unknown() if moves else UNKNOWN
        return found


def derivative_of_order(
    graph: StepGraph, output: int, along: int, order: int,
    still: Callable[[], None] = lambda: None,
) -> Ball:  # fmt: skip
    """Return the derivative, of a given order, of one step by another."""
    return derivatives(graph, output, along, [order], still)[0]


def derivatives(
    graph: StepGraph, output: int, along: int, orders: Sequence[int],
    still: Callable[[], None] = lambda: None, bits: int = 0,
) -> list[Ball]:  # fmt: skip
    """Return the derivatives of these orders, with at least ``bits``."""
    bits = max(bits, 2 * START_BITS)
    while True:
        line = SeriesLine(graph, {along: 1.0}, max(orders) + 1, bits, still=still)
        found = line.coefficients(output)
        asked = [found[k] for k in orders if not found[k].is_exact()]
        narrow = all(b.rel_accuracy_bits() >= ACCURATE_BITS for b in asked)
        if narrow or bits >= MAX_COMPARISON_BITS:
            with working(bits):
                return [found[k] * factorial(k) for k in orders]
        bits *= 2
