"""``gradcli hessian``: a labelled block of second derivatives per pair of inputs."""

from __future__ import annotations

from .checking import Check, require_check
from .forms import Code, Forms, Latex, Symbolic
from .options import Request, Requirement, on_programs


@on_programs
def main(
    request: Request,
    symbolic: Symbolic = False,
    latex: Latex = False,
    code: Code = None,
    require: Requirement = None,
) -> int:
    """The Hessian of a scalar, a block per pair of inputs.

    A block has the first input's shape followed by the second's.

    Example: gradcli hessian "y = x**2 * sin(z)" x=2 z=0.5
    """
    forms = Forms(symbolic, latex, code)
    forms.check(request)
    require_check(request, require)
    check = Check.start(request, needed=forms.formulas)
    from ..autograd.blocks import hessian
    from ..views.derivatives import DerivativeView
    from ..views.gradients import output_view
    from .blocks import block_of, present, stacked
    from .session import differentiated, explained, named, require_graph, run_program

    run = run_program(request)
    require_graph(run)
    inputs = differentiated(run)
    with explained(run):
        rows = hessian(run.output, [given.tensor for given in inputs])
    sizes = [given.tensor.numel() for given in inputs]
    blocks = tuple(
        block_of((first.name, second.name), block, len(first.tensor.shape))
        for first, row in zip(inputs, rows, strict=True)
        for second, block in zip(inputs, row, strict=True)
    )
    view = DerivativeView(
        command="hessian",
        program=run.source,
        device=run.device,
        dtype=run.dtype,
        mode="rev",
        passes=1 + sum(sizes),
        output=output_view(run.output, run.output_name, named(run)),
        blocks=blocks,
    )
    claims = {
        given.name: ((sum(sizes), *given.tensor.shape), stacked(column))
        for given, column in zip(inputs, zip(*rows, strict=True), strict=True)
    }
    return present(request, run, view, claims, check, forms, require)
