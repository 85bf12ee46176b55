"""``gradcli jacobian``: a labelled block of derivatives per input; what it shares with
``gradcli hessian``.

Invariants: what cannot be done is refused before any work; numbers are printed before
the check is waited for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from typer import Option

from ...answers import derivatives as draw
from ...answers.gradients import derivative_label
from ...answers.line import unbroken
from ...answers.products import product
from ...answers.question import Question
from ...answers.verdict_lines import verdict_lines
from ...engine.jacobian import WRITERS
from ...large.blocks import Mode
from ..checking import CheckProcess, exit_status, needs_verdict
from ..forms import Forms, joined
from ..options import Many, Request, Requirement, Times
from ..output import Printer, form, note
from ..problems import typed, wrong
from ..sources import note_missing, question_of

if TYPE_CHECKING:
    from ...answers.matrix_form import MatrixForm
    from ...lang.run import Run


@dataclass(frozen=True, slots=True)
class Matrices:
    """A group of options: blocks with or without their zeros, and files of them."""

    TITLE: ClassVar = "Blocks"

    sparse: Annotated[
        bool,
        Option(
            "--sparse",
            help="Show every block as coordinates and values. Large blocks that are "
            "mostly zeros are always shown so.",
        ),
    ] = False
    dense: Annotated[
        bool,
        Option("--dense", help="Show every block with all its zeros."),
    ] = False
    spy: Annotated[
        bool,
        Option(
            "--spy",
            help="Draw the positions of each block's nonzero entries, and count the "
            "colours that its columns need.",
        ),
    ] = False

    @property
    def form(self) -> draw.Form:
        return "sparse" if self.sparse else "dense" if self.dense else "auto"

    def check(self) -> None:
        """Refuse options that exclude each other."""
        if self.sparse and self.dense:
            hint = "leave out one of the two"
            raise wrong("E590", "--sparse leaves zeros out, --dense shows them", hint)


def main(
    request: Request,
    forms: Forms,
    many: Many,
    matrices: Matrices,
    mode: Annotated[
        Literal["auto", "rev", "fwd"],
        Option(
            "--mode",
            help="Use backward or forward passes. auto takes whichever are fewer.",
        ),
    ] = "auto",
    stack: Annotated[
        bool,
        Option(
            "--stack",
            help="Show one matrix. It has a column for each entry of each input.",
        ),
    ] = False,
    times: Times = None,
    require: Requirement = None,
) -> int:
    """The Jacobian of a program, a block per input.

    A block has the output's shape followed by the input's. A large block that is mostly
    zeros is shown by its structure, and its entries by their coordinates.

    Example: gradcli jacobian "tanh(A@x)" "A=[[1,2],[3,4]]" "x=[0.1,0.2]"
    """
    return answer(
        request, forms, many, matrices, times, require, "jacobian", mode, stack
    )


def answer(
    request: Request,
    forms: Forms,
    many: Many,
    matrices: Matrices,
    times: Sequence[str] | None,
    require: str | None,
    command: str,
    mode: Mode = "auto",
    stack: bool = False,
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
        mode: the direction of the passes for a Jacobian.
        stack: whether the blocks of a Jacobian are shown as one matrix.
    """
    forms = forms.settled()
    shown = {"mode": mode == "rev", **asdict(forms), **asdict(matrices)}
    shown["stack"] = stack
    if many.asked(*WRITERS):
        many.refuse(request, require, **shown, times=times)
        from ..at_points import run as run_many

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
    if stack and typed(**asdict(forms)):
        hint = "leave out one of the two"
        message = f"--stack is for numbers, {typed(**asdict(forms))[0]} for formulas"
        raise wrong("E590", message, hint)
    symbolic = forms.in_symbols(out=many.out, stack=stack, **asdict(matrices))
    question = question_of(request, symbols=symbolic, scalar=command == "hessian")
    check = CheckProcess(question, forms.formulas or needs_verdict(require))
    printer = Printer()
    run = question.run()
    matrices_of = None
    if symbolic and not (forms.entries or form.json) and forms.code is None:
        matrices_of = _in_matrix_notation(question, run, command)
    if matrices_of is not None:
        return _closed(matrices_of, run, check, forms.of_symbols(), printer, require)
    if question.inferred is not None:
        note(f"note: {question.inferred.text}; --shape gives other shapes")
    found = draw.hessian(run) if command == "hessian" else draw.jacobian(run, mode)
    symbols = question.symbols and bool(run.prepared.missing)
    if symbols:
        if not (forms.symbolic or forms.latex):
            note_missing(question, run.prepared.missing)
        if form.json or forms.code is None:
            check.require()
        forms = forms.of_symbols()
    closed, proof = None, None
    if not symbols and not typed(stack=stack, **asdict(matrices)):
        closed, proof = _form_at_values(question, forms, found)
    if check.wanted:
        check.submit(found.job(question.seconds, forms.formulas and closed is None))
    if matrices.form == "dense":
        found.refuse_too_many()
    whole = found.stacked() if stack else found
    with run.explained():
        files = None
        if many.out is not None:
            from ...tables.array_files import write_blocks

            files = write_blocks(many.out, whole.by)
        view = whole.view(matrices.form, files, matrices.spy)
    code = forms.code_of(run, view.command)
    labels = {block.by[-1]: draw.verdict_label(view, block) for block in view.blocks}
    if stack:
        labels = {n: derivative_label(view.output, n) for n in found.columns}
        view = view.with_entries(found.entries())
    if symbols:
        view = view.in_symbols()
    if forms.code_only:
        printer.lines(map(unbroken, code or ()))
    elif not symbols:
        drawn = draw.blocks(view, printer.layout)
        printer.text(draw.plain_blocks(view) if form.quiet else drawn)
    verification, lacking = check.finish(), None
    if symbols and verification is not None:
        verification = verification.in_symbols()
        lacking = forms.lacking(view, verification)
    if form.json:
        if lacking is not None:
            raise lacking
        written = forms.written(view, verification)
        printer.object(draw.judged(view, verification, written, joined(code)))
    layout = printer.layout
    entries = forms if closed is None else forms.without_formulas()
    closing = entries.closing(view, verification, labels, "blocks", layout, symbols)
    printer.text(closing)
    judgement = None if proof is None else proof.finish()
    if closed is not None and judgement is not None:
        proved = closed.verification(judgement)
        name = run.output_name if run.names_output else ""
        printer.text(forms.after_numbers(closed, name, proved, layout))
        if form.full:
            printer.text(chain(closed.shape_lines(), closed.other_lines(name)))
    finite = require is None or symbols or found.finite
    status = exit_status(verification, require, finite)
    if lacking is not None:
        raise lacking
    return status


def _form_at_values(
    question: Question, forms: Forms, found: draw.Blocks
) -> tuple[MatrixForm | None, CheckProcess | None]:
    """Return the blocks by matrices that have values as formulas, and the process that
    proves them; None unless formulas are asked for, without entries."""
    if not forms.formulas or forms.entries or form.json or forms.code is not None:
        return None, None
    from ...answers.matrix_form import form_at_values

    computed = lambda by: found.by[by].dense()
    closed = form_at_values(question, found.run, computed, found.command)
    if closed is None or (form.quiet and closed.formulas.others):
        # Formulas alone are one for each block.
        return None, None
    proof = CheckProcess(question, True)
    proof.submit(closed.task)
    return closed, proof


def _in_matrix_notation(
    question: Question, run: Run, command: str
) -> MatrixForm | None:
    """Return the blocks in matrix notation; None if an input has a value or they
    cannot be written so."""
    if not (question.symbols and run.prepared.missing):
        return None
    from ...answers.matrix_form import matrix_form

    return matrix_form(question, run, command)


def _closed(
    matrices: MatrixForm,
    run: Run,
    check: CheckProcess,
    forms: Forms,
    printer: Printer,
    require: str | None,
) -> int:
    """Print blocks as formulas on whole arrays, with their verdicts; return the exit
    status."""
    check.require()
    check.submit(matrices.task)
    verification = matrices.verification(check.finish())
    name = run.output_name if run.names_output else ""
    layout = printer.layout
    printer.text(forms.in_matrices(matrices, name, verification, layout, "blocks"))
    return exit_status(verification, require)


def _multiplied(
    question: Question, times: Sequence[str], command: str, require: str | None
) -> int:
    """Print a product with a derivative, then its verdicts; return the exit status."""
    check, printer = CheckProcess(question, require is not None), Printer()
    found = product(question, command, times, check.wanted)
    if found.job is not None:
        check.submit(found.job, found.unasked)
    drawn = draw.products(found, printer.layout)
    printer.text(draw.plain_products(found) if form.quiet else drawn)
    verification = check.finish()
    if verification is not None:
        verification = found.reworded(verification)
    if form.json:
        printer.object(found.judged(verification))
    elif verification is not None and not form.quiet:
        labels = draw.product_labels(found)
        printer.lines(verdict_lines(verification, labels, "products"))
    return exit_status(verification, require)
