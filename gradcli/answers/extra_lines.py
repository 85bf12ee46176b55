"""Extras beside the gradients as text: digits, condition numbers, ranges over a box.

condition: what a relative error of an input becomes in the output
  x  1.5e+03  amplified 1500 times: an error of 1e-16 becomes 1.5e-13

over the box x = -1.0 .. 2.0
  output  [0.0, 4.0], certified to 3.7e-09
  d/dx    [-2.0, 4.0], certified to 1.5e-08  changes sign: at x = -1.0 and at x = 0.5
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, isnan
from typing import TYPE_CHECKING

from ..lang.excerpt import printable
from ..lang.nested import bracketed, nested
from .closed_forms import indices
from .grad import UNSETTLED, doubt, kinked
from .gradients import at_point, labels
from .line import BLANK, Line, Part, aligned, dim, title
from .numbers import inline, number

if TYPE_CHECKING:
    from ..check.box import BoxPlace, InputInterval, ProvenRange, Ranges
    from ..check.digits import Numerals, Precisely
    from .grad import Condition, GradExtras
    from .gradients import GradView

MAX_ROWS = 20
"""Largest number of ranges that are printed, one a line."""

ROUNDING: Mapping[str, float] = {"float64": 1e-16, "float32": 6e-8}
"""Half the distance between neighbouring numbers, relative, by type."""

SHARP = 1.05
"""Condition number below which an error counts as unchanged."""


def extra_lines(view: GradView, extras: GradExtras) -> Iterator[Line]:
    """Yield what was asked for beside the gradients: digits, conditions, ranges."""
    if extras.precisely is not None:
        yield from _digit_lines(extras.precisely, view)
    if extras.conditions is not None:
        yield from _condition_lines(extras.conditions, ROUNDING[view.dtype])
    if extras.ranges is not None:
        from .box import spans_of

        yield from _range_lines(extras.ranges, spans_of(extras.boxes), view)


def plain_extras(view: GradView, extras: GradExtras) -> Iterator[Line]:
    """Yield the gradients with all their digits, or their ranges, one a line."""
    if extras.ranges is not None:
        shapes = {given.name: given.shape for given in view.inputs}
        for name, own in extras.ranges.gradients.items():
            pairs = [[r.lower, r.upper] for r in own]
            yield Line((inline(nested(pairs, shapes[name])), "number"))
    elif extras.precisely is not None:
        for numerals in extras.precisely.gradients.values():
            yield Line((_written(numerals), "number"))


def _condition_lines(found: Sequence[Condition], rounding: float) -> Iterator[Line]:
    """Yield a line per input with its condition number, also in words."""
    yield BLANK
    yield title("condition: what a relative error of an input becomes in the output")
    rows: list[list[Part]] = []
    for each in found:
        more = f"; the largest by one entry is {each.largest:.3g}, "
        more = "" if each.entry == each.name else more + printable(each.entry)
        rows.append(
            [
                ("  " + printable(each.name), "name"),
                (f"  {each.norm:.3g}", "number"),
                (f"  {in_words(each.norm, rounding)}", "plain"),
                (more, "dim"),
            ]
        )
    yield from aligned(rows, 1, "      ")


def in_words(number: float, rounding: float) -> str:
    """Return text on what becomes of a relative error ``rounding`` of an input."""
    if isnan(number):
        return "not known: a value or a gradient is not finite"
    if not isfinite(number):
        return "without bound: the output is 0, or the gradient infinite"
    if not number:
        return "none: the output does not react"
    becomes = f"an error of {rounding:g} becomes {number * rounding:.2g}"
    if number < 1 / SHARP:
        return f"damped to {number:.3g} of it: {becomes}"
    if number < SHARP:
        return f"handed on as it is: {becomes}"
    return f"amplified {number:.3g} times: {becomes}"


def _digit_lines(found: Precisely, view: GradView) -> Iterator[Line]:
    """Yield the output and the gradients with all their digits."""
    yield BLANK
    meant = "decimals mean what is typed: 0.1 is a tenth, not the nearest float"
    yield title(f"with {found.digits} digits ({meant})")
    every: list[tuple[str, Numerals | None]]
    every = [(printable(view.output.name), found.output)]
    every += [(label, found.gradients[name]) for name, label in labels(view).items()]
    rows: list[list[Part]] = []
    for label, numerals in every:
        unsettled = numerals is not None and numerals.unsettled
        rows.append(
            [
                ("  " + label, "name"),
                (" = ", "plain"),
                (_written(numerals), "number"),
                (f"  ({UNSETTLED})" * unsettled, "fair"),
            ]
        )
    yield from aligned(rows, 1)
    for said in (*map(doubt, found.doubtful), *kinked(found)):
        yield Line((f"  {said}", "fair"))


def _written(numerals: Numerals | None) -> str:
    """Return numerals as nested lists on one line; the text "None" for None."""
    return "None" if numerals is None else bracketed(numerals.texts, numerals.shape)


def _range_lines(
    found: Ranges, box: Mapping[str, InputInterval], view: GradView
) -> Iterator[Line]:
    """Yield the value's range, then each gradient's with its sign, then the kinks."""
    yield BLANK
    ends = ", ".join(f"{printable(n)} = {_ends(span)}" for n, span in box.items())
    yield title(f"over the box {ends}")
    rows = [(printable(view.output.name), r, "") for r in found.value]
    shapes, called = {given.name: given.shape for given in view.inputs}, labels(view)
    for name, own in found.gradients.items():
        for entry, each in zip(indices(shapes[name]), own, strict=True):
            rows.append((called[name] + entry, each, _sign(each)))
    drawn: list[list[Part]] = [
        [(f"  {label}", "name"), *_range(each), (sign, "plain")]
        for label, each, sign in rows[:MAX_ROWS]
    ]
    yield from aligned(drawn, 1, "      ")
    if len(rows) > MAX_ROWS:
        yield dim(f"  {len(rows) - MAX_ROWS} more: see --json")
    for word, places in (("kink", found.kinks), ("hole", found.holes)):
        for place in places:
            text = f"{word}: {place.what}: near {_near(place)}"
            yield Line((text, "fair"), hang="  ")
    if not (found.close or found.holes):
        text = "the bounds may be wider than the ranges: work or time ran out"
        yield Line((text, "dim"), hang="  ")


def _ends(span: InputInterval) -> str:
    lower, upper = list(span.lower), list(span.upper)
    if len(lower) == 1:
        return f"{number(lower[0])} .. {number(upper[0])}"
    return f"{inline(lower)} .. {inline(upper)}"


def _range(each: ProvenRange) -> list[Part]:
    """Return the range of the numbers found and how far the bounds lie beyond it; the
    bounds alone if they are not finite or no numbers were found between them."""
    if each.lower > each.upper:
        return [("  no value", "number")]
    if not (isfinite(each.lower) and isfinite(each.upper) and each.least <= each.most):
        return [(f"  [{number(each.lower)}, {number(each.upper)}]", "number")]
    beyond = max(each.least - each.lower, each.upper - each.most, 0.0)
    certified = f", certified to {beyond:.2g}" if beyond else ", certified"
    shown = f"  [{number(each.least)}, {number(each.most)}]"
    return [(shown, "number"), (certified, "dim")]


def _sign(each: ProvenRange) -> str:
    if not each.at:
        return f"  {each.sign}" if each.sign else ""
    return f"  {each.sign}: at " + " and at ".join(map(at_point, each.at))


def _near(place: BoxPlace) -> str:
    parts = []
    for name, (low, high) in place.near.items():
        where = number(low) if low == high else f"{low:.6g} .. {high:.6g}"
        parts.append(f"{printable(name)} = {where}")
    return ", ".join(parts)
