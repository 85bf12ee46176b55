"""What `jacobian` and `hessian` share: from the blocks of a derivative to its output.

Invariant: numbers are printed before the check is waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ..answers.closed_forms import of_blocks
from ..answers.derivatives import Blocks, Derivative, judged
from ..render import derivatives
from ..render.derivatives import verdict_label
from ..render.verdicts import verdict_lines
from .checking import Check, conclude, require_check
from .code import code_lines, code_of, joined
from .forms import Forms
from .matrices import Matrices
from .options import Request
from .output import Printer
from .sources import question_of

if TYPE_CHECKING:
    from ..lang.run import Run
    from ..render.line import Line
    from ..verify.process.job import Verification


def derivative(
    request: Request,
    forms: Forms,
    matrices: Matrices,
    require: str | None,
    compute: Callable[[Run], Blocks],
) -> int:
    """Print the blocks, then what could be shown of them; the exit status."""
    forms.check(request, **matrices.asked)
    matrices.check()
    require_check(request, require)
    check = Check.start(request, needed=forms.formulas or require is not None)
    question = question_of(request)
    run = question.run()
    found = compute(run)
    if check.wanted:
        check.submit(found.job(question.seconds, forms.formulas))
    with run.explained():
        view = found.view(matrices.form)
        files = matrices.write(found.by)
    printer = Printer()
    alone = forms.alone(request)
    code = code_of(run, forms.code, view.command)
    shown = derivatives.Shown(matrices.spy, files)
    if alone:
        printer.lines(code_lines(code or ()))
    elif not request.json:
        printer.lines(
            derivatives.bare(view, shown)
            if request.quiet
            else derivatives.blocks(view, printer.layout, shown)
        )
    printer.flush()

    def answer(verification: Verification | None) -> Derivative:
        written = None
        if forms.formulas:
            verdicts = verification.inputs if verification is not None else ()
            written = forms.written(of_blocks(view, verdicts))
        return judged(view, verification, files, matrices.spy, written, joined(code))

    def text(verification: Verification | None) -> Iterator[Line]:
        if verification is None:
            return
        if not (request.quiet or alone):
            labels = {block.by[-1]: verdict_label(view, block) for block in view.blocks}
            yield from verdict_lines(verification, labels, "blocks")
        if forms.formulas and (alone or not request.quiet):
            views = of_blocks(view, verification.inputs)
            yield from forms.lines(
                views, verification.side_conditions, printer.layout, alone
            )

    return conclude(request, printer, check.finish(), require, answer, text)
