"""``gradcli descend``: the inputs of a program moved to where its value is least."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from .exits import Exit
from .options import Request, on_programs

if TYPE_CHECKING:
    from ..lang.descent import End
    from .downhill import Report, Way


@on_programs
def main(
    request: Request,
    optimizer: Annotated[
        Literal["sgd", "adam", "lbfgs"],
        typer.Option("--optimizer", help="What turns gradients into steps."),
    ] = "sgd",
    lr: Annotated[
        float | None,
        typer.Option(
            "--lr",
            metavar="RATE",
            help="How far a step goes (default: 0.1; 1 for lbfgs, its first guess).",
        ),
    ] = None,
    momentum: Annotated[
        float | None,
        typer.Option(
            "--momentum", metavar="M", help="The part of the last step kept, for sgd."
        ),
    ] = None,
    steps: Annotated[
        int, typer.Option("--steps", metavar="N", min=0, help="Steps to take.")
    ] = 100,
    tolerance: Annotated[
        float | None,
        typer.Option(
            "--tolerance",
            metavar="LENGTH",
            min=0,
            help="Stop at a gradient of this length.",
        ),
    ] = None,
    batch: Annotated[
        str | None,
        typer.Option(
            "--batch",
            metavar="NAMES:ROWS",
            help="Take so many rows of these inputs in a step: x,y:10. The last loss "
            "is that of all rows.",
        ),
    ] = None,
    shuffle: Annotated[
        bool,
        typer.Option("--shuffle", help="Shuffle the rows of batches in each round."),
    ] = False,
    every: Annotated[
        int | None,
        typer.Option(
            "--every",
            metavar="N",
            min=1,
            help="Print every Nth step (default: each in a pipe, none in a terminal).",
        ),
    ] = None,
) -> int:
    """Minimise a scalar program over its inputs.

    With --wrt only those are moved. Ctrl-C ends it with what was reached.

    Example: gradcli descend "(w - 3)**2 + (b + 1)**2" w=0 b=0 --lr 0.2 --steps 40
    """
    from .downhill import Choice, Report, way

    choice = Choice(optimizer, lr, momentum, batch, shuffle)
    found = way(replace(request, no_verify=True), choice)
    report = Report(request, found, steps, every)
    end = report.descend(steps, tolerance)
    return _finish(request, found, report, end)


def _finish(request: Request, found: Way, report: Report, end: End) -> int:
    """Print where the descent ended; the exit status, or the error that ended it."""
    from .downhill import lost
    from .output import note

    report.end(end)
    if end.lost is not None:
        raise lost(end, found)
    if end.stopped != "interrupted":
        return Exit.DONE
    if end.reached is None:
        note("interrupted before there was a loss")
    elif request.quiet or request.json:
        note(f"interrupted: the values are those after step {end.reached.number}")
    return Exit.INTERRUPTED
