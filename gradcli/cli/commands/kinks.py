"""``gradcli kinks``: where a program has no derivative, and the slopes on both
sides."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final

import numpy as np
from typer import Option

from ...answers.box import read_range
from ...answers.gradients import gradients
from ...answers.verdict_lines import kink_conditions as conditions
from ...answers.verdict_lines import kinks as lines
from ...engine import resolve
from ...lang.factory import Factory
from ...lang.prepare import value_of
from ..limits import allow
from ..options import IS_A_CHECK, PRINTS_NOTHING_SHORTER, GradOutput, Request, without
from ..output import Printer, form, warn, warn_non_finite
from ..sources import question_of

DRAWN_RADIUS: Final = 10.0
"""Distance from numbers that are drawn up to which kinks are looked for."""


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

    Each kink is shown with its text, its condition, and the program's derivatives from
    below and from above. The engine's answer is shown with its convention, and is
    called a gradient, a subgradient, or neither. The exit status is 0 in each case.
    --verify-seconds limits the search. Without values only the conditions are shown.

    A range, x=-5..5, sets the point to its middle, and the radius.

    Example: gradcli kinks "relu(x) - relu(-x)" x=0
    """
    from ...answers.kinks import kinks  # SymPy, which help does without

    request, radius = _of_range(request, radius)
    question = question_of(request, grad_output, symbols=form.full)
    run = question.run()
    found = gradients(run, grad_output, with_graph=False)
    symbols = question.symbols and bool(run.prepared.missing)
    if not symbols:
        warn_non_finite(found.trouble)
    allow(question.seconds)
    if symbols:
        answer = kinks(found, radius or DRAWN_RADIUS, question.seconds)
        return Printer().show(answer, conditions(answer))
    answer = kinks(found, radius, question.seconds)
    return Printer().show(answer, lines(answer))


def _of_range(request: Request, radius: float) -> tuple[Request, float]:
    """Return the request with the middle of a range in its place, and the distance of
    its ends from there, if the only value is a range."""
    words = request.words or []
    values = words if request.file is not None else words[1:]
    found = read_range(values[0]) if len(values) == 1 else None
    if found is None or radius:
        return request, radius
    factory = Factory(resolve("cpu"), "float64", 0)
    ends = [np.asarray(value_of(end, factory)) for end in (found.start, found.stop)]
    if any(end.ndim for end in ends):
        return request, radius
    first, last = map(float, ends)
    name, middle, radius = found.start.name, (first + last) / 2, abs(last - first) / 2
    warn(f"{values[0]} is read as {name}={middle!r} --radius {radius!r}")
    at = replace(request, words=[*words[:-1], f"{name}={middle!r}"])
    return at, radius
