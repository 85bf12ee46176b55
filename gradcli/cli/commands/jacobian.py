"""``gradcli jacobian``: a labelled block of derivatives per input."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from typer import Option

from ..blocks import answer
from ..forms import Forms
from ..option_groups import Many, Matrices
from ..options import Request, Requirement, Times


def main(
    request: Request,
    forms: Forms,
    many: Many,
    matrices: Matrices,
    mode: Annotated[
        Literal["auto", "rev", "fwd"],
        Option(
            "--mode",
            help="Use backward or forward passes; auto takes whichever are fewer.",
        ),
    ] = "auto",
    times: Times = None,
    require: Requirement = None,
) -> int:
    """The Jacobian of a program, a block per input.

    A block has the output's shape followed by the input's. A large one that is mostly
    zeros is shown by its structure, and its entries by their coordinates.

    Example: gradcli jacobian "tanh(A@x)" "A=[[1,2],[3,4]]" "x=[0.1,0.2]"
    """
    from ...answers.derivatives import jacobian

    compute = partial(jacobian, mode=mode)
    rev = mode if mode == "rev" else None
    return answer(
        request, forms, many, matrices, times, require, "jacobian", compute, mode=rev
    )
