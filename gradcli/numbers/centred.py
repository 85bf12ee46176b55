"""Values and derivatives of long loops with few bits, by deviations from midpoints.

On plain balls ``y*(1 - y)`` takes its factors for independent, so a loop's balls grow
even where the loop contracts. Here a step is ``slope*d + rest``, where ``d`` is the
deviation of an earlier step, the base, from its midpoint. Wherever all that follows
goes through a single step, that step becomes the base (mean value form; Moore 1966).

Invariant: every form contains the exact value; where a deviation is too large there is
no result, and the caller takes more bits instead.

    Centred(graph).values([output])             # [ball], or None where it is lost
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from ..engine.walk import accumulate
from ..ops.basis import ARITHMETIC
from .balls import (
    LEAVES,
    ONE,
    START_BITS,
    ZERO,
    Ball,
    apply,
    ball,
    derivative,
    working,
)
from .system import exact

LOST_RADIUS: Final = 2.0**-16
"""Largest deviation of a base that is followed, as a share of its midpoint."""


class Form(NamedTuple):
    """A value ``slope * d + rest``, where the deviation d of the base lies in
    ``reach``, a ball about 0 that stands for the base; None: there is no base."""

    slope: Ball
    rest: Ball
    reach: Ball | None

    def ball(self) -> Ball:
        """Return a ball that contains all values of the form."""
        return self.rest if self.reach is None else self.slope * self.reach + self.rest


def plain(b: Ball) -> Form:
    return Form(ZERO, b, None)


def based(b: Ball) -> Form:
    """Return the form of a value that is its own base."""
    middle = b.mid()
    return Form(ONE, middle, b - middle)


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
        forms: dict[int, Form] = {}
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

    def _form(self, step: int, args: Sequence[int], forms: dict[int, Form]) -> Form:
        name = self.graph.name(step)
        if name in LEAVES:
            leaf = self.graph.leaf(step)
            return plain(ball(leaf if name == "symbol" else exact(leaf)))
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
            return Form(slope, rest, base)
        if name in ("add", "sub"):
            a, b = parts
            combine = ARITHMETIC[name]
            return Form(combine(a.slope, b.slope), combine(a.rest, b.rest), base)
        wide = [p.ball() for p in parts]
        middles = [p.rest.mid() for p in parts]
        slope, rest = ZERO, apply(name, *middles)
        for position, part in enumerate(parts):
            own = derivative(name, position, wide)
            slope = slope + own * part.slope
            rest = rest + own * (part.rest - middles[position])
        return Form(slope, rest, base)

    def cotangents(
        self, order: Sequence[int], seeds: dict[int, Ball]
    ) -> dict[int, Ball] | None:
        """Return the cotangents of the steps in ``order``, which has the outputs first,
        from those in ``seeds``; None where a deviation is too large."""
        graph, found = self.graph, self.found
        pending = set(seeds)

        def pull(step: int, g: Form) -> Iterator[tuple[int, Form]]:
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
                    yield arg, Form(g.slope * slope, g.rest * slope, g.reach)

        def add(a: Form, b: Form) -> Form:
            if a.reach is not b.reach:
                return plain(a.ball() + b.ball())
            return Form(a.slope + b.slope, a.rest + b.rest, a.reach)

        try:
            with working(START_BITS):
                forms = {step: plain(seed) for step, seed in seeds.items()}
                arrived = accumulate(order, forms, pull, add)
                return {step: form.ball() for step, form in arrived.items()}
        except Lost:
            return None


def _checked(form: Form) -> Form:
    """Return a form of the same value that is its own base.

    Raises:
        Lost: its deviation is too large.
    """
    b = form.ball()
    if not (b.is_finite() and b.rad() <= abs(b.mid()) * LOST_RADIUS):
        raise Lost
    return based(b)
