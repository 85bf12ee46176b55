"""Shared parts of `jacobian` and `hessian`: from the blocks of a derivative to output.

Invariant: numbers are printed before the check is waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from ..answers.derivatives import Blocks, judged
from ..render import derivatives
from ..render.derivatives import verdict_label
from ..render.line import unbroken
from .checking import Check, Shown, show_checked
from .forms import Forms, joined
from .matrices import Matrices
from .options import Request
from .output import form
from .problems import typed, wrong
from .sources import question_of

if TYPE_CHECKING:
    from ..answers.question import Question
    from ..lang.run import Run
    from ..render.line import Layout, Line


def answer(
    request: Request,
    forms: Forms,
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
        matrices: how the blocks are shown.
        times: the vector of a product, as texts; None: the blocks are wanted.
        require: the weakest verdict that is not a failure.
        command: ``jacobian`` or ``hessian``.
        compute: returns the blocks of a run.
        further: options that need a matrix, by name.
    """
    work: Callable[[Question, Layout, Check], Shown]
    if times:
        extra = typed(**further, **asdict(forms), **asdict(matrices))
        if extra:
            hint = "leave out one of the two"
            raise wrong("E590", f"{extra[0]} is for a matrix, --times gives none", hint)
        work = partial(_multiplied, times, command)
    else:
        forms.check(**asdict(matrices))
        matrices.check()
        work = partial(_derived, forms, matrices, compute)
    return show_checked(question_of(request), work, require, forms.formulas)


def _derived(
    forms: Forms,
    matrices: Matrices,
    compute: Callable[[Run], Blocks],
    question: Question,
    layout: Layout,
    check: Check,
) -> Shown:
    """Return the blocks of a derivative as they are printed."""
    run = question.run()
    found = compute(run)
    if check.wanted:
        check.submit(found.job(question.seconds, forms.formulas))
    if matrices.form == "dense":
        found.refuse_too_many()
    with run.explained():
        files = matrices.write(found.by)
        view = found.view(matrices.form, files, matrices.spy)
    code = forms.code_of(run, view.command)
    labels = {block.by[-1]: verdict_label(view, block) for block in view.blocks}
    numbers: Iterable[Line]
    if forms.alone:
        numbers, labels = map(unbroken, code or ()), {}
    elif form.quiet:
        numbers = derivatives.bare(view)
    else:
        numbers = derivatives.blocks(view, layout)
    return Shown(
        [numbers],
        lambda found: judged(view, found, forms.written(view, found), joined(code)),
        labels,
        "blocks",
        lambda found: forms.lines(view, found, layout),
    )


def _multiplied(
    times: Sequence[str],
    command: str,
    question: Question,
    layout: Layout,
    check: Check,
) -> Shown:
    """Return a product with a derivative as it is printed."""
    from ..answers.products import product

    found = product(question, command, times, check.wanted)
    if found.job is not None:
        check.submit(found.job, found.unasked, found.reworded)
    draw = derivatives
    bare = form.quiet
    numbers = draw.bare_products(found) if bare else draw.products(found, layout)
    return Shown([numbers], found.judged, draw.product_labels(found), "products")
