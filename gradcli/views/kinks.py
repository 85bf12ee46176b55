"""Kinks with their places in the program's text.

Invariant: nothing here is computed; texts and places are read off the spans.

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
    """All kinks; ``where`` is the text and the place of each, of a branch unknown."""

    program: str
    output: OutputView
    report: Report
    where: tuple[Where, ...]


def kinks_view(source: str, output: OutputView, report: Report) -> KinksView:
    """The report with texts."""
    places = Places(source)
    where = tuple(places.find(kink.span) for kink in report.kinks)
    return KinksView(source, output, report, where)
