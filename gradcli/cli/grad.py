"""``gradcli grad``: values, gradients, the graph's steps, and verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from ..answers.box import at_middles, read_boxes, tell_middles
from .checking import Check, exit_status, require_check
from .code import as_json as code_json
from .code import code_lines, code_of, program_of_gradients
from .extras import extras_of
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
from .tracing import begin_trace, tell, trace_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..answers.closed_forms import ProgramView
    from ..answers.gradients import Gradients, GradView
    from ..lang.fusion import Fusion
    from ..render.line import Line
    from ..verify.process.job import Verification
    from .extras import Extras
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
    boxes = read_boxes(question, box)
    check = Check.start(request, needed=forms.formulas or require is not None)
    from ..answers.gradients import gradients
    from .output import Printer, tell_trouble

    wholly = typed(**beside)
    fusion = begin_trace(wholly) if trace else None
    middle = at_middles(question, boxes)
    session = middle.run() if wholly else middle.run_in_parts(fusion)
    if not request.json:
        tell(fusion)
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
    answer = Answer(
        found,
        forms,
        code_of(session, forms.code, "gradient", found.cotangent),
        program_of_gradients(found) if forms.symbolic else None,
        extras_of(question, found, job, digits, condition, boxes),
        files,
        fusion,
    )
    if not request.json:
        printer.lines(answer.unchecked(drawn, alone, precise))
        printer.flush()
    verification = check.finish()
    if request.json:
        printer.lines([answer.as_json(verification)])
    elif drawn or alone:
        answer.checked(printer, verification, alone)
    printer.flush()
    return exit_status(verification, require)


@dataclass(frozen=True, slots=True)
class Answer:
    """What is printed besides the numbers.

    code     a function's lines, if one was asked for
    program  the adjoint program, if there is one to be shown
    extras   more digits, condition numbers, ranges over a box
    files    by input where its gradient was written
    fusion   what was computed part by part, if that was asked for
    """

    found: Gradients
    forms: Forms
    code: list[str] | None
    program: ProgramView | None
    extras: Extras
    files: Mapping[str, str]
    fusion: Fusion | None

    def unchecked(self, drawn: bool, alone: bool, precise: bool) -> Iterable[Line]:
        """Lines that can be printed before the verdicts are known."""
        if alone:
            return code_lines(self.code or ())
        if drawn:
            return self.extras.lines(self.found)
        return self.extras.bare(self.found) if precise else ()

    def checked(
        self, printer: Printer, verification: Verification | None, alone: bool
    ) -> None:
        """Verdicts and formulas."""
        if verification is not None:
            if not alone:
                _show_verdicts(printer, self.found.view, verification)
            if self.forms.formulas:
                from ..answers.closed_forms import of_gradients

                views = of_gradients(self.found.view, verification.inputs)
                self.forms.show(printer, views, alone)
        if self.program is not None and not alone:
            from ..render.closed_forms import program

            printer.lines(program(self.program))

    def as_json(self, verification: Verification | None) -> Line:
        """The whole answer as one object."""
        from ..answers.gradients import without
        from ..render.jsons import grad as as_json

        whole, more = self.extras.as_json(self.found)
        by_input = dict(more)
        for name, place in self.files.items():
            by_input[name] = {**by_input.get(name, {}), "file": place}
        view = self.found.view
        return as_json(
            without(view, self.files) if self.files else view,
            verification,
            self.forms.formulas,
            {
                **whole,
                **code_json(self.code, self.program),
                **trace_json(self.fusion),
            },
            by_input,
            self.forms.latex,
        )


def _show_numbers(
    printer: Printer, request: Request, view: GradView, files: Mapping[str, str]
) -> None:
    from ..render import gradients

    if request.quiet:
        printer.lines(gradients.bare(view, files))
    else:
        printer.lines(gradients.answer(view, printer.layout, files))
    printer.flush()


def _show_verdicts(
    printer: Printer, view: GradView, verification: Verification
) -> None:
    from ..render.gradients import labels
    from ..render.verdicts import verdict_lines

    printer.lines(verdict_lines(verification, labels(view), "gradients"))
