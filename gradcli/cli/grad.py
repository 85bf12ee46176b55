"""``gradcli grad``: values, gradients, the graph's steps, and verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..answers.extras import extras_of
from .checking import Check, conclude, require_check
from .code import code_lines, code_of, joined, program_of_gradients
from .forms import Forms
from .limits import MAX_DIGITS, MAX_ORDER
from .many import Many
from .options import (
    GradOutput,
    Request,
    Requirement,
    on_programs,
    was_typed,
)
from .problems import typed
from .sources import question_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..answers.box import Box
    from ..answers.grad import Grad
    from ..answers.gradients import GradView
    from ..render.line import Line
    from ..verify.process.job import Verification
    from .output import Printer


@on_programs
def main(
    request: Request,
    forms: Forms,
    many: Many,
    grad_output: GradOutput = None,
    digits: Annotated[
        int | None,
        typer.Option(
            "--digits",
            metavar="N",
            min=1,
            max=MAX_DIGITS,
            help="Show value and gradients also with N certified digits; a decimal is "
            "taken exactly as it is typed.",
        ),
    ] = None,
    condition: Annotated[
        bool,
        typer.Option(
            "--condition", help="Show how much an input's relative error is amplified."
        ),
    ] = False,
    box: Annotated[
        list[str] | None,
        typer.Option(
            "--box",
            metavar="NAME=LOWER..UPPER",
            help="Certified ranges of value and gradients, and the gradients' signs, "
            "where an input lies anywhere between two values.",
        ),
    ] = None,
    trace: Annotated[
        bool,
        typer.Option(
            "--trace",
            help="Tell on stderr which region of the program was computed part by "
            "part on all cores, and why the rest was not.",
        ),
    ] = False,
    order: Annotated[
        int,
        typer.Option(
            "--order",
            metavar="N",
            min=1,
            max=MAX_ORDER,
            help="The N-th derivative by each input, of numbers by numbers.",
        ),
    ] = 1,
    require: Requirement = None,
) -> int:
    """Gradients of a program by its inputs, checked.

    Example: gradcli grad "y = x**3 + b" x=2 b=1
    """
    beside = {**forms.asked, "grad_output": grad_output, "digits": digits,
              "condition": condition, "box": box}  # fmt: skip
    if many.asked:
        from .at_points import run

        others = {"require": require, "order": order > 1, "shape": request.shape,
                  "verify-seconds": was_typed("verify_seconds")}  # fmt: skip
        return run(request, many, {**beside, **others}, trace)
    if order > 1:
        from .order import of_order

        return of_order(request, order, {**beside, "trace": trace}, require)
    forms.check(request, digits=digits, condition=condition, box=box)
    require_check(request, require)
    question = question_of(request, grad_output)
    boxes: tuple[Box, ...] = ()
    middle = question
    if box:
        from ..answers.box import at_middles, read_boxes

        boxes = read_boxes(question, box)
        middle = at_middles(question, boxes)
    check = Check.start(request, needed=forms.formulas or require is not None)
    from ..answers.gradients import gradients
    from .output import Printer, tell_trouble

    wholly = typed(**beside)
    fusion = None
    if trace:
        from .tracing import begin_trace

        fusion = begin_trace(wholly)
    session = middle.run() if wholly else middle.run_in_parts(fusion)
    if trace and not request.json:
        from .tracing import tell as tell_trace

        tell_trace(fusion)
    if boxes:
        from ..answers.box import tell_middles

        tell_middles(question, boxes)
    alone = forms.alone(request)
    drawn = not (request.json or request.quiet or alone)
    found = gradients(session, grad_output, with_graph=drawn)
    tell_trouble(found.trouble)
    precise = digits is not None or bool(boxes)
    needed = check.wanted or precise
    files: dict[str, str] = {}
    if many.out is not None:
        from .gradient_files import write

        files = write(many.out, found)
    job = reason = None
    if needed:
        job, reason = found.task(question.seconds, forms.formulas, precise)
    if job is not None and check.wanted:
        check.hand(job, reason)
    printer = Printer()
    if not (request.json or alone or (request.quiet and precise)):
        _show_numbers(printer, request, found.view, files)
    code = code_of(session, forms.code, "gradient", found.cotangent)
    program = program_of_gradients(found) if forms.symbolic else None
    extras = extras_of(question, found, job, digits, condition, boxes)
    if alone:
        printer.lines(code_lines(code or ()))
    elif drawn or (precise and not request.json):
        from ..render import gradients as draw

        write = draw.beside if drawn else draw.bare_beside
        printer.lines(write(found.view, extras))
    printer.flush()

    def answer(verification: Verification | None) -> Grad:
        from ..answers.closed_forms import of_gradients
        from ..answers.grad import judged
        from ..answers.gradients import without

        view = found.view
        written = None
        if forms.formulas:
            verdicts = verification.inputs if verification is not None else ()
            written = forms.written(of_gradients(view, verdicts))
        return judged(
            without(view, files) if files else view,
            verification,
            extras,
            written,
            files,
            code=joined(code),
            adjoint_program=joined(program.lines if program is not None else None),
            fusion=fusion,
        )

    def text(verification: Verification | None) -> Iterator[Line]:
        if verification is not None and drawn:
            from ..render.gradients import labels
            from ..render.verdicts import verdict_lines

            yield from verdict_lines(verification, labels(found.view), "gradients")
        if verification is not None and forms.formulas:
            from ..answers.closed_forms import of_gradients

            views = of_gradients(found.view, verification.inputs)
            yield from forms.lines(views, printer.layout, alone)
        if program is not None and not alone:
            from ..render.closed_forms import program as adjoint

            yield from adjoint(program)

    return conclude(request, printer, check.finish(), require, answer, text)


def _show_numbers(
    printer: Printer, request: Request, view: GradView, files: Mapping[str, str]
) -> None:
    from ..render import gradients

    if request.quiet:
        printer.lines(gradients.bare(view, files))
    else:
        printer.lines(gradients.answer(view, printer.layout, files))
    printer.flush()
