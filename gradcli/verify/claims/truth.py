"""Both sides of a claim at one point: the true and the claimed derivative, as balls.

The true derivative is summed over the program's scalar steps, whose derivatives are
power series at balls; the engine's own rules have no part in it.

Invariant: each side is computed without the other; only `differing` compares the two.

    visit = Visit(task, point)
    differing(visit.claimed(claim), visit.truth(claim))       # [] where it holds
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from typing import Any, Final

import numpy as np

from ...engine import Tensor
from ...engine.raw import Host
from ...lang.run import evaluate
from ...numbers.balls import START_BITS, Ball, ball, close, working
from ...numbers.graph import derivative_of_order
from ...numbers.namespace import ObjectNamespace
from ...numbers.terms import Term, Terms
from ...ops.exact import PI, Exact, decimal, fraction, function
from ..formulas import shown
from ..prove import are_all_equal
from ..subject import objects, of_elements, symbols
from .text import Claim, ClaimsTask
from .text import positions as entry_positions

MAX_CLAIM_STEPS: Final = 50_000
"""Largest number of steps of a program that a claim is about: at a random point, or
with a part written differently, a loop may not end."""

CONSTANT_RELATIVE_ERROR: Final = 1e-15
"""Relative error of a constant that was computed by a few operations on floats."""

MAX_FRACTION_TERM: Final = 1000
"""Largest numerator or denominator of a fraction that a decimal is taken for."""

RELATIVE_TOLERANCE: Final = ball(2) ** -83
"""Relative distance up to which two numbers count as equal."""

ABSOLUTE_TOLERANCE: Final = ball(2) ** -100


def are_finite(balls: Host) -> bool:
    return all(b.is_finite() for b in balls.flat)


class Visit:
    """The run of a task's program at one point."""

    def __init__(self, task: ClaimsTask, point: Mapping[str, Sequence[object]]) -> None:
        self.task = task
        self.point = point
        self.terms = Terms()
        self.meant = Meant()
        self.namespace = ObjectNamespace(self.terms)
        self.tensors = {
            given.name: symbols(
                given.name, given.shape, point[given.name], self.namespace
            )
            for given in task.inputs
        }
        with self.namespace.watched():
            self.output, self.environment = self._run(
                task.source, self.tensors, task.of
            )
        self._other: Tensor | None = None

    def is_non_smooth(self) -> bool:
        """Tell whether the point is on a kink or a tie of the program."""
        return bool(self.terms.kinks or self.terms.ties)

    def is_sure(self) -> bool:
        """Tell whether constants that count as equal are shown to be so."""
        return are_all_equal(self.terms.evaluation, self.terms.assumed)

    def target(self, claim: Claim) -> Tensor:
        """Return the tensor that a claim is about; raise `KeyError` if there is none
        here."""
        if claim.output is None:
            return self.output
        if claim.output not in self.environment:
            raise KeyError(claim.output)
        return self._run(claim.output, self.environment)[0]

    def other(self) -> Tensor:
        """Return the output of the second program."""
        if self._other is None:
            assert self.task.other is not None
            with self.namespace.watched():
                self._other, _ = self._run(self.task.other, self.tensors)
        return self._other

    def truth(self, claim: Claim) -> Host:
        """Return the true derivative, or those entries of it that the claim names."""
        found = self._derivative(claim, self.target(claim))
        if claim.is_complete:
            return found
        at = self.positions(claim)
        return objects(found.reshape(-1)[at.reshape(-1)], at.shape)

    def positions(self, claim: Claim) -> Host:
        """Return the positions in the derivative of the entries that are claimed."""
        lead = () if len(claim.by) > 1 else tuple(self.target(claim).shape)
        return entry_positions(claim, lead, [self.tensors[n].shape for n in claim.by])

    def claimed(self, claim: Claim) -> Host:
        """Return the derivative that a claim, or the second program, gives."""
        if claim.expression is None:
            return self._derivative(claim, self.other())
        return values_of(self.expression(claim))

    def expression(self, claim: Claim) -> Tensor:
        """Return the claim's expression on terms; a name means an input first."""
        assert claim.expression is not None
        named = {**self.environment, **self.tensors}
        return self._run(claim.expression, named)[0]

    def entries(self, name: str) -> list[Term]:
        return list(self.tensors[name].raw.data.flat)

    def _derivative(self, claim: Claim, target: Tensor) -> Host:
        if not claim.by:
            return values_of(target)
        evaluation = self.terms.evaluation
        outputs = [t.serial for t in terms_of(target)]
        first, *_, last = ([e.serial for e in self.entries(name)]
                           for name in (*claim.by[:2], claim.by[-1]))  # fmt: skip
        shapes = [self.tensors[name].shape for name in claim.by]
        if len(claim.by) == 1:
            rows = [evaluation.gradient([o], [1.0], first) for o in outputs]
            shape = (*target.shape, *shapes[0])
            return objects(chain.from_iterable(rows), shape)
        if len(claim.by) > 2:
            order = len(claim.by)
            found = derivative_of_order(self.terms, outputs[0], first[0], order)
            return objects([found], ())
        ones = [1.0] * len(outputs)
        columns = [evaluation.second(outputs, ones, first, along) for along in last]
        values = chain.from_iterable(zip(*columns, strict=True))
        return objects(values, (*shapes[0], *shapes[1]))

    def _run(
        self, source: str, named: Mapping[str, Any], of: str | None = None
    ) -> tuple[Tensor, Mapping[str, object]]:
        seed = self.task.seed
        with working(START_BITS):
            output, _, environment = evaluate(
                source, named, of=of, seed=seed, max_steps=MAX_CLAIM_STEPS,
                typed=self.meant,
            )  # fmt: skip
        return of_elements(output, self.namespace), environment


def terms_of(tensor: Tensor) -> list[Term]:
    return list(tensor.xp.elements(tensor.raw).flat)


def values_of(tensor: Tensor) -> Host:
    """Return a tensor's values as balls."""
    steps = [t.serial for t in terms_of(tensor)]
    return objects(tensor.xp.system.evaluation.settled(steps), tensor.shape)


def fitted_array(claimed: Host, onto: tuple[int, ...]) -> Host | None:
    """Return an array in the shape of the derivative: reshaped if only dimensions of
    size 1 differ, otherwise broadcast; None if neither is possible."""
    if [n for n in claimed.shape if n != 1] == [n for n in onto if n != 1]:
        return claimed.reshape(onto)
    try:
        return np.broadcast_to(claimed, onto)
    except ValueError:
        return None


def fits(claimed: Host, true: Host) -> bool:
    """Tell whether a claim can be brought into the true derivative's shape."""
    return fitted_array(claimed, true.shape) is not None


def differing(claimed: Host, true: Host) -> list[int]:
    """Return the positions of the entries, in C order, that the claim has wrong."""
    values = fitted_array(claimed, true.shape)
    assert values is not None
    pairs = zip(values.flat, true.flat, strict=True)
    return [k for k, (a, b) in enumerate(pairs) if not _same(a, b)]


def _same(a: Ball, b: Ball) -> bool:
    with working(START_BITS):
        return close(a, b, RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE)


class Meant:
    """A reader of decimals that remembers which it has taken for other numbers."""

    def __init__(self) -> None:
        self._taken: dict[float, float] = {}

    def __call__(self, text: str) -> float:
        number = decimal(text)
        if not isinstance(number, Exact) or not number:
            return number
        printed = decimal(repr(float(number)))
        if getattr(printed, "args", None) != number.args:
            # It has not exactly the digits that its float is printed with.
            return number
        for part, pis, root in _readings(float(number)):
            found = _exactly(part, pis, root)
            if found.args == number.args:
                break
            if float(found) == float(number):
                self._taken[number] = found
                return found
        return number

    def taken(self, terms: Terms) -> Iterator[str]:
        """Yield notes on decimals that were taken for other numbers."""
        for number, found in self._taken.items():
            yield f"{float(number)!r} is taken for {shown(terms.lift(found))}"


def _exactly(part: Fraction, pis: int, root: bool) -> Exact:
    found: Any = fraction(*part.as_integer_ratio())
    if pis:
        found = found * PI if pis > 0 else found / PI
    return function("sqrt", math.sqrt(found), found) if root else found  # type: ignore[return-value]


def _readings(number: float) -> Iterator[tuple[Fraction, int, bool]]:
    """Yield readings, plainest first: a fraction, the power of pi that it is multiplied
    by, and whether the square root of that is meant."""
    for root in (False, True):
        for pis in (0, 1, -1):
            bare = (number * number if root else number) / math.pi**pis
            near = Fraction(bare).limit_denominator(MAX_FRACTION_TERM)
            if 0 < near.numerator <= MAX_FRACTION_TERM and (
                abs(float(near) - bare) <= CONSTANT_RELATIVE_ERROR * bare
            ):
                yield near, pis, root
