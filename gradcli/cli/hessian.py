"""``gradcli hessian``: a labelled block of second derivatives per pair of inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .forms import Forms
from .matrices import Matrices
from .options import Request, Requirement, Times, on_programs

if TYPE_CHECKING:
    from ..lang.run import Run
    from .blocks import Blocks


@on_programs
def main(
    request: Request,
    forms: Forms,
    matrices: Matrices,
    times: Times = None,
    require: Requirement = None,
) -> int:
    """The Hessian of a scalar, a block per pair of inputs.

    A block has the first input's shape followed by the second's. A large one that is
    mostly zeros is shown by its structure, and its entries by their coordinates.

    Example: gradcli hessian "y = x**2 * sin(z)" x=2 z=0.5
    """
    if times:
        from .products import product, refuse

        refuse(times, **forms.asked, **matrices.asked)
        return product("hessian", request, times, require)
    from .blocks import derivative

    return derivative("hessian", request, forms, matrices, require, _blocks)


def _blocks(run: Run) -> Blocks:
    """A block per pair of inputs; all rows of an input's column are its claim."""
    from .blocks import Blocks

    rows = run.hessian()
    names = [given.name for given in run.differentiated]
    return Blocks(
        "rev",
        1 + sum(given.tensor.numel() for given in run.differentiated),
        {
            (first, second): block
            for first, row in zip(names, rows, strict=True)
            for second, block in zip(names, row, strict=True)
        },
        dict(zip(names, zip(*rows, strict=True), strict=True)),
    )
