"""``gradcli jacobian``: a labelled block of derivatives per input."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from .checking import Check, numbers_in, require_check
from .forms import Code, Forms, Latex, Symbolic
from .options import Request, Requirement, on_programs


@on_programs
def main(
    request: Request,
    mode: Annotated[
        Literal["auto", "rev", "fwd"],
        typer.Option("--mode", help="Backward or forward passes; auto takes fewer."),
    ] = "auto",
    symbolic: Symbolic = False,
    latex: Latex = False,
    code: Code = None,
    require: Requirement = None,
) -> int:
    """The Jacobian of a program, a block per input.

    A block has the output's shape followed by the input's.

    Example: gradcli jacobian "tanh(A @ x)" "A=[[1, 2], [3, 4]]" "x=[0.1, 0.2]"
    """
    forms = Forms(symbolic, latex, code)
    forms.check(request)
    require_check(request, require)
    check = Check.start(request, needed=forms.formulas)
    from ..autograd.blocks import jacobian
    from ..views.derivatives import DerivativeView
    from ..views.gradients import output_view
    from .blocks import block_of, present
    from .session import differentiated, explained, named, require_graph, run_program

    run = run_program(request)
    require_graph(run)
    inputs = differentiated(run)
    with explained(run):
        found = jacobian(run.output, [given.tensor for given in inputs], mode)
    pairs = list(zip(inputs, found.blocks, strict=True))
    lead = len(run.output.shape)
    view = DerivativeView(
        command="jacobian",
        program=run.source,
        device=run.device,
        dtype=run.dtype,
        mode=found.mode,
        passes=found.passes,
        output=output_view(run.output, run.output_name, named(run)),
        blocks=tuple(block_of((given.name,), block, lead) for given, block in pairs),
    )
    claims = {
        given.name: (tuple(block.shape), numbers_in(block)) for given, block in pairs
    }
    return present(request, run, view, claims, check, forms, require)
