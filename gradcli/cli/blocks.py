"""What `jacobian` and `hessian` share: from the run of a program to its output.

Invariant: numbers are printed before the check is waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..views.derivatives import BlockView, DerivativeView, block_view
from ..views.numbers import plain
from .checking import Check, job_for, numbers_in, require_check
from .code import as_json, code_lines, code_of
from .forms import Forms
from .grad import exit_status
from .options import Request
from .output import Printer
from .session import output_of_run, run_program

if TYPE_CHECKING:
    from ..engine import Tensor
    from ..lang.run import Run
    from ..verify.process.job import Verification

Claims = Mapping[str, tuple[tuple[int, ...], list[float]]]


@dataclass(frozen=True, slots=True)
class Blocks:
    """What a command computed: its blocks, and its numbers by input as claims."""

    mode: str
    passes: int
    blocks: tuple[BlockView, ...]
    claims: Claims


def derivative(
    command: str,
    request: Request,
    forms: Forms,
    require: str | None,
    compute: Callable[[Run], Blocks],
) -> int:
    """Run the program, compute the blocks and print them; the exit status."""
    forms.check(request)
    require_check(request, require)
    check = Check.start(request, needed=forms.formulas)
    run = run_program(request)
    found = compute(run)
    view = DerivativeView(
        command=command,
        program=run.source,
        device=run.device,
        dtype=run.dtype,
        mode=found.mode,
        passes=found.passes,
        output=output_of_run(run),
        blocks=found.blocks,
    )
    return present(request, run, view, found.claims, check, forms, require)


def block_of(by: tuple[str, ...], block: Tensor, lead: int) -> BlockView:
    """A block in plain numbers; its first ``lead`` dimensions are its rows."""
    return block_view(by, plain(block.raw), tuple(block.shape), lead)


def present(
    request: Request,
    run: Run,
    view: DerivativeView,
    claims: Claims,
    check: Check,
    forms: Forms,
    require: str | None = None,
) -> int:
    """Print the blocks, then what could be shown of them; the exit status."""
    from ..render import derivatives, jsons
    from ..views.closed_forms import of_blocks

    printer = Printer()
    alone = forms.alone(request)
    if check.wanted:
        check.submit(
            job_for(run, request, view.command, claims, formulas=forms.formulas)
        )
    code = code_of(run, forms.code, view.command)
    if alone:
        printer.lines(code_lines(code or ()))
    elif request.quiet:
        printer.lines(derivatives.bare(view))
    elif not request.json:
        printer.lines(derivatives.blocks(view, printer.layout))
    printer.flush()
    verification = check.finish()
    if request.json:
        answer = jsons.derivative(
            view, verification, forms.formulas, forms.latex, as_json(code)
        )
        printer.lines([answer])
    elif verification is not None:
        if not (request.quiet or alone):
            _show_verdicts(printer, view, verification)
        if forms.formulas and (alone or not request.quiet):
            found = of_blocks(view, verification.inputs)
            forms.show(printer, found, alone)
    printer.flush()
    return exit_status(verification, require)


def _show_verdicts(
    printer: Printer, view: DerivativeView, verification: Verification
) -> None:
    from ..render.derivatives import verdict_label
    from ..render.verdicts import verdict_lines

    labels = {block.by[-1]: verdict_label(view, block) for block in view.blocks}
    printer.lines(verdict_lines(verification, labels, "blocks"))


def stacked(blocks: Sequence[Tensor]) -> list[float]:
    """The entries of blocks of equally many columns, one block under the other."""
    return [entry for block in blocks for entry in numbers_in(block)]
