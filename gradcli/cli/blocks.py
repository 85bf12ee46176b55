"""What `jacobian` and `hessian` share: a view of blocks, the check, and the output.

Invariant: numbers are printed before the check is waited for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .checking import Check, job_for, numbers_in
from .exits import Exit
from .grad import exit_status
from .options import Request
from .output import Printer

if TYPE_CHECKING:
    from ..engine import Tensor
    from ..lang.run import Run
    from ..views.derivatives import BlockView, DerivativeView

Claims = Mapping[str, tuple[tuple[int, ...], list[float]]]


def block_of(by: tuple[str, ...], block: Tensor, lead: int) -> BlockView:
    """A block in plain numbers; its first ``lead`` dimensions are its rows."""
    from ..views.derivatives import block_view
    from ..views.numbers import plain

    return block_view(by, plain(block.raw), tuple(block.shape), lead)


def present(
    request: Request,
    run: Run,
    view: DerivativeView,
    claims: Claims,
    check: Check,
    symbolic: bool,
) -> int:
    """Print the blocks, then what could be shown of them; the exit status."""
    from ..render import derivatives, jsons
    from ..render.closed_forms import formulas
    from ..render.verdicts import verdict_lines
    from ..views.closed_forms import of_blocks

    printer = Printer()
    if request.quiet:
        printer.lines(derivatives.bare(view))
    elif not request.json:
        printer.lines(derivatives.blocks(view, printer.layout))
    printer.flush()
    job = None
    if check.wanted:
        job = job_for(run, request, view.command, claims, formulas=symbolic)
    verification = check.finish(job)
    if request.json:
        printer.lines([jsons.derivative(view, verification, symbolic)])
    elif verification is not None and not request.quiet:
        labels = {b.by[-1]: derivatives.verdict_label(view, b) for b in view.blocks}
        printer.lines(verdict_lines(verification, labels, "blocks"))
        if symbolic:
            found = of_blocks(view, verification.inputs)
            printer.lines(formulas(found, printer.layout))
    printer.flush()
    return exit_status(verification) if verification is not None else Exit.DONE


def stacked(blocks: Sequence[Tensor]) -> list[float]:
    """The entries of blocks of equally many columns, one block under the other."""
    return [entry for block in blocks for entry in numbers_in(block)]
