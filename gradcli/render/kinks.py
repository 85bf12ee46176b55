"""Kinks as text and as JSON: a line per kink, then what its sides say.

at the point
  relu(x)  line 1, column 1  x == 0  distance 0.0  at 0 the derivative is 0
  d/dx  from below 0.0  from above 1.0  engine 0.0  subgradient: between the sides
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..lang.excerpt import printable
from .gradients import derived
from .jsons import SCHEMA, dumps, unbroken
from .line import BLANK, Line, Role, title
from .numbers import number

if TYPE_CHECKING:
    from ..verify.kinks.report import Kink, Place, Report, Side
    from ..views.kinks import KinksView, Located

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
SMOOTH_ROW = "no rule: the derivative of the side that was taken"


def lines(view: KinksView) -> Iterator[Line]:
    """The kinks, place by place, nearest first."""
    report = view.report
    if not report.kinks:
        yield Line(((f"no kink {_reach(report)}", "plain"),))
    for number_of_place, place in enumerate(report.places):
        if number_of_place:
            yield BLANK
        yield title("at the point" if place.here else f"at {_values(place)}")
        here = [k for k in view.located if k.kink.place == number_of_place]
        yield from _kinks(here)
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


def _kinks(found: Sequence[Located]) -> Iterator[Line]:
    texts = [printable(k.source) for k in found]
    places = [k.place for k in found]
    conditions = [_condition(k.kink) for k in found]
    widths = [max(map(len, column)) for column in (texts, places, conditions)]
    for each, text, place, condition in zip(
        found, texts, places, conditions, strict=True
    ):
        yield Line(
            (
                ("  " + text.ljust(widths[0]), "node"),
                ("  " + place.ljust(widths[1]), "dim"),
                ("  " + condition.ljust(widths[2]), "plain"),
                (f"  distance {number(each.kink.distance)}", "number"),
                (f"  {rule(each.kink)}", "dim"),
            ),
            "      ",
        )


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
    labels = [before + printable(side.entry) for side in place.sides]
    width = max(map(len, labels), default=0)
    for side, label in zip(place.sides, labels, strict=True):
        parts: list[tuple[str, Role]] = [
            ("  " + label.ljust(width), "name"),
            (f"  from below {_number(side.below)}", "number"),
            (f"  from above {_number(side.above)}", "number"),
        ]
        if side.jumps:
            parts.append(("  the value jumps", "fair"))
        if side.engine is not None and side.verdict is not None:
            parts.append((f"  engine {number(side.engine)}", "number"))
            parts.append((f"  {side.verdict}: {said(side)}", SAYS[side.verdict][1]))
        yield Line(tuple(parts), "      ")
    if place.left_out:
        more = f"  … the sides by {place.left_out} more entries were not looked at"
        yield Line(((more, "dim"),))


def said(side: Side) -> str:
    """What the verdict means, with the truth where the engine misses it."""
    agreed = not side.jumps and _number(side.below) == _number(side.above)
    if side.verdict == "neither" and agreed and _number(side.below) != "nan":
        return f"both sides agree on {_number(side.below)}"
    return SAYS[side.verdict or "neither"][0]


def _number(value: Any) -> str:
    return number(float(value))


def as_json(view: KinksView) -> Line:
    """The whole report as one object."""
    told = {
        "schema": SCHEMA,
        "command": "kinks",
        "program": view.program,
        "radius": view.report.radius,
        "output": {"name": view.output.name, "value": view.output.value},
        "kinks": [_kink_json(k) for k in view.located],
        "places": [_place_json(p) for p in view.report.places],
        "left_out": view.report.left_out,
        "unsearched": view.report.unsearched,
    }
    return unbroken(dumps(told))


def _kink_json(each: Located) -> dict[str, Any]:
    kink = each.kink
    return {
        "function": kink.function or None,
        "source": each.source,
        "line": each.line,
        "column": each.column,
        "condition": kink.condition,
        "more": kink.more,
        "distance": kink.distance,
        "place": kink.place,
        "rule": rule(kink),
    }


def _place_json(place: Place) -> dict[str, Any]:
    return {
        "here": place.here,
        "values": dict(place.values),
        "sides": [
            {
                "input": side.input,
                "entry": side.entry,
                "below": float(side.below),
                "above": float(side.above),
                "jumps": side.jumps,
                "engine": side.engine,
                "verdict": side.verdict,
            }
            for side in place.sides
        ],
        "left_out": place.left_out,
    }
