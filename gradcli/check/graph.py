"""Graphs of scalar steps, and their values and derivatives on balls.

A graph numbers its steps so that a step's arguments have smaller numbers. There are two
kinds: scalar terms (`gradcli.check.terms`) and, for large programs, columns of terms
(`gradcli.check.tape`); the code here serves both.

Invariant: a value is computed once for each precision, and only if a caller needs it.

    Evaluation(graph).gradient([output], [1.0], [entry])       # [ball]
    derivative_of_order(graph, output, entry, 3)               # a ball

On plain balls ``y*(1 - y)`` takes its factors for independent, so a loop's balls grow
even where the loop contracts. In a `LinearForm` a step is ``slope*d + rest``, where
``d`` is the deviation of an earlier step, the base, from its midpoint. Wherever all
that follows goes through a single step, that step becomes the base (mean value form;
Moore 1966). Where a deviation is too large there is no result, and more bits are taken
instead."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import factorial
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, TypeVar

from flint import arb_series

from ..engine.walk import accumulate
from ..ops.basis import ARITHMETIC
from .balls import (
    FUNCTIONS,
    LEAVES,
    LINEAR,
    ONE,
    PRODUCTS,
    START_BITS,
    STEPS,
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

SPARE_BITS: Final = 32
"""Bits that are added to those that an attempt shows to be missing."""

LOST_BITS: Final = 4
"""Sure bits below which a number counts as lost."""

LONG_BITS: Final = 1024
"""Precision, in bits, above which steps are computed with only as many as are sure."""

MAX_STEPS_TIMES_BITS: Final = 1_500_000_000
MAX_GRAPH_BITS: Final = 1 << 17

MIN_POWER_OF_TWO: Final = -1200
"""Exponent of two below which a number is 0 in every type of float."""

MAX_ZERO_BITS: Final = 2048
"""Bits that one number, which may be near 0, needs without raising them for others."""

MAX_COMPARISON_BITS: Final = 4096
"""Most bits, beyond the graph's precision, with which two numbers are compared."""

MAX_FOLLOWED_STEPS: Final = 400_000
"""Most steps of a graph whose outputs are computed only to see how many bits a loop
loses; in a larger graph only a part may be needed."""

LONG_LOOP_STEPS: Final = 200
"""Fewest steps of a loop whose values may be computed from deviations (`Centred`)."""

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
        self.short = False
        """Whether `Centred` found a gradient with fewer bits than plain balls need."""
        self._forms: dict[tuple[int, ...], tuple[Centred, list[Ball] | None]] = {}

    # values

    def value(self, step: int, bits: int = START_BITS) -> Ball:
        found = self.known.setdefault(bits, {}).get(step)
        return self.values([step], bits)[0] if found is None else found

    def _applied(self, bits: int, name: str, args: Sequence[Ball]) -> Ball:
        if name == "stop":
            return args[0]
        if bits <= LONG_BITS:
            return apply(name, *args)
        # An addend without sure bits does not limit the sure bits of a sum.
        least = max if name in STEPS or name in LINEAR else min
        sure = least(a.rel_accuracy_bits() for a in args)
        with working(max(START_BITS, min(bits, sure + ACCURATE_BITS))):
            return apply(name, *args)

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
            leaf, applied = partial(leaf_ball, self.graph), partial(self._applied, bits)
            compute(self.graph, missing, known, leaf, applied)
        return [known[s] for s in steps]

    def settled(self, steps: Sequence[int], followed: bool = True) -> list[Ball]:
        """Return the values of steps, accurate as far as the limits on work allow. If
        ``followed``, those of a long loop may come from `Centred`, and the steps on the
        way are not computed with more bits."""
        known = self.known[START_BITS]
        work = len(self.below(steps, known)) or len(known)
        if followed and self._loses(steps):
            found = self._centred(steps)
            if found is not None and _are_sure(found):
                return found
        return self.raised(lambda bits: self.values(steps, bits), steps, work)

    def _loses(self, steps: Sequence[int]) -> bool:
        """Tell whether values at the end of a long loop have few sure bits left."""
        if self.graph.steps > MAX_FOLLOWED_STEPS:
            return False
        values = self.values(steps, START_BITS)
        return len(self.known[START_BITS]) >= LONG_LOOP_STEPS and not all(
            is_known(b, LOST_BITS) for b in values
        )

    def _centred(self, steps: Sequence[int]) -> list[Ball] | None:
        key = tuple(steps)
        if key not in self._forms:
            centred = Centred(self.graph)
            self._forms = {key: (centred, centred.values(steps, self.below(steps)))}
        return self._forms[key][1]

    # precision

    def raised(
        self, compute: Callable[[int], list[Ball]], steps: Sequence[int], work: int,
        passes: int = 1,
    ) -> list[Ball]:  # fmt: skip
        """Return what ``compute`` gives with the bits that its numbers need. An attempt
        takes ``work`` steps and goes through them ``passes`` times; each pass loses
        bits."""
        for bits in self.precisions(steps, work, passes):
            found = compute(bits)
            missing = self._missing(found, bits)
            lost = missing == 0 and not all(b.is_finite() for b in found)
            if missing is None or (lost and self._is_sure(steps, bits)):
                # A smaller need may be that of one number near 0, and is not kept.
                self.bits = max(self.bits, bits if bits > MAX_ZERO_BITS else 0)
                break
            self._wanted = missing
        return found

    def precisions(
        self, steps: Sequence[int], work: int, passes: int = 1
    ) -> Iterator[int]:
        """Yield rising precisions, in bits; an attempt asks for more in ``_wanted``."""
        bits = self.bits
        most = max(
            START_BITS, min(MAX_GRAPH_BITS, MAX_STEPS_TIMES_BITS // max(1, work))
        )
        while True:
            self._wanted = 0
            yield bits
            if bits >= most:
                return
            lost = passes * self._extrapolated(steps, bits)
            bits = min(most, max(self._wanted or 2 * bits, lost, bits + bits // 2))

    def _missing(self, found: Sequence[Ball], bits: int) -> int | None:
        """Return the precision that numbers seem to need; None: they are accurate, 0:
        unknown."""
        most = None
        for b in found:
            # With fewer bits no cancellation, but only underflow, comes so close to 0.
            nothing = bits >= -MIN_POWER_OF_TWO and is_nothing(b)
            if is_known(b, ACCURATE_BITS) or nothing:
                continue
            lost = ACCURATE_BITS - int(b.rel_accuracy_bits()) if b.is_finite() else bits
            if lost >= bits:
                return 0
            more = bits + lost + SPARE_BITS
            most = max(most or 0, 2 * bits if b.mid().is_zero() else more)
        return most

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

    def _extrapolated(self, steps: Sequence[int], bits: int) -> int:
        """Return the precision that should last to the end, by proportion, if ``bits``
        were all lost on the way; otherwise 0."""
        known = self.known[bits]
        if all(s in known and is_known(known[s], LOST_BITS) for s in steps):
            return 0
        order = sorted(s for s in known if s <= max(steps))
        for position, step in enumerate(order):
            if not is_known(known[step], LOST_BITS):
                loss = bits * len(order) // max(1, position)
                return loss + loss // 20 + ACCURATE_BITS if position > 64 else 0
        return 0

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
        self._forms.clear()

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
                yield arg, _product(g, slope(step, position, bits), bits)

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
        self, outputs: Sequence[int], weights: Sequence[object], entries: Sequence[int],
        followed: bool = True,
    ) -> list[Ball]:  # fmt: skip
        """Return the derivative of ``sum(weight * output)`` by every entry, accurate as
        far as the limits on work allow; ``followed`` is as for `settled`."""
        if any(weights):
            # In a row of a Jacobian only one output has a weight that is not 0.
            pairs = zip(outputs, weights, strict=True)
            outputs, weights = zip(*[pair for pair in pairs if pair[1]], strict=True)

        def compute(bits: int) -> list[Ball]:
            found = self.cotangents(outputs, weights, bits)
            return [found.get(e, ZERO) for e in entries]

        lost = followed and self._loses(outputs)
        if lost and self._centred(outputs) is not None:
            with working(START_BITS):
                seeds = self._seeds(outputs, weights)
            centred = self._forms[tuple(outputs)][0]
            arrived = centred.cotangents(self.order(list(seeds)), seeds)
            if arrived is not None:
                found = [arrived.get(e, ZERO) for e in entries]
                if _are_sure(found):
                    self.short = True
                    return found
        return self.raised(compute, [*outputs], len(self.order(outputs)), 2)

    def second(
        self, outputs: Sequence[int], weights: Sequence[object],
        entries: Sequence[int], along: int,
    ) -> list[Ball]:  # fmt: skip
        """Return the derivative of the gradient by one entry, forward over reverse."""

        def compute(bits: int) -> list[Ball]:
            with working(bits, 3):
                return self._second(outputs, weights, entries, along, bits)

        return self.raised(compute, [*outputs], len(self.order(outputs)), 2)

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


def _product(a: Ball, b: Ball, bits: int) -> Ball:
    """Return ``a * b``; at a high precision, with only as many bits as are sure."""
    if bits <= LONG_BITS:
        return a * b
    sure = min(a.rel_accuracy_bits(), b.rel_accuracy_bits()) + ACCURATE_BITS
    with working(max(START_BITS, min(bits, sure))):
        return (a + ZERO) * (b + ZERO)


def _are_sure(found: Iterable[Ball]) -> bool:
    return all(is_known(b, ACCURATE_BITS) or is_nothing(b) for b in found)


def is_nothing(b: Ball) -> bool:
    """Tell whether a number is so near 0 that any float of it is 0."""
    return bool(b.is_finite() and b.abs_upper() < _LEAST)


_LEAST: Final = ball(2) ** MIN_POWER_OF_TWO


LOST_RADIUS: Final = 2.0**-16
"""Largest deviation of a base that is followed, as a share of its midpoint."""


class LinearForm(NamedTuple):
    """A value ``slope * d + rest``, where the deviation d of the base lies in
    ``reach``, a ball about 0 that stands for the base; None: there is no base."""

    slope: Ball
    rest: Ball
    reach: Ball | None

    def ball(self) -> Ball:
        """Return a ball that contains all values of the form."""
        return self.rest if self.reach is None else self.slope * self.reach + self.rest


def plain(b: Ball) -> LinearForm:
    return LinearForm(ZERO, b, None)


class Lost(Exception):
    """An error: a deviation is too large to be followed."""


class Centred:
    """The forms of a graph's steps."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.found: dict[int, Ball] = {}

    def values(self, outputs: Sequence[int], order: Sequence[int]) -> list[Ball] | None:
        """Return the outputs' values, or None where a deviation is too large; ``order``
        has all steps that they are made of, arguments first."""
        if not all(output in self.found for output in outputs):
            try:
                with working(START_BITS):
                    self._forward(order, outputs)
            except Lost:
                return None
        return [self.found[output] for output in outputs]

    def _forward(self, order: Sequence[int], outputs: Iterable[int]) -> None:
        graph = self.graph
        every_args = [graph.args(step) for step in order]
        last: dict[int, int] = {}
        for step, args in zip(order, every_args, strict=True):
            for arg in args:
                last[arg] = step
        last |= dict.fromkeys(outputs, len(order) + max(order))
        forms: dict[int, LinearForm] = {}
        loose: set[int] = set()
        for step, args in zip(order, every_args, strict=True):
            form = self._form(step, args, forms)
            for arg in args:
                if last[arg] == step:
                    loose.discard(arg)
            if not form.rest.is_exact() or form.reach is not None:
                if loose:
                    loose.add(step)
                else:
                    loose = {step}
                    form = _checked(form)
            forms[step] = form
            self.found[step] = form.ball()

    def _form(
        self, step: int, args: Sequence[int], forms: dict[int, LinearForm]
    ) -> LinearForm:
        name = self.graph.name(step)
        if name in LEAVES:
            return plain(leaf_ball(self.graph, step))
        given = [forms[arg] for arg in args]
        if name in ("choice", "stop"):
            return given[0]
        base = next((g.reach for g in reversed(given) if g.reach is not None), None)
        parts = [g if g.reach is base else plain(g.ball()) for g in given]
        if base is None:
            return plain(apply(name, *[p.rest for p in parts]))
        if name == "mul":
            a, b = parts
            slope = a.slope * b.rest + b.slope * a.rest
            rest = a.rest * b.rest + a.slope * b.slope * base * base
            return LinearForm(slope, rest, base)
        if name in ("add", "sub"):
            a, b = parts
            combine = ARITHMETIC[name]
            return LinearForm(combine(a.slope, b.slope), combine(a.rest, b.rest), base)
        wide = [p.ball() for p in parts]
        middles = [p.rest.mid() for p in parts]
        slope, rest = ZERO, apply(name, *middles)
        for position, part in enumerate(parts):
            own = derivative(name, position, wide)
            slope = slope + own * part.slope
            rest = rest + own * (part.rest - middles[position])
        return LinearForm(slope, rest, base)

    def cotangents(
        self, order: Sequence[int], seeds: dict[int, Ball]
    ) -> dict[int, Ball] | None:
        """Return the cotangents of the steps in ``order``, which has the outputs first,
        from those in ``seeds``; None where a deviation is too large."""
        graph, found = self.graph, self.found
        pending = set(seeds)

        def pull(step: int, g: LinearForm) -> Iterator[tuple[int, LinearForm]]:
            pending.discard(step)
            if not pending:
                g = _checked(g)
            args = graph.args(step)
            name = graph.name(step)
            values = [found[a] for a in args]
            for position, arg in graph.carrying(step):
                slope = derivative(name, position, values)
                if graph.name(arg) == "symbol":
                    yield arg, plain(g.ball() * slope)
                else:
                    pending.add(arg)
                    yield arg, LinearForm(g.slope * slope, g.rest * slope, g.reach)

        def add(a: LinearForm, b: LinearForm) -> LinearForm:
            if a.reach is not b.reach:
                return plain(a.ball() + b.ball())
            return LinearForm(a.slope + b.slope, a.rest + b.rest, a.reach)

        try:
            with working(START_BITS):
                forms = {step: plain(seed) for step, seed in seeds.items()}
                arrived = accumulate(order, forms, pull, add)
                return {step: form.ball() for step, form in arrived.items()}
        except Lost:
            return None


def _checked(form: LinearForm) -> LinearForm:
    """Return a form of the same value that is its own base; raise `Lost` if its
    deviation is too large."""
    b = form.ball()
    middle = b.mid()
    if not (b.is_finite() and b.rad() <= abs(middle) * LOST_RADIUS):
        raise Lost
    return LinearForm(ONE, middle, b - middle)


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
