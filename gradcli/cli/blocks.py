"""Shared parts of `jacobian` and `hessian`: from the blocks of a derivative to output.

Invariants: importing this module is cheap; what cannot be done is refused before any
work; numbers are printed before the check is waited for.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from .checking import CheckProcess, needs_verdict, show_checked
from .forms import Forms, joined
from .option_groups import Many, Matrices
from .options import Request
from .output import Printer, form
from .problems import typed, wrong
from .sources import question_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..answers.derivatives import Blocks
    from ..answers.line import Line
    from ..answers.question import Question
    from ..lang.run import Run
    from .symbols import SymbolicAnswer


def answer(
    request: Request,
    forms: Forms,
    many: Many,
    matrices: Matrices,
    times: Sequence[str] | None,
    require: str | None,
    command: str,
    compute: Callable[[Run], Blocks],
    **further: object,
) -> int:
    """Print blocks or a product with them, and verdicts; return the exit status.

    Args:
        request: the program and its point.
        forms: the forms that are shown beside the numbers.
        many: the points, if there are several, and the file of what is computed.
        matrices: how the blocks are shown.
        times: the vector of a product, as texts; None: the blocks are wanted.
        require: the weakest verdict that is not a failure.
        command: ``jacobian`` or ``hessian``.
        compute: returns the blocks of a run.
        further: options that need a matrix, by name.
    """
    shown = {**further, **asdict(forms), **asdict(matrices)}
    if many.asked(".npz", ".mtx", ".npy"):
        many.refuse(request, require, **shown, times=times)
        from .at_points import run as run_many

        question = question_of(request, others=None)
        return run_many(question, many, command, require=require)
    if times:
        extra = typed(**shown, out=many.out)
        if extra:
            hint = "leave out one of the two"
            raise wrong("E590", f"{extra[0]} is for a matrix, --times gives none", hint)
        return _multiplied(question_of(request), times, command, require)
    forms.check(**asdict(matrices), out=many.out)
    matrices.check()
    symbolic = forms.in_symbols(out=many.out, **asdict(matrices))
    question = question_of(request, symbols=symbolic)
    check = CheckProcess(question, forms.formulas or needs_verdict(require))
    from ..answers import derivatives as draw
    from ..answers.derivatives import judged
    from ..answers.line import unbroken

    layout = Printer().layout
    run = question.run()
    found = compute(run)
    symbols: SymbolicAnswer | None = None
    if question.symbols and run.prepared.missing:
        from .symbols import SymbolicAnswer

        symbols = SymbolicAnswer(forms, check)
    forms = symbols.forms if symbols is not None else forms
    if check.wanted:
        check.submit(found.job(question.seconds, forms.formulas))
    if matrices.form == "dense":
        found.refuse_too_many()
    with run.explained():
        files = None
        if many.out is not None:
            from .array_files import write_blocks

            files = write_blocks(many.out, found.by)
        view = found.view(matrices.form, files, matrices.spy)
    code = forms.code_of(run, view.command)
    labels = {block.by[-1]: draw.verdict_label(view, block) for block in view.blocks}
    numbers: Iterable[Line] = ()
    what, finish = "blocks", check.finish
    more = lambda found: forms.lines(view, found, layout)
    shown = labels
    if forms.code_only:
        numbers, shown = map(unbroken, code or ()), {}
    elif symbols is None:
        numbers = draw.plain_blocks(view) if form.quiet else draw.blocks(view, layout)
    if symbols is not None:
        view, shown = view.in_symbols(), {}
        finish = partial(symbols.finish, view)
        more = lambda found: symbols.lines(view, found, labels, what, layout)
    told = lambda found: judged(view, found, forms.written(view, found), joined(code))
    finite = require is None or symbols is not None or found.finite
    given = require, told, shown, what, more, finite
    status = show_checked([numbers], finish, *given)
    if symbols is not None:
        symbols.refuse()
    return status


def _multiplied(
    question: Question, times: Sequence[str], command: str, require: str | None
) -> int:
    """Print a product with a derivative, then its verdicts; return the exit status."""
    check = CheckProcess(question, require is not None)
    from ..answers import derivatives as draw
    from ..answers.products import product

    layout = Printer().layout
    found = product(question, command, times, check.wanted)
    if found.job is not None:
        check.submit(found.job, found.unasked, found.reworded)
    numbers = draw.plain_products(found) if form.quiet else draw.products(found, layout)
    labels, judged = draw.product_labels(found), found.judged
    return show_checked([numbers], check.finish, require, judged, labels, "products")
