"""One run of a program on terms, and what the engine's own rules make of it.

Invariant: the program sees tensors as always; that they hold terms is known here and
nowhere else. The independent derivative never looks at the recorded graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from ..engine import NUMPY, Tensor, grad
from ..numbers.arrays import ObjectArray, boxed
from ..numbers.expressions import NoMeaning
from ..numbers.namespace import ObjectNamespace
from ..numbers.term import Term
from ..numbers.terms import Terms
from ..numbers.values import Roundings
from .process.job import Input, Job

Evaluate = Callable[[dict[str, Tensor]], Any]
"""A program: tensors by name in, the output tensor out."""


@dataclass(frozen=True, slots=True)
class Run:
    """The program's run at the point."""

    terms: Terms
    output: Tensor
    outputs: list[Term]
    tensors: dict[str, Tensor]
    entries: dict[str, list[Term]]
    roundings: Roundings

    @property
    def namespace(self) -> ObjectNamespace:
        return self.output.xp  # type: ignore[no-any-return]

    def asked(self) -> list[Term]:
        """All entries of all inputs asked for, in order."""
        return list(chain.from_iterable(self.entries.values()))


def run(job: Job, evaluate: Evaluate, lean: int = 0, terms: Terms | None = None) -> Run:
    """Run the program; ``lean`` decides ties, as in `Terms`, if none are given.

    Without terms of its own, the run takes what lies within rounding of a tie for one.

    Raises:
        NoMeaning: what comes out is not made of numbers.
    """
    roundings = Roundings(job.dtype)
    terms = Terms(lean, roundings) if terms is None else terms
    namespace = ObjectNamespace(terms)
    tensors = {i.name: _tensor(i, namespace) for i in job.inputs}
    namespace.watching = True
    try:
        output = evaluate(dict(tensors))
    finally:
        namespace.watching = False
    if not isinstance(output, Tensor):
        output = Tensor(namespace.array(output), namespace)
    if not isinstance(output.raw, ObjectArray):
        output = Tensor(namespace.array(output.raw), namespace)
    if output.shape != job.output.shape:
        raise NoMeaning(
            f"run by the checker the program gives shape {output.shape}, run by the "
            f"engine {job.output.shape}"
        )
    asked = [i.name for i in job.inputs if i.claim is not None]
    return Run(
        terms,
        output,
        list(namespace.elements(output.raw).flat),
        tensors,
        {name: list(tensors[name].raw.data.flat) for name in asked},
        roundings,
    )


def _tensor(given: Input, namespace: ObjectNamespace) -> Tensor:
    values = given.value.values()
    if given.whole:
        whole = np.array(values).astype(np.int64).reshape(given.value.shape)
        return Tensor(whole, NUMPY)
    data = np.empty(given.value.shape, dtype=object)
    symbol = namespace.system.symbol  # type: ignore[attr-defined]
    for place, value in zip(np.ndindex(*data.shape), values, strict=True):
        data[place] = symbol(entry_name(given.name, place), value)
    array = ObjectArray(boxed(data), namespace)
    return Tensor(array, namespace, given.claim is not None)


def entry_name(name: str, place: Sequence[int]) -> str:
    """``a[0,1]``; a scalar's entry is called as the input is."""
    return f"{name}[{','.join(map(str, place))}]" if place else name


def unit(count: int, position: int) -> list[float]:
    return [1.0 if i == position else 0.0 for i in range(count)]


class ReversePass:
    """The engine's own reverse pass on the terms of a run."""

    def __init__(self, point: Run) -> None:
        self.point = point
        self.inputs = [point.tensors[name] for name in point.entries]

    def row(self, cotangent: Sequence[float]) -> list[Term]:
        """The derivative of the contracted output in every entry asked for."""
        return self._pulled(self.point.output, cotangent)

    def gradient(self) -> list[Tensor]:
        """The gradient of a scalar output, recorded itself, per input."""
        point = self.point
        if point.output.edge is None:
            return self._zeros()
        found = grad([point.output], self.inputs, retain_graph=True, create_graph=True)
        zeros = self._zeros()
        return [z if g is None else g for g, z in zip(found, zeros, strict=True)]

    def second(self, gradient: Sequence[Tensor], row: int) -> list[Term]:
        """One row of the Hessian; rows are numbered through all inputs' entries."""
        for part in gradient:
            count = part.numel()
            if row < count:
                return self._pulled(part, unit(count, row))
            row -= count
        raise IndexError(row)

    def _pulled(self, output: Tensor, cotangent: Sequence[float]) -> list[Term]:
        namespace = self.point.namespace
        zeros = self._zeros()
        if output.edge is None:
            found: Sequence[Tensor | None] = zeros
        else:
            g = namespace.array(np.array(cotangent).reshape(output.shape))
            found = grad([output], self.inputs, [Tensor(g, namespace)], True)
        parts = [z if g is None else g for g, z in zip(found, zeros, strict=True)]
        return list(chain.from_iterable(namespace.elements(p.raw).flat for p in parts))

    def _zeros(self) -> list[Tensor]:
        namespace = self.point.namespace
        return [Tensor(namespace.zeros_like(t.raw), namespace) for t in self.inputs]


def spread(names: Mapping[str, Sequence[Any]], row: Sequence[Any]) -> dict[str, Any]:
    """One row of numbers, cut into the parts that belong to each input."""
    parts: dict[str, Any] = {}
    start = 0
    for name, entries in names.items():
        parts[name] = row[start : start + len(entries)]
        start += len(entries)
    return parts
