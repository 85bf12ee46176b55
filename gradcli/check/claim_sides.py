"""Both sides of a claim at one point: the true and the claimed derivative, as balls.

The true derivative is summed over the program's scalar steps, whose derivatives are
power series at balls; the engine's own rules have no part in it.

Invariant: each side is computed without the other; only `differing` compares the two.

    visit = Visit(task, point)
    differing(visit.claimed(claim), visit.truth(claim))       # [] where it holds
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from itertools import chain, compress
from math import isfinite
from typing import Any, Final

import numpy as np

from ..engine import NUMPY, Tensor
from ..engine.raw import Host
from ..lang.errors import ProgramError
from ..lang.run import evaluate
from ..ops.exact import Exact, decimal, fraction
from .balls import START_BITS, Ball, ball, close, text, to_float, working
from .claims import Claim, ClaimsTask, Point
from .claims import positions as entry_positions
from .graph import derivatives
from .namespace import ObjectNamespace
from .process.budget import load_sympy
from .subject import objects, of_elements, symbols
from .system import SURE_DIGITS
from .terms import Term, Terms

MAX_CLAIM_STEPS: Final = 50_000
"""Largest number of steps of a program that a claim is about: at a random point, or
with a part written differently, a loop may not end."""

MAX_LITERALS: Final = 12
"""Largest number of decimals with many digits that a difference is put down to."""

FLOAT_DIGITS: Final = 17
"""Number of significant digits with which floats are written at most."""

DEEP_BITS: Final = 4096
"""Precision, in bits, in which sides that fewer bits do not tell apart are compared."""


MAX_NEWTON_STEPS: Final = 16
"""Largest number of steps from a point to one at which an equation holds."""

ON_EQUATION: Final = 1e-15
"""Largest length of the last of these steps, relative to the value or to 1."""

MIN_GAP: Final = 1e-6
"""Smallest relative difference that refutes a claim about an equation, which holds at
the points only up to rounding."""


def on_equation(task: ClaimsTask, point: Point) -> Point:
    """Return the point of a task's equation that is next to a point; the point itself
    if the task has no equation.

    Raises:
        ProgramError: none is near.
    """
    if task.tied is None:
        return point
    values = {name: numbers[0] for name, numbers in point.items()}
    for _ in range(MAX_NEWTON_STEPS):
        before = values[task.tied]
        inputs = {name: Tensor(np.array(x), NUMPY) for name, x in values.items()}
        step, _, _ = evaluate(
            task.source, inputs, of=task.tied, max_steps=MAX_CLAIM_STEPS
        )
        after = step.item()
        if not isfinite(after):
            break
        values[task.tied] = after
        if abs(after - before) <= ON_EQUATION * max(1, abs(after)):
            return {name: (value,) for name, value in values.items()}
    raise ProgramError("E596", "no point of the equation is near")


def are_finite(balls: Host) -> bool:
    return all(b.is_finite() for b in balls.flat)


class Visit:
    """The run of a task's program at one point; ``instead`` is as for `Literals`."""

    def __init__(
        self, task: ClaimsTask, point: Point,
        instead: Mapping[str, Fraction] | None = None,
    ) -> None:  # fmt: skip
        self.task = task
        self.point = point = on_equation(task, point)
        self.terms = Terms()
        self.literals = Literals(instead or {})
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

    def with_literals(self, instead: Mapping[str, Fraction]) -> Visit:
        """Return the visit of the same point with other numbers for some decimals."""
        return Visit(self.task, self.point, instead)

    @contextmanager
    def deeply(self) -> Iterator[None]:
        """Compute with `DEEP_BITS` in a block."""
        evaluation = self.terms.evaluation
        before, evaluation.bits = evaluation.bits, DEEP_BITS
        # Comparisons that are made meanwhile ask what is known with these bits.
        evaluation.known.setdefault(DEEP_BITS, {})
        try:
            with working(DEEP_BITS):
                yield
        finally:
            evaluation.bits = before

    def is_sure(self) -> bool:
        """Tell whether constants that count as equal are shown to be so."""
        if not self.terms.assumed:
            return True
        load_sympy()
        from .expressions import are_equal

        evaluation = self.terms.evaluation
        return all(are_equal(evaluation, *pair) for pair in self.terms.assumed)

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
            bits = evaluation.bits
            found = derivatives(self.terms, outputs[0], first[0], [order], bits=bits)[0]
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
                typed=self.literals,
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
    with working(DEEP_BITS):
        return close(a, b)


def _far(a: Ball, b: Ball) -> bool:
    """Tell whether more than the rounding of a point tells two numbers apart."""
    left, right = to_float(a), to_float(b)
    return abs(left - right) > MIN_GAP * max(abs(left), abs(right), MIN_GAP)


class Literals:
    """A reader of decimals that keeps those with more digits than a float is sure to
    have; ``instead`` has the numbers that some of them are read as."""

    def __init__(self, instead: Mapping[str, Fraction]) -> None:
        self.long: dict[str, tuple[Fraction, Fraction]] = {}
        """The number that a decimal is near, and half the unit of its last digit: its
        float and the distance to the next one, if it has the digits of a float."""
        self._instead = instead

    def __call__(self, typed: str) -> float:
        number = decimal(typed)
        if not isinstance(number, Exact) or number.name != "number":
            return number
        digits = typed.replace("_", "").lower().partition("e")[0]
        count = len(digits.replace(".", "").lstrip("0"))
        near = float(number)
        if SURE_DIGITS < count <= FLOAT_DIGITS and isfinite(near):
            printed = decimal(f"{near:.{count}g}")
            if getattr(printed, "args", 0) == number.args:
                self.long[typed] = Fraction(near), Fraction(math.ulp(near))
        moved = self._instead.get(typed)
        return number if moved is None else fraction(*moved.as_integer_ratio())


def wrong_entries(
    visit: Visit, claim: Claim, claimed: Host, true: Host, deep: bool = False
) -> tuple[list[int], tuple[str, ...]]:
    """Return the positions of the entries that a claim has wrong, and the decimals that
    have too few digits to tell; ``deep`` compares with `DEEP_BITS`."""
    wrong = differing(claimed, true)
    if visit.task.tied is not None:
        return [k for k in wrong if _far(claimed.flat[k], true.flat[k])], ()
    if deep and not wrong:
        with visit.deeply():
            wrong = differing(visit.claimed(claim), visit.truth(claim))
    long = visit.literals.long
    if not wrong or not 0 < len(long) <= MAX_LITERALS:
        return wrong, ()
    meant = {typed: near for typed, (near, _) in long.items()}
    base, *gaps = (
        _gap(visit.with_literals({**meant, **moved}), claim)
        for moved in ({}, *({t: near + last} for t, (near, last) in long.items()))
    )
    with working(DEEP_BITS):
        moved = {k: [abs(each[k] - base[k]) for each in gaps] for k in wrong}
        explained = all(abs(base[k]) < sum(by, ball(0)) for k, by in moved.items())
        few = (any(by[at] > 0 for by in moved.values()) for at in range(len(long)))
        return ([], tuple(compress(long, few))) if explained else (wrong, ())


def distance(visit: Visit, claim: Claim) -> str:
    """Return the largest difference of the sides, as a share of their size."""
    with visit.deeply():
        true, claimed = visit.truth(claim), visit.claimed(claim)
    values = fitted_array(claimed, true.shape)
    assert values is not None
    with working(DEEP_BITS):
        shares = [abs(a - b) / (abs(a) + abs(b)) * 2
                  for a, b in zip(values.flat, true.flat, strict=True)
                  if not (a - b).contains(0)]  # fmt: skip
        return text(max(shares, key=lambda share: share.mid(), default=ball(0)), 2)


def _gap(visit: Visit, claim: Claim) -> list[Ball]:
    with visit.deeply():
        true = visit.truth(claim)
        values = fitted_array(visit.claimed(claim), true.shape)
        assert values is not None
        return [a - b for a, b in zip(values.flat, true.flat, strict=True)]
