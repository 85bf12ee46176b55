"""What `jacobian` and `hessian` share: from the run of a program to its output.

Invariant: numbers are printed before the check is waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..answers.derivatives import DerivativeView, block_view
from ..answers.gradients import output_of
from ..answers.jobs import MAX_HANDED, claim, job_for
from ..autograd.blocks import check_size
from ..engine.jacobian import Block, TooManyEntries
from .checking import Check, exit_status, require_check
from .code import as_json, code_lines, code_of
from .forms import Forms
from .matrices import Matrices
from .options import Request
from .output import Printer
from .problems import wrong
from .sources import question_of

if TYPE_CHECKING:
    from ..lang.run import Run
    from ..verify.process.job import Block as Numbers
    from ..verify.process.job import Verification


@dataclass(frozen=True, slots=True)
class Blocks:
    """What a command computed.

    by       each block by the names of its inputs
    columns  by input the blocks whose rows, one under the other, are its claim
    """

    mode: str
    passes: int
    by: Mapping[tuple[str, ...], Block]
    columns: Mapping[str, Sequence[Block]]


def derivative(
    command: str,
    request: Request,
    forms: Forms,
    matrices: Matrices,
    require: str | None,
    compute: Callable[[Run], Blocks],
) -> int:
    """Run the program, compute the blocks and print them; the exit status."""
    forms.check(request, **matrices.asked)
    matrices.check()
    require_check(request, require)
    check = Check.start(request, needed=forms.formulas or require is not None)
    run = question_of(request).run()
    found = compute(run)
    if check.wanted:
        claims = {name: claim(own, run.seed) for name, own in found.columns.items()}
        if forms.formulas:
            _check_formulas(claims.values())
        check.submit(
            job_for(
                run, request.verify_seconds, command, claims, formulas=forms.formulas
            )
        )
    with run.explained():
        if matrices.dense:
            _check_dense(found.by.values())
        blocks = [block_view(by, b, matrices.form) for by, b in found.by.items()]
        files = matrices.paths(blocks)
        if files is not None:
            from .matrix_files import write

            for path, block in zip(files, found.by.values(), strict=True):
                write(path, block)
    view = DerivativeView(
        command=command,
        program=run.source,
        device=run.device,
        dtype=run.dtype,
        mode=found.mode,
        passes=found.passes,
        output=output_of(run),
        blocks=tuple(blocks),
    )
    return present(request, run, view, check, forms, matrices, files, require)


def _check_dense(blocks: Iterable[Block]) -> None:
    """See that the blocks can be shown with their zeros.

    Raises:
        ProgramError: there are too many.
    """
    try:
        check_size(sum(block.output.numel() * block.x.numel() for block in blocks))
    except TooManyEntries as error:
        raise wrong(
            "E403", str(error), "leave out --dense, or write --out J.npz"
        ) from None


def _check_formulas(claims: Iterable[Numbers]) -> None:
    """See that all entries can be shown as formulas.

    Raises:
        ProgramError: there are too many.
    """
    entries = sum(claim.count for claim in claims)
    if entries > MAX_HANDED:
        message = f"{entries:,} entries are too many to be shown as formulas"
        raise wrong("E406", message, "restrict the inputs with --wrt, or shorten them")


def present(
    request: Request,
    run: Run,
    view: DerivativeView,
    check: Check,
    forms: Forms,
    matrices: Matrices,
    files: Sequence[str] | None = None,
    require: str | None = None,
) -> int:
    """Print the blocks, then what could be shown of them; the exit status."""
    from ..answers.closed_forms import of_blocks
    from ..render import derivatives, jsons

    printer = Printer()
    alone = forms.alone(request)
    code = code_of(run, forms.code, view.command)
    shown = derivatives.Shown(matrices.spy, files)
    if alone:
        printer.lines(code_lines(code or ()))
    elif request.quiet and not request.json:
        printer.lines(derivatives.bare(view, shown))
    elif not request.json:
        printer.lines(derivatives.blocks(view, printer.layout, shown))
    printer.flush()
    verification = check.finish()
    if request.json:
        answer = jsons.derivative(
            view, verification, forms.formulas, forms.latex, as_json(code), shown
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
