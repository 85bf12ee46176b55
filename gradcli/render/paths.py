"""The chain rule path by path, as text.

dL/da = -1.125  2 paths

1  L → d → b → a
   RsubBackward1 → AddBackward0 → MulBackward0 → MulBackward0 → AccumulateGrad
   -1 * w3 * w1 = -1.0 * 1.0 * 3.0 * 0.5 = -1.5  (133.3 % of the sum)

Invariant: equal neighbours are written once with their count. Long rows are shortened
only in a terminal, and a line then says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import groupby
from math import isfinite, log10

from ..answers.paths import Cancellation, PathsAnswer, PathsView, PathView
from ..lang.excerpt import printable
from .line import BLANK, Layout, Line, Part
from .numbers import (
    ELLIPSIS,
    SHORTENED,
    array_lines,
    count_text,
    inline,
    number,
    value_lines,
)

MAX_TERMINAL_RUNS = 12
"""Largest number of parts of a path or a product, single or counted, that a terminal
shows."""

MIN_COUNTED_NEIGHBOURS = 4
"""Smallest number of equal neighbours that are counted rather than written out."""

MAX_FACTORS_CHARACTERS = 60
"""Largest length of a product of arrays that is written out, in characters."""

MAX_COUNT_DIGITS = 24
"""Largest number of digits of a count that a terminal shows."""

ARROW = " → "

OUT_OF_RANGE = "beyond the range of numbers it matters in which order terms are added"

LISTED = {"exact": "the heaviest", "estimated": "those that seem heaviest"}


def listing(answer: PathsAnswer, layout: Layout) -> Iterator[Line]:
    """Yield every target with its paths, their sum, and remarks on it."""
    for nr, target in enumerate(answer.targets):
        if nr:
            yield BLANK
        yield from _target(answer, target, layout)
    if layout.cut:
        yield BLANK
        yield SHORTENED


def _target(answer: PathsAnswer, target: PathsView, layout: Layout) -> Iterator[Line]:
    label = f"d{printable(answer.derived)}/d{printable(target.to)}"
    if not target.count:
        start, end = printable(answer.start), printable(target.to)
        note = f"no path leads from {start} to {end}"
        yield from value_lines(label, None, layout, note)
        return
    shown = count_text(target.count)
    if layout.rows is not None and len(shown) > MAX_COUNT_DIGITS:
        shown = "about " + f"{Decimal(target.count):.3e}".replace("e+", "e")
        layout.cut = True
    paths = "path" if target.count == 1 else "paths"
    yield from value_lines(label, target.gradient, layout, f"{shown} {paths}")
    width = len(str(len(target.paths)))
    for nr, path in enumerate(target.paths, 1):
        yield BLANK
        yield from _path(path, str(nr).rjust(width), target.count == 1, layout)
    yield BLANK
    yield from _sum(answer, target, label)


def _path(path: PathView, nr: str, only: bool, layout: Layout) -> Iterator[Line]:
    """Yield the names, the nodes, and ``formula = factors = product  (note)``; an array
    has its own lines."""
    indent = " " * (len(nr) + 2)
    hang = indent + "  "
    names = _runs(path.variables, ARROW, layout)
    nodes = _runs(path.nodes, ARROW, layout)
    yield Line((nr, "dim"), ("  ", "plain"), (names, "name"), hang=hang)
    yield Line((indent, "plain"), (nodes, "node"), hang=hang)
    known = [printable(path.formula or ""), _factors(path, layout)]
    before = indent + "".join(f"{text} = " for text in known if text)
    shown = path.share is not None and not only
    notes = [f"{100 * (path.share or 0):.4g} % of the sum"] if shown else []
    notes += [] if path.elementwise else ["pushed along the path, not elementwise"]
    tail: list[Part] = [(f"  ({', '.join(notes)})", "dim")] if notes else []
    if not isinstance(path.product, list):
        result = number(path.product)
        yield Line((before, "plain"), (result, "number"), *tail, hang=hang)
        return
    if any(known):
        yield Line((before.removesuffix(" = "), "plain"), hang=hang)
    yield from array_lines(path.product, indent, layout, tail, hang)


def _factors(path: PathView, layout: Layout) -> str:
    """Return the local gradients as a product; empty if they are not short."""
    partials = path.local_gradients
    if len(partials) < 2 or not path.elementwise:
        return ""
    texts = [inline(p) for p in partials if p is not None]
    arrays = any(isinstance(p, list) for p in partials)
    if arrays and sum(map(len, texts)) > MAX_FACTORS_CHARACTERS:
        return ""
    return _runs(texts, " * ", layout, "**")


def _runs(texts: Sequence[str], between: str, layout: Layout, power: str = " ×") -> str:
    """Return texts joined, equal neighbours counted; of many the middle is left out."""
    parts: list[str] = []
    for text, same in groupby(map(printable, texts)):
        times = sum(1 for _ in same)
        few = times < MIN_COUNTED_NEIGHBOURS
        parts += [text] * times if few else [f"{text}{power}{times}"]
    if layout.rows is not None and len(parts) > MAX_TERMINAL_RUNS:
        layout.cut = True
        half = MAX_TERMINAL_RUNS // 2
        parts = [*parts[:half], ELLIPSIS, *parts[-half:]]
    return between.join(parts)


def _sum(answer: PathsAnswer, target: PathsView, label: str) -> Iterator[Line]:
    which = f"{LISTED[target.ranking]} are listed; the sum over all paths"
    if len(target.paths) == target.count:
        which = "the path's product" if target.count == 1 else "the sum over the paths"
    parts: list[Part] = [(f"{which} ", "dim"), (f"is {label}", "dim")]
    if not target.adds_up:
        parts[1] = (f"is {inline(target.sum)}, not {label}", "fair")
    added = _added(target)
    parts += [(f": {added}", "number")] if added else []
    parts += [(", contracted with --grad-output", "dim")] if answer.weighted else []
    yield Line(*parts)
    if not target.adds_up:
        yield Line((OUT_OF_RANGE, "fair"))
    if target.cancellation is not None:
        yield Line(("cancellation: ", "fair"), (_lost(target.cancellation), "plain"))


def _added(target: PathsView) -> str:
    """Return ``-1.5 + 0.375 = -1.125``; empty unless all terms are listed numbers."""
    terms = [number(p.product) for p in target.paths if isinstance(p.product, float)]
    if not 1 < len(terms) == target.count or isinstance(target.sum, list):
        return ""
    later = [f"({term})" if term.startswith("-") else term for term in terms[1:]]
    return f"{' + '.join([terms[0], *later])} = {number(target.sum)}"


def _lost(found: Cancellation) -> str:
    where = f" at {list(found.entry)}" if found.entry else ""
    large, left = number(found.largest), number(found.sum)
    text = f"of a term of size {large} the sum leaves {left}{where}"
    if not isfinite(found.ratio):
        return f"{text}, and no digit of it"
    return f"{text}: about {log10(found.ratio):.0f} digits are lost"


def bare(answer: PathsAnswer) -> Iterator[Line]:
    """Yield the products alone, one a line, target by target."""
    for target in answer.targets:
        for path in target.paths:
            yield Line((inline(path.product), "number"))
