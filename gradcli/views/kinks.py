"""Kinks with their texts in the program.

Invariant: nothing here is computed; texts, lines and columns are read off the spans.

    view = kinks_view(source, output, report)
    view.where[0].text, view.where[0].line        # "relu(x)", 1
"""

from __future__ import annotations

from dataclasses import dataclass

from ..verify.kinks.report import Report
from .gradients import OutputView
from .places import Places, Where


@dataclass(frozen=True, slots=True)
class KinksView:
    """All kinks; ``where`` is the text, line and column of each, if it has them."""

    program: str
    output: OutputView
    report: Report
    where: tuple[Where, ...]


def kinks_view(source: str, output: OutputView, report: Report) -> KinksView:
    """The report with texts."""
    places = Places(source)
    where = tuple(places.find(kink.span) for kink in report.kinks)
    return KinksView(source, output, report, where)
