"""``gradcli grad``: values, gradients, the graph's steps, and verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from .box import read_boxes, tell_middles
from .checking import Check, exit_status, job_for, numbers_in, require_check
from .code import as_json as code_json
from .code import code_lines, code_of, program_of_gradients
from .extras import extras_of
from .forms import Forms
from .limits import MAX_DIGITS, MAX_ORDER
from .many import Many
from .options import GradOutput, Request, Requirement, on_programs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..render.line import Line
    from ..verify.process.job import Job, Verification
    from ..views.closed_forms import ProgramView
    from ..views.gradients import GradView
    from .extras import Extras
    from .output import Printer
    from .session import Gradients


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
    if many.asked:
        from .at_points import run

        others = {"digits": digits, "condition": condition, "require": require,
                  "order": order > 1, "shape": request.shape,
                  "symbolic": forms.symbolic, "latex": forms.latex, "code": forms.code,
                  "grad-output": grad_output, "box": box}  # fmt: skip
        return run(request, many, others)
    if order > 1:
        from .order import of_order

        given = {"symbolic": forms.symbolic, "latex": forms.latex, "code": forms.code,
                 "grad-output": grad_output, "digits": digits, "box": box,
                 "condition": condition}  # fmt: skip
        return of_order(request, order, given, require)
    forms.check(request, digits=digits, condition=condition, box=box)
    require_check(request, require)
    boxes = read_boxes(request, box)
    check = Check.start(request, needed=forms.formulas or require is not None)
    from .output import Printer
    from .session import gradients, run_program

    plain = not (forms.formulas or forms.code or grad_output or digits or condition)
    session = run_program(
        request, parts=plain and not boxes, more=[each.middle() for each in boxes]
    )
    tell_middles(boxes)
    alone = forms.alone(request)
    drawn = not (request.json or request.quiet or alone)
    found = gradients(session, grad_output, with_graph=drawn)
    precise = digits is not None or bool(boxes)
    needed = check.wanted or precise
    job = gradient_job(request, found, forms.formulas) if needed else None
    if job is not None and check.wanted:
        check.submit(job)
    printer = Printer()
    if not (request.json or alone or (request.quiet and precise)):
        _show_numbers(printer, request, found.view)
    answer = Answer(
        found,
        forms,
        code_of(session, forms.code, "gradient", found.cotangent),
        program_of_gradients(found) if forms.symbolic else None,
        extras_of(request, found, job, grad_output, digits, condition, boxes),
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
    """

    found: Gradients
    forms: Forms
    code: list[str] | None
    program: ProgramView | None
    extras: Extras

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
                from ..views.closed_forms import of_gradients

                views = of_gradients(self.found.view, verification.inputs)
                self.forms.show(printer, views, alone)
        if self.program is not None and not alone:
            from ..render.closed_forms import program

            printer.lines(program(self.program))

    def as_json(self, verification: Verification | None) -> Line:
        """The whole answer as one object."""
        from ..render.jsons import grad as as_json

        whole, by_input = self.extras.as_json(self.found)
        return as_json(
            self.found.view, verification, self.forms.formulas,
            {**whole, **code_json(self.code, self.program)}, by_input,
            self.forms.latex,
        )  # fmt: skip


def _show_numbers(printer: Printer, request: Request, view: GradView) -> None:
    from ..render import gradients

    layout = printer.layout
    printer.lines(
        gradients.bare(view) if request.quiet else gradients.answer(view, layout)
    )
    printer.flush()


def _show_verdicts(
    printer: Printer, view: GradView, verification: Verification
) -> None:
    from ..render.gradients import labels
    from ..render.verdicts import verdict_lines

    printer.lines(verdict_lines(verification, labels(view), "gradients"))


def gradient_job(request: Request, found: Gradients, symbolic: bool = False) -> Job:
    """What to check: the gradients as claims."""
    from ..verify.process.job import Block

    claims = {}
    for given in found.inputs:
        gradient = found.by_name[given.name]
        shape = tuple(given.tensor.shape)
        # A gradient that does not arrive claims that it is zero.
        numbers = (
            [0.0] * given.tensor.numel() if gradient is None else numbers_in(gradient)
        )
        claims[given.name] = Block.of(shape, numbers)
    return job_for(
        found.run, request, "gradient", claims, found.cotangent, formulas=symbolic
    )
