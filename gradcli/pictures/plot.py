"""A curve with its derivative, or a field with its gradients, as SVG.

Invariant: only finite values are drawn, and no line goes across a pole.

    "\\n".join(plot(curve))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import log10
from typing import TYPE_CHECKING, Final

import numpy as np

from ..answers.curves import Curve, Field, Scale, Surface, labels, powers, scaled, ticks
from ..answers.curves import levels as round_levels
from ..answers.html import begun, program_title, sheet
from ..answers.line import Theme
from ..answers.numbers import number, six_digits
from .scene import CHARACTER
from .svg import SHRINKS, TIP, escaped, opened, text_at

if TYPE_CHECKING:
    from ..engine.raw import Host

WIDTH: Final = 720.0
PANEL: Final = 250.0
LEFT: Final = 84.0
RIGHT: Final = 24.0
TOP: Final = 58.0
BETWEEN: Final = 46.0
BELOW: Final = 52.0
SIDE: Final = 560.0
"""Length of a field's longer side, in units of the picture."""

GAP: Final = 8.0
"""Distance between a number and its axis, in units of the picture."""

MAX_TITLE: Final = 84
MAX_NOTE: Final = 40
"""Largest length of a note in the right half, in characters."""

ROOM: Final = 0.06
"""Fraction of the height that is free above and below a curve."""

ARROWS: Final = 15
"""Number of arrows along each side of a field."""

LEVELS: Final = 11
"""Largest number of lines of equal value."""

COLOURS: Final = (
    "#2b4fa8", "#2f6fc0", "#2e8fc0", "#219f9f", "#37a071", "#689d3e", "#989125",
    "#c18326", "#dd6f2b", "#d54a33", "#b92c4a",
)  # fmt: skip
"""Colours of lines on a white ground, from the lowest to the highest."""

ON_DARK: Final = (
    "#607bbe", "#447dc6", "#2e8fc0", "#22a6a6", "#3cb07c", "#76b247", "#b3ab2c",
    "#d6922a", "#dd6f2b", "#d64e37", "#c7566e",
)  # fmt: skip
"""Colours of lines on a dark ground, from the lowest to the highest."""

GREYS: Final = tuple(
    f"#{shade:02x}{shade:02x}{shade:02x}" for shade in range(160, -1, -16)
)


@dataclass(frozen=True, slots=True)
class Axis:
    """Numbers from ``low`` to ``high`` at places from ``start`` to ``end``; those of a
    ``logarithmic`` axis are logarithms to base 10."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def at(self, number: float) -> float:
        """Return the place of a number on the axis."""
        share = (number - self.low) / ((self.high - self.low) or 1.0)
        return self.start + share * (self.end - self.start)

    def labelled(self) -> Iterator[tuple[float, str]]:
        """Return round numbers on the axis with their texts."""
        if not self.logarithmic:
            found = ticks(self.low, self.high)
            return zip(found, labels(found), strict=True)
        low, high = 10**self.low, 10**self.high
        found = powers(low, high) or ticks(low, high)
        return zip(map(log10, found), labels(found), strict=True)


def height_axis(scale: Scale, start: float, end: float) -> Axis:
    """Return the axis of a curve's heights, with some room beside them."""
    span = (scale.high - scale.low) or abs(scale.high) or 1.0
    low, high = scale.low - ROOM * span, scale.high + ROOM * span
    return Axis(low, high, start, end, scale.logarithmic)


def plot(view: Curve | Field, theme: Theme = "auto", log: str = "") -> Iterator[str]:
    """Yield the lines of a document, the axes named in ``log``, "x" or "y", of a curve
    logarithmic."""
    return _curve(view, theme, log) if isinstance(view, Curve) else _field(view, theme)


def page(view: Curve | Field, theme: Theme = "auto", log: str = "") -> Iterator[str]:
    """Yield the lines of a page that shows the plot."""
    picture = "\n".join(plot(view, theme, log))
    # A page allows one style sheet, and no styles of elements.
    head, _, rest = picture.partition("<style>")
    styles, _, drawn = rest.partition("</style>")
    head = head.replace(f' style="{SHRINKS}"', "")
    title = escaped(f"Plot of {program_title(view.program, MAX_TITLE)}")
    yield from begun(title, f"body{{margin:0}}svg{{{SHRINKS}}}{styles}")
    yield f"<main>{head}{drawn}</main></body></html>"


def _opened(width: float, height: float, title: str, theme: Theme) -> Iterator[str]:
    colours = [
        "".join(f".l{nr}{{stroke:{colour}}}" for nr, colour in enumerate(each))
        for each in (COLOURS, ON_DARK, GREYS)
    ]
    shown = program_title(title, MAX_TITLE)
    named = f"Plot of {shown}"
    yield from opened(width, height, named, sheet("plot", theme, colours))
    yield f'<text class="name" x="{LEFT}" y="24">{escaped(shown)}</text>'


def _curve(view: Curve, theme: Theme, log: str) -> Iterator[str]:
    name, (moved,) = view.output or "", view.inputs
    by_x = np.log10 if "x" in log else np.positive
    kinds = (name or "value", ""), (f"d{name}/d{moved}", " slope")
    panels = [
        (label, by_x(x), scaled(numbers, "y" in log), kind)
        for (label, kind), (x, numbers) in zip(kinds, view.drawn(), strict=False)
    ]
    height = TOP + len(panels) * PANEL + (len(panels) - 1) * BETWEEN + BELOW
    yield from _opened(WIDTH, height, view.program, theme)
    room = [
        len(label)
        for _, _, scale, _ in panels
        for _, label in height_axis(scale, 0.0, 1.0).labelled()
    ]
    left = max(LEFT, max(room) * CHARACTER + 2 * GAP)
    first, last = (float(by_x(x)) for x in (view.x[0], view.x[-1]))
    across = Axis(first, last, left, WIDTH - RIGHT, "x" in log)
    middle, foot, kinks = (left + WIDTH - RIGHT) / 2, height - 12, view.kinks or ()
    breaks = [float(by_x(mark.at)) for mark in kinks]
    # A curve does not jump where it ends.
    ends = by_x(np.hstack([view.edges[:, 0], view.x[[0, -1]]]))
    jumps = [place for place in breaks if not np.isclose(place, ends).any()]
    for nr, (label, x_here, scale, kind) in enumerate(panels):
        top = TOP + nr * (PANEL + BETWEEN)
        up = height_axis(scale, top + PANEL, top)
        said = label + scale.remark
        yield f'<text class="name" x="{left}" y="{top - 8:.1f}">{escaped(said)}</text>'
        yield from _grid(across, up)
        for mark, place in zip(kinks, breaks, strict=True):
            x = across.at(place)
            yield (
                f'<g class="mark"><title>{escaped(f"kink at {number(mark.at)}: ")}'
                f"{escaped(mark.text)}</title>"
                f'<line class="kink" x1="{x:.1f}" y1="{top:.1f}" x2="{x:.1f}" '
                f'y2="{top + PANEL:.1f}"/></g>'
            )
        yield (
            f'<clipPath id="panel{nr}"><rect x="{left}" y="{top}" '
            f'width="{WIDTH - left - RIGHT}" height="{PANEL}"/></clipPath>'
        )
        pieces = list(stretches(x_here, scale.heights, up, jumps))
        if not pieces:
            yield text_at(middle, top + PANEL / 2, "middle", "nothing finite to draw")
        for stretch in pieces:
            yield (
                f'<polyline class="curve{kind}" clip-path="url(#panel{nr})" '
                f'points="{_points(stretch, across, up)}"/>'
            )
    up = height_axis(panels[0][2], TOP + PANEL, TOP)
    for mark, place in zip(kinks, breaks, strict=True):
        at = np.log10(mark.value) if up.logarithmic else mark.value
        if up.low <= at <= up.high:
            dot = f'cx="{across.at(place):.1f}" cy="{up.at(at):.1f}"'
            yield f'<circle class="dot" {dot} r="3.5"/>'
    yield text_at(middle, foot, "middle", moved + " (log scale)" * ("x" in log))
    if kinks:
        told = [f"{mark.at:.6g}" for mark in kinks]
        shown = f"no derivative at {', '.join(told)}"
        while len(shown) > MAX_NOTE:
            told.pop()
            shown = f"no derivative at {', '.join(told)}, …"
        yield text_at(WIDTH - RIGHT, foot, "end", shown)
    yield "</svg>"


def _points(line: Iterable[Iterable[float]], across: Axis, up: Axis) -> str:
    return " ".join(f"{across.at(x):.2f},{up.at(y):.2f}" for x, y in line)


def stretches(
    x: Host, y: Host, up: Axis, breaks: Sequence[float] = ()
) -> Iterator[Host]:
    """Yield the points of the pieces of a curve that are drawn without a gap.

    A piece ends where a number is missing, where the curve leaves the picture on one
    side and is back on the other, as at a pole, and at a break where it jumps by far
    more than it usually changes.
    """
    span, before, after = up.high - up.low, y[:-1], y[1:]
    with np.errstate(all="ignore"):
        steps = np.abs(after - before)
    usual = np.median(steps[np.isfinite(steps)]) if np.isfinite(steps).any() else 0.0
    above, below = np.maximum(before, after), np.minimum(before, after)
    across = (above > up.high) & (below < up.low)
    beside = [(x[:-1] <= at) & (at <= x[1:]) for at in breaks]
    far = (steps > 10 * usual + 1e-12) & np.any(beside, axis=0)
    # A number that is infinite, with others on both sides, ends a piece.
    pole = np.isinf(before) & np.append(False, ~np.isnan(before[:-1]))
    (ends,) = np.nonzero(np.isnan(steps) | across | far | pole)
    shown = np.stack([x, np.clip(y, up.low - span, up.high + span)], axis=1)
    for piece in np.split(shown, ends + 1):
        known = piece[~np.isnan(piece[:, 1])]
        if len(known) > 1:
            yield known


def _grid(across: Axis, up: Axis) -> Iterator[str]:
    left, right = across.start, across.end
    bottom, top = up.start, up.end
    for tick, label in across.labelled():
        x = across.at(tick)
        kind = "zero" if label == "0" else "grid"
        ends = f'x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}"'
        yield f'<line class="{kind}" {ends}/>'
        wide = len(label) * CHARACTER / 2 > RIGHT and x == right
        yield text_at(x, bottom + 17, "end" if wide else "middle", label)
    for tick, label in up.labelled():
        y = up.at(tick)
        kind = "zero" if label == "0" else "grid"
        ends = f'x1="{left}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"'
        yield f'<line class="{kind}" {ends}/>'
        yield text_at(left - GAP, y + 4, "end", label)
    yield (
        f'<rect class="frame" x="{left}" y="{top}" width="{right - left:.1f}" '
        f'height="{bottom - top:.1f}"/>'
    )


def _field(view: Field, theme: Theme) -> Iterator[str]:
    width, height = LEFT + SIDE + RIGHT, TOP + SIDE + BELOW
    yield from _opened(width, height, view.program, theme)
    found = view.surface
    across = Axis(float(found.x[0]), float(found.x[-1]), LEFT, LEFT + SIDE)
    up = Axis(float(found.y[0]), float(found.y[-1]), TOP + SIDE, TOP)
    yield TIP.format(7)
    yield from _grid(across, up)
    named: list[str] = []
    for nr, level, lines in levels(found):
        for line in lines:
            points = _points(line, across, up)
            yield f'<polyline class="level l{nr}" points="{points}"/>'
        longest = max(lines, key=len)
        x, y = longest[len(longest) // 2]
        label = six_digits(level + 0.0)
        at = across.at(x), up.at(y) + 4
        named += [text_at(*at, "middle", label, "halo"), text_at(*at, "middle", label)]
    yield from _arrows(found, across, up)
    yield from named
    yield text_at(LEFT + SIDE / 2, height - 12, "middle", found.inputs[0])
    yield text_at(LEFT, TOP - 10, "start", found.inputs[1])
    yield text_at(LEFT + SIDE, TOP - 10, "end", _caption(view))
    yield "</svg>"


def _caption(view: Field) -> str:
    """Return the note above a field's right end, on what it shows."""
    value = view.surface.value
    known = value[np.isfinite(value)]
    if not known.size:
        return "nothing finite to draw"
    if known.min() == known.max():
        return f"{view.output or 'value'} is {six_digits(float(known[0]))} everywhere"
    arrows = ", arrows uphill" * bool(np.isfinite(view.surface.slopes).all(0).any())
    return f"lines of equal {view.output or 'value'}{arrows}"


def levels(view: Surface) -> Iterator[tuple[int, float, list[Host]]]:
    """Yield, for each level, its colour's number, its value and its lines' points."""
    from contourpy import contour_generator

    known = np.ma.masked_invalid(view.value)
    found = contour_generator(view.x, view.y, known)
    shown = []
    for level in round_levels(view.value[np.isfinite(view.value)], LEVELS):
        lines = [line for line in found.lines(level) if np.ptp(line, axis=0).any()]
        shown += [(level, lines)] if lines else []
    for nr, (level, lines) in enumerate(shown):
        share = nr / max(1, len(shown) - 1)
        yield round(share * (len(COLOURS) - 1)), level, lines


def _arrows(view: Surface, across: Axis, up: Axis) -> Iterator[str]:
    """Yield arrows that point uphill in the picture, longer where it is steeper."""
    pace = SIDE / ARROWS
    places = [
        np.unique(np.linspace(0, len(ends) - 1, ARROWS + 2)[1:-1].round().astype(int))
        for ends in (view.x, view.y)
    ]
    rows, columns = np.meshgrid(places[1], places[0], indexing="ij")
    scale = (across.high - across.low) / (up.high - up.low)
    # The direction is that of the gradient by places in the picture, not by inputs.
    by_across, by_up = view.drawn()
    right = by_across[rows, columns]
    above = by_up[rows, columns] / scale
    sizes = np.hypot(right, above)
    usable = np.isfinite(sizes) & (sizes > 0)
    if not usable.any():
        return
    steepest = float(np.quantile(sizes[usable], 0.95))
    flat = (a.ravel() for a in (rows, columns, right, above, sizes, usable))
    for row, column, dx, dy, size, ok in zip(*flat, strict=True):
        if not ok or size < 1e-3 * steepest:
            continue
        length = 0.8 * pace * max(0.25, min(1.0, size / steepest) ** 0.5) / 2
        x, y = across.at(view.x[column]), up.at(view.y[row])
        ax, ay = length * dx / size, -length * dy / size
        yield (
            f'<line class="arrow" x1="{x - ax:.1f}" y1="{y - ay:.1f}" '
            f'x2="{x + ax:.1f}" y2="{y + ay:.1f}" marker-end="url(#tip)"/>'
        )
