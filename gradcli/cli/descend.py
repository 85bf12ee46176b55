"""``gradcli descend``: the inputs of a program moved to where its value is least."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal

import typer

from .options import Request, on_programs


@dataclass(frozen=True, slots=True)
class Choice:
    """A group of options: how to descend."""

    optimizer: Annotated[
        Literal["sgd", "adam", "lbfgs"],
        typer.Option("--optimizer", help="The optimizer, as PyTorch has it."),
    ] = "sgd"
    lr: Annotated[
        float | None,
        typer.Option(
            "--lr",
            metavar="RATE",
            help="Learning rate (default: 0.1; for lbfgs 1, where its line search "
            "starts).",
        ),
    ] = None
    momentum: Annotated[
        float | None,
        typer.Option("--momentum", metavar="M", help="Momentum of sgd."),
    ] = None
    steps: Annotated[
        int, typer.Option("--steps", metavar="N", min=0, help="Steps to take.")
    ] = 100
    tolerance: Annotated[
        float | None,
        typer.Option(
            "--tolerance",
            metavar="LENGTH",
            min=0,
            help="Stop when the gradient's norm is at most this.",
        ),
    ] = None
    batch: Annotated[
        str | None,
        typer.Option(
            "--batch",
            metavar="NAMES:ROWS",
            help="Use so many rows of these inputs in a step, as in x,y:10. The last "
            "loss is that of all rows.",
        ),
    ] = None
    shuffle: Annotated[
        bool,
        typer.Option("--shuffle", help="Shuffle the rows of batches in each round."),
    ] = False
    every: Annotated[
        int | None,
        typer.Option(
            "--every",
            metavar="N",
            min=1,
            help="Print every Nth step (default: each in a pipe, none in a terminal).",
        ),
    ] = None


@on_programs
def main(request: Request, choice: Choice) -> int:
    """Minimise a scalar program over its inputs.

    With --wrt only those are moved. Ctrl-C ends it with what was reached.

    Example: gradcli descend "(w - 3)**2 + (b + 1)**2" w=0 b=0 --lr 0.2 --steps 40
    """
    from .downhill import Downhill

    return Downhill(replace(request, no_verify=True), choice).run()
