"""``gradcli kinks``: where a program has no derivative, and the slopes on both
sides."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from ..limits import allow
from ..options import IS_A_CHECK, PRINTS_NOTHING_SHORTER, GradOutput, Request, without
from ..output import show, warn_non_finite
from ..sources import question_of


@without(IS_A_CHECK, PRINTS_NOTHING_SHORTER)
def main(
    request: Request,
    radius: Annotated[
        float,
        Option(
            "--radius",
            metavar="R",
            min=0,
            help="Look for kinks up to this Euclidean distance from the point.",
        ),
    ] = 0.0,
    grad_output: GradOutput = None,
) -> int:
    """Where a program is not differentiable, at the point or near it.

    Each kink has the program's derivative from below and from above; its text and
    condition, the convention behind the engine's answer, and whether that answer is the
    gradient, a subgradient, or neither. This is a report: the status is 0 either way.
    --verify-seconds bounds the search.

    Example: gradcli kinks "relu(x) - relu(-x)" x=0
    """
    from ...answers.gradients import gradients
    from ...answers.kinks import kinks
    from ...answers.verdict_lines import kinks as lines

    question = question_of(request, grad_output)
    found = gradients(question.run(), grad_output, with_graph=False)
    warn_non_finite(found.trouble)
    allow(question.seconds)
    answer = kinks(found, radius, question.seconds)
    return show(answer, text=lambda found, _: lines(found))
