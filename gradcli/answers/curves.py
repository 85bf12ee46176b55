"""Answers of `gradcli plot`: a value and its derivatives over one input or two; curves
of dot characters, and the round numbers of axes.

Invariants: numbers are the engine's, and a place without a value holds NaN. A
derivative is drawn only where there is a value. A column of a curve shows the mean of
the numbers that fall into it, or a point of the line between two numbers; neighbouring
columns are joined, so that no jump leaves a gap. Positive numbers that span two decades
or more are shown by their logarithms, and the heading says so. In a plot, nothing is
joined where numbers are missing or across a pole, and values near a pole are cut off,
as the heading says.

    loss (log scale)
     5.0 ┤⠉⠢⡀
         │  ⠈⠑⠤⣀
    0.02 ┤      ⠉⠒⠒⠤⠤⣀⣀
         └─────────────
         0           40
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, inf, isfinite, isnan, log10, nan
from typing import Annotated, Any, ClassVar, Final, NamedTuple, TypeAlias

import numpy as np

from ..engine.raw import Host
from ..lang.excerpt import printable
from .fields import FLAT, named
from .line import Layout, Line, title
from .numbers import number, six_digits
from .writer import DEFAULT_TERMINAL_COLUMNS

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


ROWS: Final = 8
"""Height of a curve, in characters."""

DOTS_UP: Final = 4
DOTS_ACROSS: Final = 2
EMPTY: Final = 0x2800
"""First sign of the Unicode block of dot patterns; a pattern adds its bits."""

BITS: Final = ((0x40, 0x80), (0x04, 0x20), (0x02, 0x10), (0x01, 0x08))
"""Bits of the dots: from the lowest row up, the left one and the right one."""

DECADES: Final = 2
"""Number of powers of ten that positive numbers span where logarithms are shown."""

MAX_COLUMNS: Final = 100
MIN_COLUMNS: Final = 4
"""Largest and smallest width of a picture, in columns."""

MOST_LINES: Final = 8
RARE: Final = 0.05
"""Fraction of the points that may lie below the lowest power of ten."""

STEEP: Final = 8.0
"""Distance from a curve's middle half at which a pole is cut off, in heights of that
half, so that the rest stays visible."""

NARROW: Final = 0.6
"""Fraction of a pole's number that those two further to either side have at most."""

CROWDED: Final = 0.15
"""Fraction of a curve's height that the numbers not far from its middle half have at
most where logarithms are shown."""

NEAR: Final = 1e-9
"""Fraction of the distance between two places that may be due to rounding."""

MAX_DIGITS: Final = 17
"""Number of digits that tell any two numbers apart."""

PACES: Final = (1.0, 2.0, 2.5, 5.0, 10.0, 20.0)
"""Distances between round numbers, times a power of ten; the last is always enough."""


def ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Return at most ``most`` round numbers from ``low`` to ``high``."""
    span = high - low
    if not (isfinite(span) and span > 0):
        return [low]
    power = 10.0 ** floor(log10(span / most))
    pace = next(p * power for p in PACES if span / (p * power) <= most - 1 + 1e-9)
    first, last = ceil(low / pace - 1e-9), floor(high / pace + 1e-9)
    return [n * pace for n in range(first, last + 1)]


def powers(low: float, high: float, most: int = 7) -> list[float]:
    """Return at most ``most`` round numbers between two positive ones: powers of ten,
    with others between them if they are few, or some of the powers if they are many."""
    exponents = range(floor(log10(low)), ceil(log10(high)) + 1)
    for paces in ((1, 2, 5), (1, 3), (1,)):
        every_one = [float(f"{pace}e{power}") for power in exponents for pace in paces]
        inside = [at for at in every_one if low <= at <= high]
        if len(inside) <= most:
            break
    return inside[:: ceil(len(inside) / most) or 1]


class Scale(NamedTuple):
    """The heights of a curve, which are its numbers or, if they are ``logarithmic``,
    their logarithms to base 10; the ends of their axis; and the heading's remark."""

    heights: Host
    low: float
    high: float
    logarithmic: bool
    remark: str


def scaled(numbers: Host, log: bool = False) -> Scale:
    """Return the scale of a curve. It is logarithmic if that is asked for, or if
    positive numbers span decades and most are small beside that at an end. Else,
    numbers far from the others are cut off beside a pole."""
    infinite = np.pad(np.isinf(numbers), 1)
    # An overflow lasts for several numbers, a pole for one.
    lasting = infinite[1:-1] & (infinite[:-2] | infinite[2:])
    size = np.nan_to_num(np.abs(numbers))
    numbers = np.where(lasting, nan, numbers)
    known = numbers[np.isfinite(numbers)]
    if not known.size:
        return Scale(numbers, 0.0, 1.0, False, "")
    low, high = float(known.min()), float(known.max())
    bottom, top = _far(known)
    cut = not log and _has_pole(numbers, size, bottom, top)
    if low > 0 and not cut and high in known[[0, -1]]:
        crowded = top - bottom < CROWDED * (high - low)
        log |= crowded and log10(high) - log10(low) >= DECADES
    if log and high > 0:
        low = float(known[known > 0].min())
        heights = np.log10(np.where(numbers > 0, numbers, nan))
        return Scale(heights, log10(low), log10(high), True, " (log scale)")
    if not cut:
        return Scale(numbers, low, high, False, "")
    ends = six_digits(np.nanmin(numbers)), six_digits(np.nanmax(numbers))
    remark = f" (cut off; from {ends[0]} to {ends[1]})"
    return Scale(numbers, max(low, bottom), min(high, top), False, remark)


def _far(known: Host) -> tuple[float, float]:
    """Return the numbers beyond which others are far from the middle half."""
    with np.errstate(all="ignore"):
        first, third = (float(q) for q in np.quantile(known, (0.25, 0.75)))
    far = STEEP * (third - first) or inf
    return first - far, third + far


def _has_pole(numbers: Host, size: Host, low: float, high: float) -> bool:
    """Return whether numbers are infinite, change from far below to far above, or are
    far away and of great size for a moment."""
    here = numbers[2:-2]
    narrow = np.maximum(size[:-4], size[4:]) < NARROW * size[2:-2]
    alone = ((here < low) | (here > high)) & narrow
    known = numbers[~np.isnan(numbers)]
    before, after = known[:-1], known[1:]
    across = (np.minimum(before, after) < low) & (np.maximum(before, after) > high)
    return bool(np.isinf(numbers).any() or across.any() or alone.any())


def labels(numbers: Sequence[float]) -> list[str]:
    """Return the numbers with six digits, or as many as tell different ones apart."""
    different = len({*numbers})
    for digits in range(6, MAX_DIGITS + 1):
        found = [f"{number + 0.0:.{digits}g}" for number in numbers]
        if len({*found}) == different:
            break
    return found


def characters(dots: Host) -> list[list[str]]:
    """Return rows of characters from the top, from rows of dots from the bottom."""
    up, across = dots.shape
    cells = dots.reshape(up // DOTS_UP, DOTS_UP, across // DOTS_ACROSS, DOTS_ACROSS)
    codes = EMPTY + (cells * np.array(BITS)[:, None, :]).sum((1, 3))
    return [[" " if c == EMPTY else chr(c) for c in row] for row in codes[::-1]]


def _lines(characters: Iterable[Iterable[str]]) -> list[str]:
    return ["".join(row).rstrip() for row in characters]


def curve(numbers: Sequence[float], name: str, width: int) -> Iterator[Line]:
    """Yield the curve of numbers by steps from 0 on, with its axes; at least two must
    be finite."""
    known = [number for number in numbers if isfinite(number)]
    log = min(known) > 0 and log10(max(known)) - log10(min(known)) >= DECADES
    scale, x = scaled(np.asarray(numbers), log), np.arange(len(numbers))
    yield from _panel(x, scale, name, ["0", str(len(numbers) - 1)], width)


def _panel(
    x: Host, scale: Scale, name: str, ends: Sequence[str], width: int
) -> Iterator[Line]:
    """Yield a curve with its heading and its axes; ``ends`` are the texts of its first
    and its last place."""
    heights, low, high, logarithmic, remark = scale
    least, most = (10**low, 10**high) if logarithmic else (low, high)
    marks = labels([most, least]) if most > least else ["", six_digits(least)]
    columns = _remaining_columns(marks, width)
    yield title(f"{name}{remark}")
    yield from _framed(dotted(x, heights, low, high, columns), columns, marks, ends)


def plotted(view: Curve, layout: Layout, log: str = "") -> Iterator[Line]:
    """Yield curves over the part of an input's range that has values, with their
    kinks; ``log`` names the logarithmic axes."""
    width = layout.width or DEFAULT_TERMINAL_COLUMNS
    (name,), output, drawn = view.inputs, view.output or "", view.drawn()
    (x, value), *_ = drawn
    known = x[~np.isnan(value)]
    headings = output or "value", f"d{output}/d{name}"
    for heading, (at, numbers) in zip(headings, drawn, strict=False):
        if len(known) > 1:
            inside = (at >= known[0]) & (at <= known[-1])
            scale, ends = scaled(numbers, "y" in log), known[[0, -1]].tolist()
            scale = scale._replace(heights=scale.heights[inside])
            places = np.log10(at[inside]) if "x" in log else at[inside]
            yield from _panel(places, scale, heading, labels(ends), width)
    for mark in view.kinks or ():
        kink = f"kink at {printable(name)} = {number(mark.at)}"
        yield Line((kink, "fair"), (f"  {printable(mark.text)}", "plain"))


def _remaining_columns(marks: Sequence[str], width: int) -> int:
    """Return the number of columns that marks at the left leave for a picture."""
    room = width - max(map(len, marks)) - 2
    return max(MIN_COLUMNS, min(MAX_COLUMNS, room))


def _framed(
    picture: Sequence[str], columns: int, marks: Sequence[str], ends: Sequence[str]
) -> Iterator[Line]:
    """Yield the rows of a picture between its axes: ``marks`` stand beside the first
    row and the last one, ``ends`` below the first column and the last one."""
    margin = max(map(len, marks))
    for nr, row in enumerate(picture):
        mark = {0: marks[0], len(picture) - 1: marks[1]}.get(nr, "")
        tick = "┤" if mark else "│"
        yield Line((f"{mark:>{margin}} {tick}", "dim"), (row, "number"), hang="")
    first, last = ends
    pad = " " * (margin + 1)
    yield Line((f"{pad}└{'─' * columns}", "dim"), hang="")
    yield Line((f"{pad}{first}{last.rjust(columns + 1 - len(first))}", "dim"), hang="")


def dotted(x: Host, heights: Host, low: float, high: float, columns: int) -> list[str]:
    """Return the rows of a curve from the top, each a text of dot characters: ``low``
    and ``high`` are the heights of the lowest and the highest dot; NaN leaves a gap."""
    top, across = ROWS * DOTS_UP - 1, columns * DOTS_ACROSS
    half = (high / 2 - low / 2) or 1.0
    with np.errstate(over="ignore"):
        levels = (heights / 2 - low / 2) / half * top
    # Far heights are drawn like those just outside the picture.
    near, share = np.clip(levels, -top, 2.0 * top), (x - x[0]) / (x[-1] - x[0])
    dots = np.zeros((top + 1, across), dtype=np.int64)
    before = None
    for at, place in enumerate(_spread(share, near, across, top)):
        if isnan(place):
            before = None
            continue
        level = round(place)
        if before is None or (max(before, level) > top and min(before, level) < 0):
            before = level
        start = before + (level > before) - (level < before)
        lowest, highest = min(start, level), max(start, level)
        dots[max(0, lowest) : max(0, highest + 1), at] = 1
        before = level
    return _lines(characters(dots))


def _spread(x: Host, levels: Host, count: int, top: int) -> list[float]:
    """Return ``count`` levels from those at places from 0 to 1: means of the ones that
    fall together, or points between them; NaN beside a missing one and across a
    pole."""
    total, even, known = len(x), np.linspace(0, 1, count), ~np.isnan(levels)
    found = np.interp(even, x[known], levels[known])
    found[np.interp(even, x, ~known) > NEAR] = nan
    if total >= count:
        # The number of the last place before each end of a column.
        ends = np.arange(1, count) * total // count
        parts = np.split(levels, np.searchsorted(x, (ends - NEAR) / (total - 1)))
        for at, part in enumerate(parts):
            inside = part[~np.isnan(part)]
            if part.size:
                ok = inside.size and (inside.min() >= 0 or inside.max() <= top)
                found[at] = inside.mean() if ok else nan
    return list(map(float, found))


def levels(values: Host, most: int = MOST_LINES) -> list[float]:
    """Return the values that lines are drawn at: few, with few digits. Of values that
    are nowhere negative and span two decades or more these are `powers`."""
    low, high = float(values.min(initial=inf)), float(values.max(initial=-inf))
    if not high > low:
        return []
    if high - low == inf:
        return [low / 2, 0.0, high / 2]
    # Decades with very few points get no lines of their own.
    least = float(np.quantile(values, RARE, method="lower"))
    if low < 0 or least <= 0 or log10(high) - log10(least) < DECADES:
        bottom, top = _far(values)
        round_ones = ticks(max(low, bottom), min(high, top), most + 2)
        found = (float(f"{at:.12g}") for at in round_ones)
        return [at + 0.0 for at in found if low < at < high]
    return [at for at in powers(least, high, most) if least < at < high]
