"""Kinks with their places in the program's text.

Invariant: nothing here is computed; texts and places are read off the spans.

    view = kinks_view(source, output, report)
    view.located[0].source, view.located[0].line        # "relu(x)", 1
"""

from __future__ import annotations

from dataclasses import dataclass

from ..verify.kinks.report import Kink, Report
from .gradients import OutputView
from .places import Places


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
    places = Places(source)
    located = tuple(_located(kink, places) for kink in report.kinks)
    return KinksView(source, output, report, located)


def _located(kink: Kink, places: Places) -> Located:
    where = places.find(kink.span)
    return Located(kink, where.text or "a branch", where.line, where.column)
