"""``gradcli kinks``: where a program has no derivative, and what its sides are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .limits import allow
from .options import (
    IS_A_CHECK,
    PRINTS_NOTHING_SHORTER,
    GradOutput,
    Request,
    without,
)

if TYPE_CHECKING:
    from ..verify.kinks.report import Report
    from ..verify.process.job import Job


@without(IS_A_CHECK, PRINTS_NOTHING_SHORTER)
def main(
    request: Request,
    radius: Annotated[
        float,
        typer.Option(
            "--radius",
            metavar="R",
            min=0,
            help="Look for kinks up to this Euclidean distance from the point.",
        ),
    ] = 0.0,
    grad_output: GradOutput = None,
) -> int:
    """Where a program is not differentiable, at the point or near it.

    For each kink: its text and condition, the program's derivative from below and from
    above, the convention behind the engine's answer, and whether that answer is the
    gradient, a subgradient, or neither. This is a report: the status is 0 either way.
    --verify-seconds bounds the search.

    Example: gradcli kinks "relu(x) - relu(-x)" x=0
    """
    from ..render.kinks import as_json, lines
    from ..views.kinks import kinks_view
    from .grad import gradient_job
    from .output import show
    from .session import gradients, run_program

    found = gradients(run_program(request), grad_output, with_graph=False)
    report = report_of(gradient_job(request, found), radius)
    view = kinks_view(found.run.source, found.view.output, report)
    return show(request, json=lambda: [as_json(view)], text=lambda _: lines(view))


def report_of(job: Job, radius: float) -> Report:
    """The kinks within a radius; raises a ProgramError where they cannot be found."""
    from ..lang.errors import ProgramError
    from ..numbers.system import NoMeaning
    from ..verify.kinks.report import kinks_of
    from ..verify.process.budget import OutOfTime

    allow(job.seconds)
    try:
        return kinks_of(job, radius)
    except OutOfTime:
        message = f"the search for kinks took more than {job.seconds:g} s"
        hint = "give more time with --verify-seconds, or smaller inputs"
        raise ProgramError("E405", message, hint=hint) from None
    except NoMeaning as error:
        message = f"the program does not run on numbers of many digits: {error}"
        raise ProgramError("E596", message) from None
