"""``gradcli jacobian``: a labelled block of derivatives per input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from .forms import Forms
from .matrices import Matrices
from .options import Request, Requirement, Times, on_programs

if TYPE_CHECKING:
    from ..autograd.blocks import Mode
    from ..lang.run import Run
    from .blocks import Blocks


@on_programs
def main(
    request: Request,
    forms: Forms,
    matrices: Matrices,
    mode: Annotated[
        Literal["auto", "rev", "fwd"],
        typer.Option(
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
    if times:
        from .products import product, refuse

        backward = mode if mode == "rev" else None
        refuse(times, mode=backward, **forms.asked, **matrices.asked)
        return product("jacobian", request, times, require)
    from .blocks import derivative

    compute = lambda run: _blocks(run, mode)
    return derivative("jacobian", request, forms, matrices, require, compute)


def _blocks(run: Run, mode: Mode) -> Blocks:
    """A block per input, whose rows are the entries of the output."""
    from .blocks import Blocks

    found = run.jacobian(mode)
    names = [given.name for given in run.differentiated]
    by_name = dict(zip(names, found.blocks, strict=True))
    return Blocks(
        found.mode,
        found.passes,
        {(name,): block for name, block in by_name.items()},
        {name: [block] for name, block in by_name.items()},
    )
