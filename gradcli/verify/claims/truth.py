"""Both sides of a claim at one point, with 50 digits.

The truth is the chain rule re-summed over the program's scalar functions, whose
derivatives are SymPy's: the engine's own rules have no part in it. A second derivative
is the symmetric difference of two such gradients, so close to each other that some
twenty digits are left.

Invariant: nothing here knows what the other side is; a comparison is made in one place,
`differing`.

    visit = Visit(task, point)
    differing(visit.claimed(claim), visit.truth(claim))       # [] where it holds
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import prod
from typing import Any, Final

import numpy as np

from ...engine import Tensor
from ...lang.run import evaluate
from ...numbers.arrays import ObjectArray, boxed
from ...numbers.chain import gradient
from ...numbers.namespace import ObjectNamespace
from ...numbers.precision import EXACT
from ...numbers.term import Term
from ..point import entry_name
from .entries import positions
from .lists import with_arrays
from .numbers import Meant, decimals
from .task import STEPS, ClaimsTask
from .text import Claim

STEP: Final = EXACT.mpf(2) ** -60
"""Distance of the two gradients that a second derivative is the difference of."""

SAME: Final = EXACT.mpf("1e-25")
"""Relative distance up to which two numbers of the same order are one."""

TINY: Final = EXACT.mpf("1e-30")


@dataclass(frozen=True, slots=True)
class Grid:
    """Numbers in a shape; ``scales`` say what each may be rounded relative to."""

    shape: tuple[int, ...]
    values: Sequence[Any]
    scales: Sequence[Any]

    def finite(self) -> bool:
        return all(EXACT.isfinite(v) for v in self.values)

    def at(self, places: Any) -> Grid:
        """The entries at ``places``, in the shape of that array."""
        flat = places.reshape(-1).tolist()
        return Grid(
            places.shape,
            [self.values[k] for k in flat],
            [self.scales[k] for k in flat],
        )


class Visit:
    """The program at one point."""

    def __init__(self, task: ClaimsTask, point: Mapping[str, Sequence[Any]]) -> None:
        self.task = task
        self.point = point
        claimed = [claim.expression for claim in task.claims]
        self.terms = Meant(decimals(task.source, task.other, *claimed))
        self.namespace = ObjectNamespace(self.terms)
        self.tensors = {
            given.name: self._tensor(given.name, given.shape) for given in task.inputs
        }
        self.output, self.environment = self._run(task.source, task.of)
        self._other: Tensor | None = None

    def on_turning(self) -> bool:
        """Whether the point lies where a function in use has no derivative."""
        return bool(self.terms.kinks or self.terms.ties)

    def target(self, claim: Claim) -> Tensor:
        """What a claim differentiates.

        Raises:
            KeyError: the program has no such variable here.
        """
        if claim.output is None:
            return self.output
        found: Any = self.environment[claim.output]
        return found if isinstance(found, Tensor) else self._lifted(found)

    def other(self) -> Tensor:
        """The output of the second program."""
        if self._other is None:
            assert self.task.other is not None
            self._other, _ = self._run(self.task.other, None)
        return self._other

    def truth(self, claim: Claim) -> Grid:
        """The derivative that the program has, or the entries claimed of it."""
        found = self._derivative(claim, self.target(claim))
        return found if claim.whole else found.at(self.places(claim))

    def places(self, claim: Claim) -> Any:
        """Where the entries claimed stand in the whole derivative."""
        lead = () if len(claim.by) == 2 else tuple(self.target(claim).shape)
        return positions(claim, lead, [self.tensors[n].shape for n in claim.by])

    def claimed(self, claim: Claim) -> Grid:
        """What is said of it.

        Raises:
            ProgramError: the expression fails.
        """
        if claim.expression is None:
            return self._derivative(claim, self.other())
        return values_of(self.expression(claim))

    def expression(self, claim: Claim) -> Tensor:
        """The claim's expression on terms; an input's name means the input."""
        assert claim.expression is not None
        text = with_arrays(claim.expression).text
        seed = self.task.seed
        return self._lifted(evaluate(text, self.named(), seed=seed, max_steps=STEPS)[0])

    def named(self) -> dict[str, Any]:
        """Everything that a claim may name."""
        return {**self.tensors, **{k: v for k, v in self.environment.items()
                                   if k not in self.tensors}}  # fmt: skip

    def entries(self, name: str) -> list[Term]:
        return list(self.tensors[name].raw.data.flat)

    def moved(self, name: str, place: int, by: Any) -> Visit:
        """The program a small step away."""
        values = [EXACT.mpf(v) for v in self.point[name]]
        values[place] += by
        return Visit(self.task, {**self.point, name: values})

    def _derivative(self, claim: Claim, target: Tensor) -> Grid:
        if not claim.by:
            return values_of(target)
        if len(claim.by) == 1:
            return self._first(target, claim.by[0])
        return self._second(claim)

    def _first(self, target: Tensor, name: str) -> Grid:
        entries = self.entries(name)
        found = [gradient([term], [1.0]) for term in _terms(target)]
        values = [row.get(e.serial, EXACT.zero) for row in found for e in entries]
        shape = (*target.shape, *self.tensors[name].shape)
        return Grid(shape, values, list(map(abs, values)))

    def _second(self, claim: Claim) -> Grid:
        first, last = claim.by
        columns = []
        for place in range(len(self.entries(last))):
            sides = [
                visit._first(visit.target(claim), first)
                for by in (STEP, -STEP)
                for visit in (self.moved(last, place, by),)
            ]
            ahead, behind = sides
            columns.append(
                [
                    (a - b) / (2 * STEP)
                    for a, b in zip(ahead.values, behind.values, strict=True)
                ]
            )
        values = list(chain.from_iterable(zip(*columns, strict=True)))
        shape = (*self.tensors[first].shape, *self.tensors[last].shape)
        # What is left of the 60 digits, when so small a step is divided by.
        return Grid(shape, values, [max(abs(v), EXACT.one) for v in values])

    def _run(self, source: str, of: str | None) -> tuple[Tensor, Mapping[str, Any]]:
        self.namespace.watching = True
        try:
            output, _, environment = evaluate(
                source, dict(self.tensors), of=of, seed=self.task.seed, max_steps=STEPS
            )
        finally:
            self.namespace.watching = False
        return self._lifted(output), environment

    def _tensor(self, name: str, shape: tuple[int, ...]) -> Tensor:
        data = np.empty(shape, dtype=object)
        numbers = self.point[name]
        for place, value in zip(np.ndindex(*shape), numbers, strict=True):
            data[place] = self.terms.symbol(entry_name(name, place), value)
        return Tensor(ObjectArray(boxed(data), self.namespace), self.namespace, True)

    def _lifted(self, value: Any) -> Tensor:
        if isinstance(value, Tensor) and isinstance(value.raw, ObjectArray):
            return value
        raw = value.raw if isinstance(value, Tensor) else value
        return Tensor(self.namespace.array(raw), self.namespace)


def _terms(tensor: Tensor) -> list[Term]:
    return list(tensor.xp.elements(tensor.raw).flat)


def values_of(tensor: Tensor) -> Grid:
    """A tensor's own values."""
    values = [t.value for t in _terms(tensor)]
    return Grid(tuple(tensor.shape), values, [abs(v) for v in values])


def placed(
    claimed: Sequence[Any], shape: Sequence[int], onto: Sequence[int]
) -> list[Any] | None:
    """A claim's entries in the shape of the derivative: as they are, with dimensions
    of size 1 added or dropped, or broadcast; None where none of that fits."""
    if [n for n in shape if n != 1] == [n for n in onto if n != 1]:
        return list(claimed)
    grid = np.empty(prod(shape), dtype=object)
    grid[:] = list(claimed)
    try:
        return list(np.broadcast_to(grid.reshape(tuple(shape)), tuple(onto)).flat)
    except ValueError:
        return None


def fits(claimed: Grid, true: Grid) -> bool:
    """Whether the shapes can be compared at all."""
    return placed(claimed.values, claimed.shape, true.shape) is not None


def differing(claimed: Grid, true: Grid) -> list[int]:
    """The entries of the derivative, in C order, that the claim has wrong."""
    values = placed(claimed.values, claimed.shape, true.shape)
    assert values is not None
    return [
        k
        for k, (a, b, scale) in enumerate(
            zip(values, true.values, true.scales, strict=True)
        )
        if not _same(a, b, scale)
    ]


def _same(a: Any, b: Any, scale: Any) -> bool:
    if not (EXACT.isfinite(a) and EXACT.isfinite(b)):
        return False
    return bool(abs(a - b) <= SAME * max(abs(a), abs(b), scale) + TINY)
