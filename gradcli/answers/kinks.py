"""Kinks: where a program has no derivative, with the program's text at each place.

Invariant: only texts, lines and columns of spans are computed here; kinks and their
sides are found by `gradcli.check.kinks`.

    answer = kinks(gradients(question.run(), None, with_graph=False), 0.0, 5.0)
    answer.kinks[0].source, answer.kinks[0].line        # "relu(x)", 1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..check.kinks import Kink as Decision
from ..check.kinks import KinkPlace, kinks_of
from ..check.process.budget import OutOfTime
from ..check.system import NoMeaning
from ..lang.errors import ProgramError
from .gradients import Gradients, OutputView
from .graph_view import SpanFinder, Where

OWN_COMPARISON = "a comparison in the program: the derivative of the branch taken"
BRANCH = "a branch"
SMOOTH_ROW = "no rule: the derivative of the side that was taken"


@dataclass(frozen=True, slots=True)
class KinkView:
    """A decision of the program that changes at some point.

    function   The function that has the kink; null for a comparison or a branch.
    condition  The condition at the kink; null where it has no short form.
    more       The number of other kinks like this one.
    distance   The distance of the kink from the point.
    place      The number of its place among the places, from 0.
    rule       The convention at the kink.
    source     The program's text that has the kink.
    line       The line of that text, counted from 1.
    column     The column of that text, counted from 1.
    """

    function: str | None
    condition: str | None
    more: int
    distance: float
    place: int
    rule: str
    source: str
    line: int | None
    column: int | None


@dataclass(frozen=True, slots=True)
class Kinks:
    """Answer of `gradcli kinks`: all kinks, nearest first.

    program     The program's text.
    radius      The distance from the point that was searched.
    left_out    The number of farther places that were not examined.
    unsearched  The number of conditions whose kinks could not be found.
    """

    command: ClassVar = "kinks"

    program: str
    radius: float
    output: OutputView
    kinks: tuple[KinkView, ...]
    places: tuple[KinkPlace, ...]
    left_out: int
    unsearched: int


def kinks(found: Gradients, radius: float, seconds: float) -> Kinks:
    """Return the kinks of a program within a Euclidean distance of the point at which
    its gradients were found; 0 means the point alone."""
    job, _ = found.job(seconds)
    try:
        report = kinks_of(job, radius)
    except OutOfTime:
        message = f"the search for kinks took more than {job.seconds:g} s"
        hint = "give more time with --verify-seconds, or smaller inputs"
        raise ProgramError("E405", message, hint=hint) from None
    except NoMeaning as error:
        message = f"the program does not run on numbers of many digits: {error}"
        raise ProgramError("E596", message) from None
    places = SpanFinder(found.run.source)
    return Kinks(
        found.run.source,
        report.radius,
        found.view.output,
        tuple(_kink(kink, places.find(kink.span)) for kink in report.kinks),
        report.places,
        report.left_out,
        report.unsearched,
    )


def _kink(kink: Decision, where: Where) -> KinkView:
    """Return a kink with its place in the text and its convention."""
    return KinkView(
        function=kink.function or None,
        condition=kink.condition,
        more=kink.more,
        distance=kink.distance,
        place=kink.place,
        rule=kink.rule or SMOOTH_ROW if kink.function else OWN_COMPARISON,
        source=where.text or BRANCH,
        line=where.line,
        column=where.column,
    )
