"""``gradcli hessian``: a labelled block of second derivatives per pair of inputs."""

from __future__ import annotations

from ..forms import Forms
from ..options import Many, Request, Requirement, Times
from .jacobian import Matrices, answer


def main(
    request: Request,
    forms: Forms,
    many: Many,
    matrices: Matrices,
    times: Times = None,
    require: Requirement = None,
) -> int:
    """The Hessian of a scalar, a block per pair of inputs.

    A block has the first input's shape followed by the second's. A large one that is
    mostly zeros is shown by its structure, and its entries by their coordinates.

    Example: gradcli hessian "y = x**2 * sin(z)" x=2 z=0.5
    """
    return answer(request, forms, many, matrices, times, require, "hessian")
