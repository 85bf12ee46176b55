"""What a plot shows: a value and its derivatives over one input or two.

Invariant: numbers are the engine's; a place without one holds NaN. What is drawn of a
derivative is where there is a value.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..engine.raw import Host


@dataclass(frozen=True, slots=True)
class KinkMark:
    """Where there is no derivative: the input's value, the text that says why, and
    what the value is there; NaN: it has none."""

    at: float
    text: str
    value: float = nan


@dataclass(frozen=True, slots=True)
class Curve:
    """Over one input.

    program  its text
    output   what the value is called; empty: it has no name
    across   the input's name
    x        its values, rising
    value    a number for each
    slope    the derivative at each; None: it was not asked for
    kinks    those that were found between the ends; None: they were not looked for
    """

    program: str
    output: str
    across: str
    x: Host
    value: Host
    slope: Any
    kinks: tuple[KinkMark, ...] | None

    def drawn(self) -> tuple[tuple[Host, Host], tuple[Host, Any]]:
        """The places and the heights of the value, its kinks among them, and of the
        derivative."""
        marks = [mark for mark in self.kinks or () if isfinite(mark.value)]
        places = np.searchsorted(self.x, [mark.at for mark in marks])
        x = np.insert(self.x, places, [mark.at for mark in marks])
        value = np.insert(self.value, places, [mark.value for mark in marks])
        slope = self.slope
        if slope is not None:
            slope = np.where(np.isfinite(self.value), slope, nan)
        return (x, value), (self.x, slope)


@dataclass(frozen=True, slots=True)
class Surface:
    """Over two inputs; arrays have a row for each value of the second.

    across, up  the inputs' names
    x, y        their values, rising
    value       a number for each pair
    slopes      the derivatives by both
    """

    across: str
    up: str
    x: Host
    y: Host
    value: Host
    slopes: tuple[Host, Host]

    def drawn(self) -> tuple[Host, Host]:
        """The derivatives where there is a value."""
        known = np.isfinite(self.value)
        by_across, by_up = (np.where(known, each, nan) for each in self.slopes)
        return by_across, by_up


@dataclass(frozen=True, slots=True)
class Field:
    """The surface of a program, and what its value is called."""

    program: str
    output: str
    surface: Surface
