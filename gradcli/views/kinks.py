"""Kinks with their places in the program's text.

Invariant: nothing here is computed; texts and places are read off the spans.

    view = kinks_view(source, output, report)
    view.located[0].source, view.located[0].line        # "relu(x)", 1
"""

from __future__ import annotations

from dataclasses import dataclass

from ..lang.errors import Span
from ..lang.excerpt import locate
from ..verify.kinks.report import Kink, Report
from .gradients import OutputView

LONGEST = 60


@dataclass(frozen=True, slots=True)
class Located:
    """A kink, the text that has it, and where that stands, counted from 1."""

    kink: Kink
    source: str
    line: int | None
    column: int | None

    @property
    def place(self) -> str:
        """In words; empty for a branch, whose text is not known."""
        return "" if self.line is None else f"line {self.line}, column {self.column}"


@dataclass(frozen=True, slots=True)
class KinksView:
    """The whole report."""

    program: str
    output: OutputView
    report: Report
    located: tuple[Located, ...]


def kinks_view(source: str, output: OutputView, report: Report) -> KinksView:
    """The report with texts."""
    located = tuple(_located(kink, source) for kink in report.kinks)
    return KinksView(source, output, report, located)


def _located(kink: Kink, source: str) -> Located:
    if kink.span is None:
        return Located(kink, "a branch", None, None)
    start, end = kink.span
    place = locate(source, Span(start, end))
    text = " ".join(source[start:end].split())
    short = text if len(text) <= LONGEST else text[:LONGEST] + "…"
    return Located(kink, short, place.line, place.column)
