"""Derivatives by differences, and the points where there are none.

Invariant: the function is only evaluated; each difference is divided by the step that
was really taken, after rounding. A kink is where the slopes to both sides differ by
the same amount over three sizes of step, which neither curvature nor rounding does.

    slopes(f, [y], x, 0, 1e-6)[0].central        # dy / dx.flat[0]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from . import devices
from .raw import Host
from .tensor import Tensor

Values = list[Any]
"""Values of the outputs, as arrays in the host's memory."""

Function = Callable[[Tensor], Values]
"""A function from the one input that is varied to the values of all outputs."""

SCALES = (8.0, 1.0, 0.125)
"""Steps, in units of ``eps``, over which a kink has to show."""

STEADY = 2.0
"""The most that a kink's jump may change from one step to the next."""

ROUNDINGS = 16
"""Number of roundings of the value that a jump must exceed to count as a kink."""


@dataclass(frozen=True, slots=True)
class Slopes:
    """The slopes of an output by one input entry, and the bound of their rounding."""

    central: Host
    below: Host
    above: Host
    noise: Host

    @property
    def jump(self) -> Host:
        found: Host = numpy.abs(self.above - self.below)
        return found

    @property
    def steepest(self) -> Host:
        found: Host = numpy.maximum(numpy.abs(self.above), numpy.abs(self.below))
        return found


@dataclass(frozen=True, slots=True)
class SlopeJump:
    """An output entry whose slope jumps at an entry of an input."""

    output: int
    output_entry: tuple[int, ...]
    below: float
    above: float

    def __str__(self) -> str:
        return (
            f"the function has a kink there, its slope is {self.below:.6g} below and "
            f"{self.above:.6g} above, so it has no gradient to agree with"
        )


def slopes(
    f: Function, here: Values, x: Tensor, flat_index: int, step: float
) -> list[Slopes]:
    """Return the slopes of every output by entry number ``flat_index`` of ``x``.

    Args:
        here: the outputs' values at ``x`` itself.
    """
    low, down = _moved(x, flat_index, -step)
    high, up = _moved(x, flat_index, step)
    found = []
    with numpy.errstate(all="ignore"):
        for y, y_low, y_high in zip(here, f(low), f(high), strict=True):
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


def by_scales(
    f: Function, here: Values, x: Tensor, flat_index: int, eps: float
) -> list[list[Slopes]]:
    """Return the slopes by one entry with steps of all scales."""
    return [slopes(f, here, x, flat_index, eps * scale) for scale in SCALES]


def kinks_among(
    by_scale: Sequence[Sequence[Slopes]], allowed: Callable[[Host], Host]
) -> list[SlopeJump]:
    """Return where slopes with steps of all scales jump by more than is ``allowed``."""
    found = []
    for nr, per_scale in enumerate(zip(*by_scale, strict=True)):
        middle = per_scale[1]
        with numpy.errstate(invalid="ignore"):
            real = numpy.isfinite(middle.jump)
            real &= middle.jump > allowed(middle.steepest)
            jumps = numpy.array([s.jump for s in per_scale])
            real &= jumps.max(0) <= STEADY * jumps.min(0)
            real &= numpy.all(jumps > [s.noise for s in per_scale], 0)
        for at in numpy.argwhere(real):
            entry = tuple(int(i) for i in at)
            slope = float(middle.below[entry]), float(middle.above[entry])
            found.append(SlopeJump(nr, entry, *slope))
    return found


def evaluate(outputs: Sequence[Tensor]) -> Values:
    """Return the values of a function's outputs."""
    return [host(y) for y in outputs]


def host(y: Tensor) -> Host:
    """Return a tensor's values in the host's memory, in their own precision."""
    return numpy.asarray(devices.host(y.raw))


def _moved(x: Tensor, flat_index: int, step: float) -> tuple[Tensor, float]:
    """Return a copy of a tensor with one entry moved, and how far it really moved."""
    raw = x.xp.clone(x.raw, "contiguous")
    flat = raw.reshape(-1)
    before = float(flat[flat_index])
    flat[flat_index] = before + step
    moved = abs(float(flat[flat_index]) - before)
    return Tensor(flat.reshape(tuple(x.shape)), x.xp, x.requires_grad), moved
