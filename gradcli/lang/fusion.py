"""Which regions of a program run part by part, and why others do not.

Invariant: this is told by what decides it (`gradcli.lang.pointwise` of the program,
`gradcli.lang.tiles` of the arrays), not found out again.

    fusion = Fusion()
    run_in_parts(prepared, fusion)
    fusion.fused, fusion.rest
"""

from __future__ import annotations

from dataclasses import dataclass

from gradcli.lang import tiles
from gradcli.lang.excerpt import locate
from gradcli.lang.pointwise import Obstacle
from gradcli.lang.span import Span


@dataclass(frozen=True, slots=True)
class Fused:
    """A region that runs forward and backward part by part.

    text       of the program
    reduction  what its entries end in: sum, mean, or nothing
    entries    how many there are
    parts      how many parts they were cut into
    threads    that share them
    """

    text: str
    line: int
    column: int
    reduction: str
    entries: int
    parts: int
    threads: int


@dataclass(frozen=True, slots=True)
class Whole:
    """What stands in the way of more; without a place where it is the numbers."""

    text: str | None
    line: int | None
    column: int | None
    reason: str


class Fusion:
    """What was told of one run."""

    def __init__(self) -> None:
        self.fused: list[Fused] = []
        self.rest: list[Whole] = []

    def region(
        self, source: str, span: Span, reduction: str, entries: int, most: int
    ) -> None:
        """Tell that a stretch of the program was run in parts of so many entries."""
        parts = sum(1 for _ in tiles.parts(0, entries, most))
        place = locate(source, span)
        text = source[span.start : span.end]
        threads = min(tiles.cores(), parts)
        self.fused.append(
            Fused(text, place.line, place.column, reduction, entries, parts, threads)
        )

    def refused(self, reason: str) -> None:
        """Tell that the numbers do not let anything run in parts."""
        self.rest.append(Whole(None, None, None, reason))

    def obstacles(self, source: str, found: tuple[Obstacle, ...]) -> None:
        """Tell what in the program stands in the way."""
        for span, reason, _ in found:
            place, text = locate(source, span), source[span.start : span.end]
            self.rest.append(Whole(text, place.line, place.column, reason))
