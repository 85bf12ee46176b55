"""One-sided derivatives from runs of the program very close to a point.

No rule of the engine and no derivative of SymPy takes part: each run decides as the
program does on that side, and a slope is a quotient of values with hundreds of digits.

Invariant: a slope is finite only if two steps of very different size agree on it within
`SLOPE_TOLERANCE`; it is infinite if it keeps growing, and nan otherwise.

    field = Field(job)
    slope(field, location, direction, side=1).value
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, nan
from typing import TYPE_CHECKING, Final

import numpy as np

from ...engine import Tensor
from ...lang.exactly import ExactFactory, ExactLibrary, exact_code
from ...lang.parser import parse
from ...lang.run import computed
from ...numbers.arrays import ObjectArray, boxed
from ...numbers.balls import Ball, ball, to_float, working
from ...numbers.namespace import Balls, ObjectNamespace
from ..limits import WIDE_BITS, ZERO_DIGITS
from ..process.job import Job

if TYPE_CHECKING:
    from ...lang.code import Code

WIDE_STEP: Final = ball(2) ** -332
NARROW_STEP: Final = ball(2) ** -498
SLOPE_TOLERANCE: Final = ball(10) ** -25
DIVERGING_RATIO: Final = ball(1.2)
MIN_DIVERGING_SLOPE: Final = ball(10)


class Field:
    """The weighted output as a function of all entries that are asked for."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._weights = job.cotangent.values() if job.cotangent is not None else None

    @cached_property
    def _namespace(self) -> ObjectNamespace:
        return ObjectNamespace(Balls())

    @cached_property
    def _code(self) -> Code:
        names = {i.name: None for i in self._job.inputs}
        return exact_code(parse(self._job.source, names))

    def at(self, location: Sequence[Ball | float]) -> Ball:
        """Return the output there, to hundreds of digits; nan if it has none."""
        given, start = {}, 0
        for each in self._job.inputs:
            count = len(each.value.values())
            numbers: Sequence[object] = [ball(v) for v in each.value.values()]
            if each.claim is not None:
                numbers = location[start : start + count]
                start += count
            given[each.name] = self._tensor(numbers, each.value.shape)
        factory = ExactFactory(self._namespace, self._job.dtype, self._job.seed)
        with working(WIDE_BITS), self._namespace.taking_numbers():
            library = ExactLibrary(factory)
            output, _, _ = computed(self._code, given, library, self._job.of)
        parts = self._namespace.elements(output.raw).reshape(-1).tolist()
        weights = self._weights or [1.0] * len(parts)
        with working(WIDE_BITS):
            terms = (ball(w) * p for w, p in zip(weights, parts, strict=True))
            return sum(terms, ball(0))

    def _tensor(self, numbers: Sequence[object], shape: tuple[int, ...]) -> Tensor:
        data = np.empty(len(numbers), dtype=object)
        data[:] = list(numbers)
        array = ObjectArray(boxed(data.reshape(shape)), self._namespace)
        return Tensor(array, self._namespace)


@dataclass(frozen=True, slots=True)
class Slope:
    """A derivative on one side, and whether the value jumps on that side."""

    value: float
    jumps: bool


def slope(
    field: Field, location: Sequence[Ball], way: Sequence[float], side: int
) -> Slope:
    """Return the derivative along ``way``, ahead of a location (1) or behind."""
    here = field.at(location)
    steps, gaps = [], []
    with working(WIDE_BITS):
        for width in (WIDE_STEP, NARROW_STEP):
            first = field.at(_moved(location, way, side * width))
            second = field.at(_moved(location, way, 2 * side * width))
            steps.append((second - first) / (side * width))
            gaps.append(abs(first - here))
        jumps = not here.is_finite() or not gaps[1] <= SLOPE_TOLERANCE * (1 + abs(here))
        return Slope(_limit(*steps), jumps)


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
