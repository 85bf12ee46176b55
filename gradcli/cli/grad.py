"""``gradcli grad``: values, gradients, the graph's steps, and verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .checking import Check, job_for, numbers_in
from .code import as_json as code_json
from .code import code_lines, code_of, program_of_gradients
from .exits import Exit
from .extras import MOST_DIGITS, extras_of
from .forms import Forms, GradientCode, Latex, Symbolic
from .options import GradOutput, Request, on_programs

if TYPE_CHECKING:
    from ..symbolic.job import Job, Verification
    from ..views.gradients import GradView
    from .output import Printer
    from .session import Gradients


@on_programs
def main(
    request: Request,
    grad_output: GradOutput = None,
    symbolic: Symbolic = False,
    latex: Latex = False,
    code: GradientCode = None,
    digits: Annotated[
        int | None,
        typer.Option(
            "--digits",
            metavar="N",
            min=1,
            max=MOST_DIGITS,
            help="Show value and gradients with N digits, too; decimals mean what is "
            "typed.",
        ),
    ] = None,
    condition: Annotated[
        bool,
        typer.Option(
            "--condition", help="How much an input's relative error is amplified."
        ),
    ] = False,
) -> int:
    """Gradients of a program by its inputs, checked.

    Example: gradcli grad "y = x**3 + b" x=2 b=1
    """
    forms = Forms(symbolic, latex, code)
    forms.check(request, digits=digits, condition=condition)
    check = Check.start(request, needed=forms.formulas)
    from .output import Printer
    from .session import gradients, run_program

    session = run_program(request)
    alone = forms.alone(request)
    drawn = not (request.json or request.quiet or alone)
    found = gradients(session, grad_output, with_graph=drawn)
    printer = Printer()
    if not (request.json or alone) and not (request.quiet and digits):
        _show_numbers(printer, request, found.view)
    needed = check.wanted or digits is not None or code is not None
    job = gradient_job(request, found, forms.formulas) if needed else None
    text = code_of(session, job, code, found.cotangent)
    steps = program_of_gradients(found) if symbolic else None
    if alone:
        printer.lines(code_lines(text or ()))
        printer.flush()
    extras = extras_of(request, found, job, grad_output, digits, condition)
    if drawn:
        printer.lines(extras.lines(found))
        printer.flush()
    elif request.quiet and digits and not request.json:
        printer.lines(extras.bare())
    verification = check.finish(job if check.wanted else None)
    if request.json:
        from ..render.jsons import grad as as_json

        whole, by_input = extras.as_json()
        printer.lines([
            as_json(
                found.view, verification, forms.formulas,
                {**whole, **code_json(text, steps)}, by_input, latex,
            )
        ])  # fmt: skip
    elif verification is not None:
        if drawn:
            _show_verdicts(printer, found.view, verification)
        if forms.formulas and (drawn or alone):
            from ..views.closed_forms import of_gradients

            forms.show(printer, of_gradients(found.view, verification.inputs), alone)
    if steps is not None and drawn:
        from ..render.closed_forms import program

        printer.lines(program(steps))
    printer.flush()
    return exit_status(verification)


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
    claims = {}
    for given in found.inputs:
        gradient = found.by_name[given.name]
        shape = tuple(given.tensor.shape)
        # A gradient that does not arrive claims that it is zero.
        numbers = (
            [0.0] * given.tensor.numel() if gradient is None else numbers_in(gradient)
        )
        claims[given.name] = shape, numbers
    return job_for(
        found.run, request, "gradient", claims, found.cotangent, formulas=symbolic
    )


def exit_status(verification: Verification | None) -> int:
    """1 if anything was refuted, and then said on stderr too."""
    if verification is None or verification.verdict != "refuted":
        return Exit.DONE
    from .output import note

    wrong = [v for v in verification.inputs if v.verdict == "refuted"]
    for verdict in wrong:
        note(f"refuted: {verdict.name}: {verdict.note or 'see --json'}")
    return Exit.REFUTED
