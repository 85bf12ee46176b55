"""Reports on programs that run part by part on large arrays, and when they can.

Invariant: a part is small enough that everything computed from it stays in the
processor's cache.

    in_the_way([a, b])      # empty where running both in parts pays
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..engine.parts import cores
from ..engine.raw import Raw
from ..large.tiles import parts
from .excerpt import Span, locate

MIN_ENTRIES = 1 << 17
"""Smallest number of entries of an array that is computed part by part."""


def in_the_way(arrays: Sequence[Raw]) -> str:
    """Return why arrays cannot be computed part by part; an empty text if they can."""
    large = [a for a in arrays if np.ndim(a)]
    shapes = {a.shape for a in large}
    if all(a.size < MIN_ENTRIES for a in large):
        return f"no input has the {MIN_ENTRIES:,} entries from which parts help"
    if len(shapes) > 1:
        listed = " and ".join(str(list(shape)) for shape in sorted(shapes))
        return f"the inputs have the shapes {listed}"
    if not all(a.flags.c_contiguous for a in large):
        return "an input's entries do not lie in memory in their order"
    return ""


@dataclass(frozen=True, slots=True)
class Fused:
    """A region that runs forward and backward part by part.

    text       the region's text in the program
    reduction  the function of all entries at its end: sum, mean, or empty
    entries    the number of entries of its arrays
    parts      the number of parts that they were cut into
    threads    the number of threads that share the parts
    """

    text: str
    line: int
    column: int
    reduction: str
    entries: int
    parts: int
    threads: int


@dataclass(frozen=True, slots=True)
class FusionRefusal:
    """A reason why the program, or the rest of it, does not run part by part; it has no
    place if the reason is in the numbers."""

    text: str | None
    line: int | None
    column: int | None
    reason: str


@dataclass(slots=True)
class Fusion:
    """A report on a run: the regions that ran part by part, and why others did not.

    fused  The regions that ran in parts.
    rest   The reasons why more did not.
    """

    fused: list[Fused] = field(default_factory=list)
    rest: list[FusionRefusal] = field(default_factory=list)

    def region(
        self, source: str, span: Span, reduction: str, entries: int, most: int
    ) -> None:
        """Report that a span was run in parts of at most ``most`` entries."""
        count = sum(1 for _ in parts(0, entries, most))
        place = locate(source, span)
        text = source[span.start : span.end]
        threads = min(cores(), count)
        at = place.line, place.column
        self.fused.append(Fused(text, *at, reduction, entries, count, threads))

    def refused(self, reason: str, source: str = "", span: Span | None = None) -> None:
        """Report that the numbers, or the program's text at ``span``, prevent running
        in parts."""
        if span is None:
            self.rest.append(FusionRefusal(None, None, None, reason))
            return
        place, text = locate(source, span), source[span.start : span.end]
        self.rest.append(FusionRefusal(text, place.line, place.column, reason))
