"""``gradcli hessian``: a labelled block of second derivatives per pair of inputs."""

from __future__ import annotations

from dataclasses import asdict

from ..forms import Forms
from ..matrices import Matrices
from ..options import Request, Requirement, Times
from ..sources import question_of


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
        from ..blocks import multiply, refuse

        refuse(**asdict(forms), **asdict(matrices))
        return multiply("hessian", question_of(request), times, require)
    from ...answers.derivatives import hessian
    from ..blocks import derivative

    forms.check(**asdict(matrices))
    matrices.check()
    return derivative(question_of(request), forms, matrices, require, hessian)
