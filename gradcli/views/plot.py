"""What a plot shows: a value and its derivatives over one input or two.

Invariant: numbers are the engine's; a place without one holds NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..engine.raw import Host


@dataclass(frozen=True, slots=True)
class KinkMark:
    """Where there is no derivative: the input's value, and the text that says why."""

    at: float
    text: str


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


@dataclass(frozen=True, slots=True)
class Field:
    """The surface of a program, and what its value is called."""

    program: str
    output: str
    surface: Surface
