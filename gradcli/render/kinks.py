"""Kinks as text: a line per kink, then the derivatives from both sides.

at the point
  relu(x)  line 1, column 1  x == 0  distance 0.0  at 0 the derivative is 0
  d/dx  from below 0.0  from above 1.0  engine 0.0  subgradient: between the sides
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ..lang.excerpt import printable
from .gradients import derived
from .line import BLANK, Line, Part, Role, aligned, dim, title
from .numbers import number

if TYPE_CHECKING:
    from ..answers.kinks import Kink, Kinks
    from ..verify.kinks import Place, Side

SAYS: Mapping[str, tuple[str, Role]] = {
    "gradient": ("both sides agree, and on it", "good"),
    "subgradient": ("between the sides of a convex kink", "good"),
    "supergradient": ("between the sides of a concave kink", "good"),
    "one-sided": ("the slope of the only side there is", "fair"),
    "step": ("the slope on both sides of a jump", "fair"),
    "pole": ("the infinity that both sides tend to", "fair"),
    "neither": ("no gradient and no subgradient", "bad"),
}


MAX_VALUES = 8
"""Largest number of a place's values that are shown."""


def lines(answer: Kinks) -> Iterator[Line]:
    """Yield the kinks, place by place, nearest first."""
    if not answer.kinks:
        within = f"within {number(answer.radius)} of" if answer.radius else "at"
        yield Line((f"no kink {within} the point", "plain"))
    for nr, place in enumerate(answer.places):
        if nr:
            yield BLANK
        yield title("at the point" if place.here else f"at {_values(place)}")
        here = [_kink(kink) for kink in answer.kinks if kink.place == nr]
        yield from aligned(here, 3, "      ")
        yield from _sides(answer, place)
    if answer.left_out:
        more = f"{answer.left_out} farther places were not looked at"
        yield dim(more)
    if answer.unsearched:
        more = f"of {answer.unsearched} conditions the nearest place alone was found"
        yield dim(more)


def _values(place: Place) -> str:
    shown = [f"{printable(n)} = {number(v)}" for n, v in place.values.items()]
    more = ", …" if len(shown) > MAX_VALUES else ""
    return ", ".join(shown[:MAX_VALUES]) + more


def _kink(kink: Kink) -> list[Part]:
    known = kink.line is not None
    place = f"line {kink.line}, column {kink.column}" if known else ""
    condition = printable(kink.condition or "two parts of the program meet")
    condition += f" (and {kink.more} more)" * bool(kink.more)
    return [
        ("  " + printable(kink.source), "node"),
        ("  " + place, "dim"),
        ("  " + condition, "plain"),
        (f"  distance {number(kink.distance)}", "number"),
        (f"  {kink.rule}", "dim"),
    ]


def _sides(answer: Kinks, place: Place) -> Iterator[Line]:
    before = f"d{derived(answer.output)}/d"
    yield from aligned((_side(before, side) for side in place.sides), 1, "      ")
    if place.left_out:
        more = f"  … the sides by {place.left_out} more entries were not looked at"
        yield dim(more)


def _side(before: str, side: Side) -> list[Part]:
    parts: list[Part] = [
        (f"  {before}{printable(side.entry)}", "name"),
        (f"  from below {number(side.below)}", "number"),
        (f"  from above {number(side.above)}", "number"),
    ]
    if side.jumps:
        parts.append(("  the value jumps", "fair"))
    if side.engine is not None and side.verdict is not None:
        parts.append((f"  engine {number(side.engine)}", "number"))
        parts.append((f"  {side.verdict}: {said(side)}", SAYS[side.verdict][1]))
    return parts


def said(side: Side) -> str:
    """Return the meaning of a side's verdict; where both sides agree and the engine
    does not, their value."""
    agreed = not side.jumps and number(side.below) == number(side.above)
    if side.verdict == "neither" and agreed and number(side.below) != "nan":
        return f"both sides agree on {number(side.below)}"
    return SAYS[side.verdict or "neither"][0]
