"""``gradcli grad``: values, gradients, the graph's steps, and verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .checking import Check, job_for, numbers_in
from .exits import Exit
from .extras import MOST_DIGITS, extras_of
from .options import Request, on_programs

if TYPE_CHECKING:
    from ..symbolic.job import Job, Verification
    from ..views.gradients import GradView
    from .output import Printer
    from .session import Gradients


@on_programs
def main(
    request: Request,
    grad_output: Annotated[
        str | None,
        typer.Option(
            "--grad-output",
            metavar="VALUE",
            help="What a vector output's gradient is contracted with.",
        ),
    ] = None,
    symbolic: Annotated[
        bool,
        typer.Option("--symbolic", help="Show the gradients as formulas, in full."),
    ] = False,
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
    check = Check.start(request, needed=symbolic)
    from .output import Printer
    from .session import gradients, run_program

    session = run_program(request)
    drawn = not (request.json or request.quiet)
    found = gradients(session, grad_output, with_graph=drawn)
    printer = Printer()
    if not request.json and not (request.quiet and digits):
        _show_numbers(printer, request, found.view)
    needed = check.wanted or digits is not None
    job = gradient_job(request, found, symbolic) if needed else None
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
        printer.lines([as_json(found.view, verification, symbolic, whole, by_input)])
    elif verification is not None and not request.quiet:
        _show_verdicts(printer, found.view, verification, symbolic)
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
    printer: Printer, view: GradView, verification: Verification, symbolic: bool
) -> None:
    from ..render.gradients import labels
    from ..render.verdicts import verdict_lines

    printer.lines(verdict_lines(verification, labels(view), "gradients"))
    if symbolic:
        from ..render.closed_forms import formulas
        from ..views.closed_forms import of_gradients

        printer.lines(formulas(of_gradients(view, verification.inputs), printer.layout))


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
