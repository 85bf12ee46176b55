"""``gradcli hessian``: a labelled block of second derivatives per pair of inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .forms import Forms
from .options import Request, Requirement, on_programs

if TYPE_CHECKING:
    from ..lang.run import Run
    from .blocks import Blocks


@on_programs
def main(request: Request, forms: Forms, require: Requirement = None) -> int:
    """The Hessian of a scalar, a block per pair of inputs.

    A block has the first input's shape followed by the second's.

    Example: gradcli hessian "y = x**2 * sin(z)" x=2 z=0.5
    """
    from .blocks import derivative

    return derivative("hessian", request, forms, require, _blocks)


def _blocks(run: Run) -> Blocks:
    """A block per pair of inputs; all rows of an input's column are its claim."""
    from .blocks import Blocks, block_of, stacked

    rows, inputs = run.hessian(), run.differentiated
    size = sum(given.tensor.numel() for given in inputs)
    return Blocks(
        "rev",
        1 + size,
        tuple(
            block_of((first.name, second.name), block, len(first.tensor.shape))
            for first, row in zip(inputs, rows, strict=True)
            for second, block in zip(inputs, row, strict=True)
        ),
        {
            given.name: ((size, *given.tensor.shape), stacked(column))
            for given, column in zip(inputs, zip(*rows, strict=True), strict=True)
        },
    )
