"""Kinks as text and as JSON: a line per kink, then what its sides say.

at the point
  relu(x)  line 1, column 1  x == 0  distance 0.0  at 0 the derivative is 0
  d/dx  from below 0.0  from above 1.0  engine 0.0  subgradient: between the sides
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ..lang.excerpt import printable
from .gradients import derived
from .jsons import answer, entries
from .line import BLANK, Line, Part, Role, aligned, title
from .numbers import number

if TYPE_CHECKING:
    from ..verify.kinks.report import Kink, Place, Report, Side
    from ..views.kinks import KinksView
    from ..views.places import Where

SAYS: Mapping[str, tuple[str, Role]] = {
    "gradient": ("both sides agree, and on it", "good"),
    "subgradient": ("between the sides of a convex kink", "good"),
    "supergradient": ("between the sides of a concave kink", "good"),
    "one-sided": ("the slope of the only side there is", "fair"),
    "step": ("the slope on both sides of a jump", "fair"),
    "pole": ("the infinity that both sides tend to", "fair"),
    "neither": ("no gradient and no subgradient", "bad"),
}

OWN_COMPARISON = "a comparison of the program: it goes as it falls out"
BRANCH = "a branch"
SMOOTH_ROW = "no rule: the derivative of the side that was taken"


def lines(view: KinksView) -> Iterator[Line]:
    """The kinks, point by point, nearest first."""
    report = view.report
    if not report.kinks:
        yield Line(((f"no kink {_reach(report)}", "plain"),))
    for nr, place in enumerate(report.places):
        if nr:
            yield BLANK
        yield title("at the point" if place.here else f"at {_values(place)}")
        both = zip(report.kinks, view.where, strict=True)
        here = [_kink(k, where) for k, where in both if k.place == nr]
        yield from aligned(here, 3, "      ")
        yield from _sides(view, place)
    if report.left_out:
        more = f"{report.left_out} farther places were not looked at"
        yield Line(((more, "dim"),))
    if report.unsearched:
        more = f"of {report.unsearched} conditions the nearest place alone was found"
        yield Line(((more, "dim"),))


def _reach(report: Report) -> str:
    if not report.radius:
        return "at the point"
    return f"within {number(report.radius)} of the point"


def _values(place: Place) -> str:
    shown = place.values[:8]
    more = ", …" if len(shown) < len(place.values) else ""
    return ", ".join(f"{printable(n)} = {number(v)}" for n, v in shown) + more


def _kink(kink: Kink, where: Where) -> list[Part]:
    known = where.line is not None
    place = f"line {where.line}, column {where.column}" if known else ""
    return [
        ("  " + printable(where.text or BRANCH), "node"),
        ("  " + place, "dim"),
        ("  " + _condition(kink), "plain"),
        (f"  distance {number(kink.distance)}", "number"),
        (f"  {rule(kink)}", "dim"),
    ]


def _condition(kink: Kink) -> str:
    text = printable(kink.condition or "two parts of the program meet")
    return f"{text} (and {kink.more} more)" if kink.more else text


def rule(kink: Kink) -> str:
    """The convention that gave the engine's answer."""
    if not kink.function:
        return OWN_COMPARISON
    return kink.rule or SMOOTH_ROW


def _sides(view: KinksView, place: Place) -> Iterator[Line]:
    before = f"d{derived(view.output)}/d"
    yield from aligned((_side(before, side) for side in place.sides), 1, "      ")
    if place.left_out:
        more = f"  … the sides by {place.left_out} more entries were not looked at"
        yield Line(((more, "dim"),))


def _side(before: str, side: Side) -> list[Part]:
    parts: list[Part] = [
        (f"  {before}{printable(side.entry)}", "name"),
        (f"  from below {_number(side.below)}", "number"),
        (f"  from above {_number(side.above)}", "number"),
    ]
    if side.jumps:
        parts.append(("  the value jumps", "fair"))
    if side.engine is not None and side.verdict is not None:
        parts.append((f"  engine {number(side.engine)}", "number"))
        parts.append((f"  {side.verdict}: {said(side)}", SAYS[side.verdict][1]))
    return parts


def said(side: Side) -> str:
    """What the verdict means, with the truth where the engine misses it."""
    agreed = not side.jumps and _number(side.below) == _number(side.above)
    if side.verdict == "neither" and agreed and _number(side.below) != "nan":
        return f"both sides agree on {_number(side.below)}"
    return SAYS[side.verdict or "neither"][0]


def _number(value: float) -> str:
    return number(float(value))


def as_json(view: KinksView) -> Line:
    """The report as one object."""
    report = view.report
    return answer(
        "kinks",
        program=view.program,
        radius=report.radius,
        output={"name": view.output.name, "value": view.output.value},
        kinks=[*map(_kink_json, report.kinks, view.where)],
        places=[
            entries(place)
            | {"values": dict(place.values), "sides": [*map(_side_json, place.sides)]}
            for place in report.places
        ],
        left_out=report.left_out,
        unsearched=report.unsearched,
    )


def _kink_json(kink: Kink, where: Where) -> dict[str, str | int | None]:
    return {
        **entries(kink, "span"),
        "function": kink.function or None,
        "source": where.text or BRANCH,
        "line": where.line,
        "column": where.column,
        "rule": rule(kink),
    }


def _side_json(side: Side) -> dict[str, object]:
    return entries(side) | {"below": float(side.below), "above": float(side.above)}
