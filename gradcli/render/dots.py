"""Pictures of dot characters: curves, lines of equal value, patterns of matrices; and
the round numbers of their axes.

Invariants: a column of a curve shows the mean of the numbers that fall into it, or a
point of the line between two numbers; neighbouring columns are joined, so that no jump
leaves a gap. Positive numbers that span two decades or more are shown by their
logarithms, and the heading says so. In a plot, nothing is joined where numbers are
missing or across a pole, and far values are cut off, as the heading says. In a picture
of a matrix a dot stands for at least one stored entry, and every stored entry has one.

    loss (log scale)
     5.0 ┤⠉⠢⡀
         │  ⠈⠑⠤⣀
    0.02 ┤      ⠉⠒⠒⠤⠤⣀⣀
         └─────────────
         0           40
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import atan2, ceil, floor, inf, isfinite, isnan, log10, nan, pi
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..answers.plot import Curve, Field
from ..engine.raw import Host
from ..lang.excerpt import printable
from .line import Layout, Line, dim, title
from .numbers import number, six_digits
from .writer import DEFAULT_TERMINAL_COLUMNS

if TYPE_CHECKING:
    from ..answers.plot import Surface
    from ..views.pattern import Pattern

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

MAX_SPY_ROWS: Final = 24
"""Largest number of lines of a picture of a matrix."""

MOST_LINES: Final = 8
MOST_ROWS: Final = 20
LEAST_ROWS: Final = 6
COLUMNS_A_ROW: Final = 3
"""Columns per row of a picture of contours, which is a little wider than high."""

ARROW_COLUMNS: Final = 7
ARROW_ROWS: Final = 3
"""Distance from one arrow to the next, in cells."""

ASPECT: Final = 2.0
"""Height of a character, in widths of one."""

ARROWS: Final = "⇒⇗⇑⇖⇐⇙⇓⇘"
"""Arrows by eighths of a turn, counted from the right towards the top."""

LEVEL: Final = "○"
"""Sign of a place where the value is level."""

FLAT: Final = 1e-6
"""Fraction of the steepest slope below which a place counts as level."""

RARE: Final = 0.05
"""Fraction of the points that may lie below the lowest power of ten."""

STEEP: Final = 8.0
"""Distance from a curve's middle half at which the curve is cut off, in heights of that
half, so that beside a pole the rest stays visible."""

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


def reach(numbers: Iterable[float]) -> tuple[float, float]:
    """Return the ends of an axis for these numbers, poles cut off; 0 and 1 if none is
    finite."""
    known = sorted(filter(isfinite, numbers))
    if not known:
        return 0.0, 1.0
    low, high = known[0], known[-1]
    first, third = _quantile(known, 0.25), _quantile(known, 0.75)
    middle = third - first
    if middle > 0:
        low = max(low, first - STEEP * middle)
        high = min(high, third + STEEP * middle)
    return low, high


def _quantile(known: Sequence[float], share: float) -> float:
    place = share * (len(known) - 1)
    at = int(place)
    part = place - at
    after = known[min(at + 1, len(known) - 1)]
    return known[at] * (1 - part) + after * part


def labels(numbers: Sequence[float]) -> list[str]:
    """Return the numbers with six digits, or as many as tell different ones apart."""
    different = len({*numbers})
    for digits in range(6, MAX_DIGITS + 1):
        found = [f"{number + 0.0:.{digits}g}" for number in numbers]
        if len({*found}) == different:
            break
    return found


def _characters(dots: Host) -> list[list[str]]:
    """Return rows of characters from the top, from rows of dots from the bottom."""
    up, across = dots.shape
    cells = dots.reshape(up // DOTS_UP, DOTS_UP, across // DOTS_ACROSS, DOTS_ACROSS)
    codes = EMPTY + (cells * np.array(BITS)[:, None, :]).sum((1, 3))
    return [[" " if c == EMPTY else chr(c) for c in row] for row in codes[::-1]]


def _lines(characters: Iterable[Iterable[str]]) -> list[str]:
    return ["".join(row).rstrip() for row in characters]


def curve(
    numbers: Sequence[float],
    name: str,
    width: int,
    ends: tuple[str, str] | None = None,
) -> Iterator[Line]:
    """Yield the curve with its axes; at least two numbers must be finite. In a plot
    some may be NaN, and ``ends`` are the texts of the first and the last place; if
    None, these are steps from 0 on."""
    known = [number for number in numbers if isfinite(number)]
    low, high = least, most = min(known), max(known)
    if ends is not None:
        low, high = reach(numbers)
    decades = low > 0 and log10(high) - log10(low) >= DECADES
    logarithmic = decades and ends is None
    heights = [log10(n) for n in numbers] if logarithmic else numbers
    marks = labels([high, low]) if high > low else ["", six_digits(low)]
    columns = _room_beside(marks, width)
    scale = " (log scale)" if logarithmic else ""
    if (low, high) != (least, most):
        scale = f" (cut off; from {six_digits(least)} to {six_digits(most)})"
    yield title(f"{name}{scale}")
    limits = None if logarithmic else (low, high)
    picture = dotted(heights, columns, ROWS, limits)
    yield from _framed(picture, columns, marks, ends or ("0", str(len(numbers) - 1)))


def plotted(view: Curve | Field, layout: Layout) -> Iterator[Line]:
    """Yield a plot: curves over one input with their kinks, or lines of equal value."""
    width = layout.width or DEFAULT_TERMINAL_COLUMNS
    if isinstance(view, Field):
        known_at_all = np.isfinite(view.surface.value).any()
        yield from contours(view.surface, width) if known_at_all else ()
        return
    (name,) = view.inputs
    heights = {"value": view.value}
    if view.slope is not None:
        heights[f"d/d{name}"] = view.slope
    # A derivative is drawn only where there is a value.
    finite = np.logical_and.reduce([np.isfinite(h) for h in heights.values()])
    (known,) = np.nonzero(finite)
    for label, numbers in heights.items() if len(known) > 1 else ():
        inside = slice(known[0], known[-1] + 1)
        shown = np.where(finite, numbers, np.nan)[inside]
        first, last = labels(view.x[known[[0, -1]]].tolist())
        yield from curve(shown.tolist(), label, width, (first, last))
    for mark in view.kinks or ():
        kink = f"kink at {printable(name)} = {number(mark.at)}"
        yield Line((kink, "fair"), (f"  {printable(mark.text)}", "plain"))


def _room_beside(marks: Sequence[str], width: int) -> int:
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


def dotted(
    heights: Sequence[float],
    columns: int,
    rows: int,
    limits: tuple[float, float] | None = None,
) -> list[str]:
    """Return the rows of a curve from the top, each a text of dot characters; NaN
    leaves a gap. ``limits`` are the heights of the lowest and the highest dot, those of
    the numbers if None."""
    top, across = rows * DOTS_UP - 1, columns * DOTS_ACROSS
    levels = _levels(_spread(heights, across, limits), top, limits)
    dots = np.zeros((top + 1, across), dtype=np.int64)
    before = None
    for x, level in enumerate(levels):
        if level is None:
            before = None
            continue
        if before is None or (max(before, level) > top and min(before, level) < 0):
            before = level
        start = before + (level > before) - (level < before)
        lowest, highest = min(start, level), max(start, level)
        dots[max(0, lowest) : max(0, highest + 1), x] = 1
        before = level
    return _lines(_characters(dots))


def _spread(
    heights: Sequence[float], count: int, limits: tuple[float, float] | None
) -> Iterable[float]:
    """Return ``count`` heights: means of those that fall together, or points
    between."""
    total = len(heights)
    if total < count:
        return [_at(heights, i * (total - 1) / (count - 1)) for i in range(count)]
    bounds = [i * total // count for i in range(count + 1)]
    return [_mean(heights[start:end], limits) for start, end in pairwise(bounds)]


def _at(heights: Sequence[float], x: float) -> float:
    """Return the height at a point that may lie between two of them."""
    at = int(x)
    after = heights[min(at + 1, len(heights) - 1)]
    return heights[at] * (at + 1 - x) + after * (x - at)


def _mean(part: Sequence[float], limits: tuple[float, float] | None) -> float:
    """Return the mean of the finite heights; NaN without any, and across a pole."""
    known = [height for height in part if isfinite(height)]
    low, high = limits or (-inf, inf)
    if not known or (min(known) < low and max(known) > high):
        return nan
    return sum(height / len(known) for height in known)


def _levels(
    heights: Iterable[float], top: int, limits: tuple[float, float] | None
) -> list[int | None]:
    """Return each height as an integer from 0, the lowest, to ``top``, the highest, or
    as one outside that range; None for NaN."""
    known = [height for height in heights if isfinite(height)]
    low, high = limits or (min(known), max(known))
    half = (high / 2 - low / 2) or 1.0
    places = [(h / 2 - low / 2) / half * top for h in heights]
    # Far values are drawn like those just outside the picture.
    return [
        None if isnan(at) else round(min(max(at, -top), 2.0 * top)) for at in places
    ]


def contours(surface: Surface, width: int) -> Iterator[Line]:
    """Yield a value over two inputs as lines of equal value, with arrows that point
    uphill, perpendicular to the lines as they are drawn; each input needs at least two
    values, and places without a finite value stay blank.

    value
      2 ┤ ⇖  ⠑⠢⡀ ⇗
        │     ⠈⠢⡀
      0 ┤ ⇐       ⇒
        └──────────
        -1        1
    x across, y up, arrows uphill
    lines at 0.5, 1, 1.5; from 0 to 2
    """
    known = surface.value[np.isfinite(surface.value)]
    lines = levels(known)
    ends = [six_digits(float(v)) for v in (surface.y[-1], surface.y[0])]
    columns = _room_beside(ends, width)
    rows = max(LEAST_ROWS, min(MOST_ROWS, columns // COLUMNS_A_ROW))
    yield title("value")
    across = [six_digits(float(v)) for v in (surface.x[0], surface.x[-1])]
    picture = _lines(_picture(surface, lines, columns, rows))
    yield from _framed(picture, columns, ends, across)
    first, second = surface.inputs
    yield dim(f"{first} across, {second} up, arrows uphill")
    listed = ", ".join(map(six_digits, lines))
    low, high = six_digits(float(known.min())), six_digits(float(known.max()))
    text = f"lines at {listed}" if lines else "no lines"
    yield dim(f"{text}; from {low} to {high}")


def levels(values: Host) -> list[float]:
    """Return the values that lines are drawn at: few, with few digits. Of values that
    are nowhere negative and span two decades or more these are powers of ten, with
    threes between them if they are few; of many powers some are left out."""
    low, high = float(values.min()), float(values.max())
    if not high > low:
        return []
    if high - low == inf:
        return [low / 2, 0.0, high / 2]
    # Decades with very few points get no lines of their own.
    least = float(np.quantile(values, RARE, method="lower"))
    if low < 0 or least <= 0 or log10(high) - log10(least) < DECADES:
        found = (float(f"{at:.12g}") for at in ticks(low, high, MOST_LINES + 2))
        return [at + 0.0 for at in found if low < at < high]
    exponents = range(floor(log10(least)), ceil(log10(high)) + 1)
    for paces in ((1, 3), (1,)):
        powers = [pace * 10.0**e for e in exponents for pace in paces]
        inside = [at for at in powers if least < at < high]
        if len(inside) <= MOST_LINES:
            break
    return inside[:: ceil(len(inside) / MOST_LINES) or 1]


def _picture(
    surface: Surface, lines: Sequence[float], columns: int, rows: int
) -> list[list[str]]:
    """Return the rows of characters from the top."""
    up, across = rows * DOTS_UP, columns * DOTS_ACROSS
    heights = _resized(surface.value, up + 1, across + 1)
    known = np.isfinite(heights)
    dots = np.zeros((up, across), dtype=bool)
    on_line: list[list[tuple[int, int]]] = []
    with np.errstate(all="ignore"):
        for at in lines:
            above = heights >= at
            edge = (above[:-1, :-1] != above[1:, :-1]) & known[1:, :-1]
            edge |= (above[:-1, :-1] != above[:-1, 1:]) & known[:-1, 1:]
            edge &= known[:-1, :-1]
            dots |= edge
            places = np.argwhere(edge) // (DOTS_UP, DOTS_ACROSS)
            on_line.append([(rows - 1 - row, cell) for row, cell in places.tolist()])
    drawn = _characters(dots)
    taken = _put_arrows(drawn, surface)
    _put_labels(drawn, lines, on_line, taken)
    return drawn


def _resized(values: Host, rows: int, columns: int) -> Host:
    """Return a matrix of another size by linear interpolation."""
    for axis, size in ((0, rows), (1, columns)):
        place = np.linspace(0, values.shape[axis] - 1, size)
        lower = np.minimum(place.astype(int), values.shape[axis] - 2)
        share = place - lower if axis else (place - lower)[:, np.newaxis]
        before, after = values.take(lower, axis), values.take(lower + 1, axis)
        with np.errstate(all="ignore"):
            # A neighbour of weight 0 may be NaN, so it is not added.
            mixed = before * (1 - share) + after * share
        values = np.where(share == 0, before, np.where(share == 1, after, mixed))
    return values


def _put_arrows(drawn: list[list[str]], surface: Surface) -> set[tuple[int, int]]:
    """Put arrows at regular cells, and return where they are."""
    rows, columns = len(drawn), len(drawn[0])
    # The slope on the screen is the change per cell, not per unit of an input.
    wide = float(surface.x[-1] - surface.x[0]) / columns
    high = float(surface.y[-1] - surface.y[0]) / rows
    sizes = (wide, high / ASPECT)
    with np.errstate(all="ignore"):
        east, north = (
            _resized(slope, rows, columns)[::-1] * size
            for slope, size in zip(surface.slopes, sizes, strict=True)
        )
    known = np.isfinite(_resized(surface.value, rows, columns))[::-1]
    known &= np.isfinite(east) & np.isfinite(north)
    steep = float(np.hypot(east, north)[known].max(initial=0.0))
    taken = set()
    for row in range(ARROW_ROWS // 2, rows, ARROW_ROWS):
        for column in range(ARROW_COLUMNS // 2, columns, ARROW_COLUMNS):
            if known[row, column]:
                e, n = float(east[row, column]), float(north[row, column])
                eighth = round(atan2(n, e) / (pi / 4))
                level = abs(e) + abs(n) <= FLAT * steep or not steep
                drawn[row][column] = LEVEL if level else ARROWS[eighth % len(ARROWS)]
                taken.add((row, column))
    return taken


def _put_labels(
    drawn: list[list[str]],
    lines: Sequence[float],
    on_line: Sequence[Sequence[tuple[int, int]]],
    taken: set[tuple[int, int]],
) -> None:
    """Write each line's value on it, as near to the middle of its places as there is
    room."""
    columns = len(drawn[0])
    for at, places in zip(lines, on_line, strict=True):
        text = six_digits(at)
        middle = len(places) // 2
        for nr in sorted(range(len(places)), key=lambda k: abs(k - middle)):
            row, cell = places[nr]
            start = min(max(0, cell - len(text) // 2), columns - len(text))
            spots = {(row, start + k) for k in range(-1, len(text) + 1)}
            if start >= 0 and not spots & taken:
                drawn[row][start : start + len(text)] = text
                taken |= spots
                break


def spy(
    pattern: Pattern, colours: int, layout: Layout, indent: str = ""
) -> Iterator[Line]:
    """Yield how many colours the columns of a matrix need, and its picture.

    4 colours of columns
    │⠳⣄  │
    │ ⠈⠳⣄│
    """
    what = "1 colour" if colours == 1 else f"{colours:,} colours"
    yield dim(f"{indent}{what} of columns")
    room = (layout.width or DEFAULT_TERMINAL_COLUMNS) - len(indent) - len("││")
    for row in matrix(pattern, min(MAX_COLUMNS, max(1, room)), MAX_SPY_ROWS):
        yield Line((f"{indent}│", "dim"), (row, "number"), ("│", "dim"), hang="")


def matrix(pattern: Pattern, columns: int, rows: int) -> list[str]:
    """Return the lines of a picture of at most that many columns and rows, with the
    proportions of the matrix as far as there is room."""
    from ..views.pattern import dots_of

    height, width = pattern.shape
    if not height or not width:
        return []
    scale = min(1.0, columns * DOTS_ACROSS / width, rows * DOTS_UP / height)
    up, across = (max(1, int(side * scale)) for side in (height, width))
    down, along = -(-up // DOTS_UP), -(-across // DOTS_ACROSS)
    dots: Any = np.zeros((down * DOTS_UP, along * DOTS_ACROSS), dtype=np.int64)
    dots[:up, :across] = dots_of(pattern, up, across)
    return ["".join(row) for row in _characters(dots[::-1])]
