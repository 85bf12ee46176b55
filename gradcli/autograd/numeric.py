"""Derivatives by differences, and the points where there are none.

Invariant: the function is only evaluated; each difference is divided by the step that
was really taken, after rounding. A kink is where the slopes to both sides differ by
the same amount over three sizes of step, which neither curvature nor rounding does.

    columns = difference(f, x, entry, eps)       # f'(x) by one entry of x
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from ..engine.tensor import Tensor

Function = Callable[[Tensor], Sequence[Tensor]]
"""A function of the one input that is varied, to all its outputs."""

SCALES = (8.0, 1.0, 0.125)
"""Steps, in units of ``eps``, over which a kink has to show."""

STEADY = 2.0
"""The most that a kink's jump may change from one step to the next."""

ROUNDINGS = 16
"""Roundings of the function's value that may pass for a difference of slopes."""


@dataclass(frozen=True, slots=True)
class Slopes:
    """Of one output, the slopes by one input entry: central, below and above."""

    central: Any
    below: Any
    above: Any
    noise: Any


@dataclass(frozen=True, slots=True)
class Kink:
    """An output entry whose slope jumps at an entry of an input."""

    output: int
    output_entry: tuple[int, ...]
    input_entry: tuple[int, ...]
    below: float
    above: float

    def __str__(self) -> str:
        return (
            f"the function has a kink there: its slope is {self.below:.6g} below and "
            f"{self.above:.6g} above, so no gradient is right"
        )


def slopes(f: Function, x: Tensor, place: int, step: float) -> list[Slopes]:
    """The slopes of every output by the entry of ``x`` that is number ``place``."""
    here = [_host(y) for y in f(x)]
    low, down = _moved(x, place, -step)
    high, up = _moved(x, place, step)
    found = []
    for y, y_low, y_high in zip(here, _values(f, low), _values(f, high), strict=True):
        size = numpy.abs(y) + numpy.abs(y_low) + numpy.abs(y_high)
        found.append(
            Slopes(
                (y_high - y_low) / (up + down),
                (y - y_low) / down,
                (y_high - y) / up,
                ROUNDINGS * numpy.finfo(y.dtype).eps * size / min(up, down),
            )
        )
    return found


def kinks(
    f: Function, x: Tensor, place: int, eps: float, allowed: Callable[[Any], Any]
) -> list[Kink]:
    """Where the slopes by one entry jump by more than what is ``allowed`` of them."""
    by_scale = [slopes(f, x, place, eps * scale) for scale in SCALES]
    entry = tuple(int(i) for i in numpy.unravel_index(place, tuple(x.shape)))
    found = []
    for nr, per_scale in enumerate(zip(*by_scale, strict=True)):
        jumps = [numpy.abs(s.above - s.below) for s in per_scale]
        middle = per_scale[1]
        steep = numpy.maximum(numpy.abs(middle.above), numpy.abs(middle.below))
        real = numpy.isfinite(jumps[1]) & (jumps[1] > allowed(steep))
        for jump, s in zip(jumps, per_scale, strict=True):
            steady = (jump <= STEADY * jumps[1]) & (jumps[1] <= STEADY * jump)
            real = real & steady & (jump > s.noise)
        found += [
            Kink(nr, tuple(map(int, at)), entry, float(middle.below[tuple(at)]),
                 float(middle.above[tuple(at)]))
            for at in numpy.argwhere(real)
        ]  # fmt: skip
    return found


def _moved(x: Tensor, place: int, step: float) -> tuple[Tensor, float]:
    """The tensor with one entry moved, and how far it really moved."""
    raw = x.xp.clone(x.raw)
    flat = raw.reshape(-1)
    before = float(flat[place])
    flat[place] = before + step
    moved = abs(float(flat[place]) - before)
    return Tensor(flat.reshape(tuple(x.shape)), x.xp, x.requires_grad), moved


def _values(f: Function, x: Tensor) -> list[Any]:
    return [_host(y) for y in f(x)]


def _host(y: Tensor) -> Any:
    """An output's values in the host's memory, in their own precision."""
    return numpy.asarray(y.detach().cpu().numpy())
