"""``gradcli grad``: values, gradients, the graph's steps, and verdicts."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

from typer import Option

from ...answers import gradients as draw
from ...answers.gradients import gradients, without
from ...answers.line import BLANK, Line, unbroken
from ...ops.records import record
from ..checking import CheckProcess, exit_status, needs_verdict
from ..forms import Forms, joined, program_of_gradients
from ..limits import MAX_DIGITS, MAX_ORDER
from ..options import GradOutput, Many, Request, Requirement
from ..output import Printer, form, warn, warn_non_finite
from ..problems import typed, wrong
from ..sources import note_derived, note_missing, question_of

if TYPE_CHECKING:
    from ...answers.box import Box
    from ...answers.grad import GradExtras
    from ...answers.gradients import Gradients
    from ...answers.line import Part
    from ...answers.matrix_form import MatrixForm
    from ...answers.question import Question
    from ...check.process.job import Verification
    from ...lang.run import Run


@record
class PointOptions:
    """A group of options: what else is computed at one point."""

    grad_output: GradOutput = None
    digits: Annotated[
        int | None,
        Option(
            "--digits",
            metavar="N",
            min=1,
            max=MAX_DIGITS,
            help="Also show N certified digits of value and gradients. A decimal is "
            "taken exactly as it is typed.",
        ),
    ] = None
    condition: Annotated[
        bool,
        Option(
            "--condition", help="Show how much an input's relative error is amplified."
        ),
    ] = False
    box: Annotated[
        list[str] | None,
        Option(
            "--box",
            metavar="NAME=A..B",
            help="Certify ranges for an input between two values. These are the "
            "ranges of value and gradients, with the gradients' signs.",
        ),
    ] = None


def main(
    request: Request,
    forms: Forms,
    many: Many,
    beside: PointOptions,
    order: Annotated[
        int,
        Option(
            "--order",
            metavar="N",
            min=1,
            max=MAX_ORDER,
            help="The N-th derivative by each input. Output and inputs are numbers.",
        ),
    ] = 1,
    require: Requirement = None,
) -> int:
    """Gradients with verdicts, or formulas where inputs have no values.

    Example: gradcli grad "y = x**3 + b" x=2 b=1
    """
    forms = forms.settled()
    others = {**asdict(forms), **asdict(beside)}
    if many.asked(".npz", ".npy"):
        many.refuse(request, require, **others, order=order > 1)
        from ..at_points import run

        question = question_of(request, beside.grad_output, others=None)
        return run(question, many, "grad", require)
    if order > 1:
        extra = typed(**others)
        if extra:
            message = f"--order shows only the derivatives, without {extra[0]}"
            raise wrong("E590", message, "drop one of them")
        return _of_order(question_of(request, beside.grad_output), order, require)
    forms.check(digits=beside.digits, condition=beside.condition, box=beside.box)
    asked = {"digits": beside.digits, "condition": beside.condition, "box": beside.box}
    symbols = forms.in_symbols(**asked, out=many.out)
    ranged = [text.partition("=")[0].strip() for text in beside.box or ()]
    equations = not beside.box
    question = question_of(
        request, beside.grad_output, symbols, ranged, equations=equations
    )
    note_derived(request, question)
    return _at_one_point(question, forms, beside, many.out, require)


def _at_one_point(
    question: Question,
    forms: Forms,
    beside: PointOptions,
    out: str | None,
    require: str | None,
) -> int:
    """Print the gradients, what is computed beside them, and their verdicts; return the
    exit status."""
    check = CheckProcess(question, forms.formulas or needs_verdict(require))
    printer = Printer()
    layout = printer.layout
    wholly = typed(**asdict(forms), **asdict(beside))
    run, boxes = _run(question, beside.box, bool(wholly))
    symbols = question.symbols and bool(run.prepared.missing)
    if symbols:
        if not (forms.symbolic or forms.latex):
            note_missing(question, run.prepared.missing)
        if form.json or forms.code is None:
            check.require()
        forms = forms.of_symbols()
    matrices = None
    if symbols and not forms.entries and forms.code is None:
        from ...answers.matrix_form import matrix_form

        matrices = matrix_form(question, run)
    if matrices is not None:
        return _in_matrix_notation(matrices, run, check, forms, printer, require)
    drawn = form.full and not forms.code_only
    found = gradients(run, question.grad_output, with_graph=drawn)
    others = typed(
        **asdict(replace(forms, symbolic=False, latex=False)), **asdict(beside)
    )
    closed, proof = _closed_form(question, forms, found, symbols or bool(others))
    view = found.view.in_symbols() if symbols else found.view
    if not symbols:
        warn_non_finite(found.trouble)
    files: dict[str, str] = {}
    if out is not None:
        from ...tables.array_files import write_gradients

        files = write_gradients(out, run.output, found.by_name)
    precise = beside.digits is not None or bool(boxes)
    job = None
    if check.wanted or precise:
        job, reason = found.job(
            question.seconds, forms.formulas and closed is None, precise
        )
        if check.wanted:
            check.submit(job, reason)
    if drawn and not symbols:
        printer.lines(draw.answer(view, layout, files))
    elif not (drawn or forms.code_only or precise):
        printer.text(draw.plain_gradients(view, files))
    code = forms.code_of(run, "gradient", found.cotangent)
    adjoint = program_of_gradients(found) if forms.symbolic else None
    extras: GradExtras | None = None
    if forms.code_only:
        printer.lines(map(unbroken, code or ()))
    elif precise or beside.condition:
        from ...answers.grad import extra_lines, extras_of, plain_extras

        asked = beside.digits, beside.condition, boxes
        extras = extras_of(question, found, job, *asked)
        lines = extra_lines if drawn else plain_extras
        printer.text(lines(view, extras))
    verification, lacking = check.finish(), None
    judgement = None if proof is None else proof.finish()
    if closed is not None and judgement is not None and verification is not None:
        verification = closed.stated_with(verification, judgement)
    if symbols and verification is not None:
        verification = verification.in_symbols()
        lacking = None if adjoint else forms.lacking(view, verification)
    if form.json:
        from ...answers.grad import judged

        if lacking is not None:
            raise lacking
        answer = judged(
            without(view, files) if files else view,
            verification,
            extras,
            forms.written(view, verification),
            files,
            blame=None if symbols else found.trouble,
            code=joined(code),
            adjoint_program=joined(None if adjoint is None else adjoint.lines),
        )
        printer.object(answer)
    labels = draw.labels(view) if drawn else {}
    entries = forms if closed is None else forms.without_formulas()
    closing = entries.closing(view, verification, labels, "gradients", layout, symbols)
    printer.text(closing)
    if closed is not None and judgement is not None and forms.formulas:
        name = view.output.name if view.output.named else ""
        proved = closed.verification(judgement)
        printer.text(forms.after_numbers(closed, name, proved, layout))
    if symbols and verification is not None and form.read:
        _note_limits(run, verification)
    if adjoint is not None and drawn:
        from ...answers.closed_forms import program

        printer.lines(program(adjoint, symbols))
    status = exit_status(verification, require, symbols or found.trouble is None)
    if lacking is not None:
        raise lacking
    return status


def _note_limits(run: Run, verification: Verification) -> None:
    """Tell that formulas hold in one part of the domain, and for any values."""
    from ...answers.parts import elsewhere

    conditions = verification.side_conditions
    place = elsewhere(run, conditions)
    if place is not None:
        warn(f"that is the formula in one part of the domain; {place} is in another")
    missing = {*run.prepared.missing}
    given = [each.name for each in run.inputs if each.name not in missing]
    if given:
        names = " ".join(f"{name}=VALUE" for name in run.prepared.missing)
        warn(f"the formula is that for any {', '.join(given)}; add {names} for numbers")


def _closed_form(
    question: Question, forms: Forms, found: Gradients, more: bool
) -> tuple[MatrixForm | None, CheckProcess | None]:
    """Return the gradients by matrices that have values as formulas, and the process
    that proves them; None if nobody reads them or ``more`` is asked for."""
    read = form.read or (forms.formulas and not form.json)
    if more or not read or not (question.verified or forms.formulas):
        return None, None
    if all(given.tensor.ndim < 2 for given in found.run.inputs):
        return None, None
    from ...answers.matrix_form import form_at_values

    closed = form_at_values(question, found.run, lambda by: found.by_name[by[0]])
    if closed is None:
        return None, None
    proof = CheckProcess(question, True)
    proof.submit(closed.task)
    return closed, proof


def _in_matrix_notation(
    matrices: MatrixForm,
    run: Run,
    check: CheckProcess,
    forms: Forms,
    printer: Printer,
    require: str | None,
) -> int:
    """Print the gradients as formulas on whole arrays, with their verdicts; return the
    exit status."""
    check.submit(matrices.task)
    view = gradients(run, None, with_graph=False).view.in_symbols()
    verification = matrices.verification(check.finish())
    if form.json:
        from ...answers.grad import judged

        printer.object(judged(view, verification))
    name = view.output.name if view.output.named else ""
    layout = printer.layout
    printer.text(forms.in_matrices(matrices, name, verification, layout, "gradients"))
    return exit_status(verification, require)


def _run(
    question: Question, box: list[str] | None, wholly: bool
) -> tuple[Run, tuple[Box, ...]]:
    """Run the program, at the middle of the box if there is one; return the run and the
    boxes. The graph is that of everything if it is asked for ``wholly``."""
    boxes: tuple[Box, ...] = ()
    middle = question
    if box:
        from ...answers.box import at_middles, note_middles, read_boxes

        boxes = read_boxes(question, box)
        middle = at_middles(question, boxes)
    run = middle.run() if wholly else middle.run_in_parts()
    if boxes:
        note_middles(question, boxes)
    return run, boxes


def _of_order(question: Question, order: int, require: str | None) -> int:
    from ...answers.numbers import number, value_lines
    from ...lang.excerpt import printable

    found, printer = draw.orders(question, order), Printer()
    output = found.view.output
    if form.full:
        name = printable(output.name)
        printer.lines(value_lines(name, output.value, printer.layout))
        printer.lines([BLANK])
    for name, value in found.derivatives.items():
        shown: Part = (number(value), "number")
        label = printable(found.labels[name])
        whole: tuple[Part, ...] = (label, "name"), (" = ", "plain"), shown
        printer.text([Line(shown) if form.quiet else Line(*whole)])
    verification = None
    if question.verified and (require is not None or not form.numbers_only):
        verification = found.verified()
    if form.json:
        from ...answers.grad import judged

        derived = found.derivatives
        printer.object(
            judged(found.view, verification, derivatives=derived, order=order)
        )
    elif verification is not None and not form.quiet:
        from ...answers.verdict_lines import verdict_lines

        printer.lines(verdict_lines(verification, found.labels, "derivatives"))
    return exit_status(verification, require)
