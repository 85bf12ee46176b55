"""Answers of `gradcli plot`: a value and its derivatives over one input or two.

Invariants: numbers are the engine's, and a place without a value holds NaN. A
derivative is drawn only where there is a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite, nan
from typing import Annotated, Any, ClassVar, TypeAlias

import numpy as np

from ..engine.raw import Host
from .fields import FLAT, named

Numbers: TypeAlias = Annotated["np.ndarray[Any, np.dtype[Any]]", "value"]
"""An array, written as nested lists in an object."""


@dataclass(frozen=True, slots=True)
class KinkMark:
    """A place without a derivative on a curve.

    at     The value of the input there.
    text   The text that says why.
    value  The value of the program there; "nan" where it has none.
    """

    at: float
    text: str
    value: float = nan


@dataclass(frozen=True, slots=True)
class Curve:
    """Answer of `gradcli plot` over one input: a curve.

    program  The program's text.
    output   The variable that is drawn, if it has a name.
    inputs   The input with a range.
    x        The values of that input, rising.
    value    A number for each x.
    slope    The derivative at each x; null: it was not asked for.
    kinks    Places without a derivative; null: they were not looked for.
    edges    Places between these where values begin or end, each with the value and the
             derivative there.
    """

    command: ClassVar = "plot"

    program: str
    output: str | None
    inputs: tuple[str]
    x: Numbers
    value: Numbers
    slope: Numbers | None = field(metadata=named("grad"))
    kinks: tuple[KinkMark, ...] | None
    edges: Numbers

    def drawn(self) -> Sequence[tuple[Host, Host]]:
        """Return the places and heights of the value, kinks and edges included, and of
        the derivative, if that was asked for, edges included."""
        at, values, slopes = self.edges.T
        marks = [mark for mark in self.kinks or () if isfinite(mark.value)]
        x = np.hstack([self.x, at, [mark.at for mark in marks]])
        value = np.hstack([self.value, values, [mark.value for mark in marks]])
        x, order = np.unique(x, return_index=True)
        if self.slope is None:
            return [(x, value[order])]
        slope = np.where(np.isnan(self.value), nan, self.slope)
        x_slope, rising = np.unique(np.hstack([self.x, at]), return_index=True)
        return [(x, value[order]), (x_slope, np.hstack([slope, slopes])[rising])]


@dataclass(frozen=True, slots=True)
class Surface:
    """A value over two inputs.

    inputs  The inputs with a range: the horizontal one, then the vertical one.
    x       The values of the first input, rising.
    y       The values of the second input, rising.
    value   The values, a row of numbers for each y.
    slopes  The derivative by each of two inputs, a row for each y.
    """

    inputs: tuple[str, str]
    x: Numbers
    y: Numbers
    value: Numbers
    slopes: tuple[Numbers, Numbers] = field(metadata=named("grads"))

    def drawn(self) -> tuple[Host, Host]:
        """Return both derivatives, with NaN where there is no value."""
        known = np.isfinite(self.value)
        by_across, by_up = (np.where(known, each, nan) for each in self.slopes)
        return by_across, by_up


@dataclass(frozen=True, slots=True)
class Field:
    """Answer of `gradcli plot` over two inputs: a field.

    program  The program's text.
    output   The variable that is drawn, if it has a name.
    """

    command: ClassVar = "plot"

    program: str
    output: str | None
    surface: Surface = field(metadata=FLAT)
