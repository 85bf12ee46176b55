"""``gradcli grad --order N``: derivatives of higher order, of numbers by numbers.

Invariant: the numbers are the engine's, printed before they are checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .options import Request
from .problems import typed, wrong

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..lang.run import Run
    from ..render.line import Layout, Line
    from ..verify.process.job import Job


def of_order(
    request: Request, order: int, others: Mapping[str, object], required: str | None
) -> int:
    """Print the derivatives and what could be shown of them; the exit status."""
    from ..answers.gradients import output_of
    from ..autograd.orders import of_order as derivative_of
    from .checking import exit_status, require_check
    from .output import Printer
    from .sources import question_of

    extra = typed(**others)
    if extra:
        message = f"--order shows the derivatives alone, without {extra[0]}"
        raise wrong("E590", message, "drop one of them")
    require_check(request, required)
    run = question_of(request).run()
    _refuse_arrays(run, order)
    with run.explained():
        found = {
            given.name: float(derivative_of(run.output, given.tensor, order).item())
            for given in run.differentiated
        }
    view = output_of(run)
    labels = {name: f"d{order}{_called(run)}/d{name}{order}" for name in found}
    printer = Printer()
    if not request.json:
        printer.lines(_lines(request, view, labels, found, printer.layout))
        printer.flush()
    wanted = required is not None or request.json or not request.quiet
    verification = None
    if wanted and not request.no_verify:
        from ..verify.orders import verified

        verification = verified(_job(run, request, found), order, found)
    if request.json:
        printer.lines([_as_json(run, view, order, found, verification)])
    elif verification is not None and not request.quiet:
        from ..render.verdicts import verdict_lines

        printer.lines(verdict_lines(verification, labels, "derivatives"))
    printer.flush()
    return exit_status(verification, required)


def _refuse_arrays(run: Run, order: int) -> None:
    """See that the output and the inputs are numbers.

    Raises:
        ProgramError: one is not.
    """
    run.require_graph()
    run.require_scalar()
    for given in run.differentiated:
        if given.tensor.numel() != 1:
            shape = list(given.tensor.shape)
            message = f"--order {order} is of numbers: {given.name} has shape {shape}"
            raise wrong("E596", message, "leave it out with --wrt, or index it")


def _called(run: Run) -> str:
    return run.output_name if run.names_output else ""


def _lines(
    request: Request, view: Any, labels: Mapping[str, str],
    found: Mapping[str, float], layout: Layout,
) -> Iterator[Line]:  # fmt: skip
    from ..lang.excerpt import printable
    from ..render.arrays import value_lines
    from ..render.line import BLANK, Line
    from ..render.numbers import number

    if request.quiet:
        for value in found.values():
            yield Line(((number(value), "number"),))
        return
    yield from value_lines(printable(view.name), view.value, layout)
    yield BLANK
    for name, value in found.items():
        label = printable(labels[name])
        yield Line(((label, "name"), (" = ", "plain"), (number(value), "number")))


def _job(run: Run, request: Request, found: Mapping[str, float]) -> Job:
    from ..answers.jobs import job_for
    from ..verify.process.job import Block

    claims = {name: Block.of((), [value]) for name, value in found.items()}
    return job_for(run, request.verify_seconds, "gradient", claims)


def _as_json(
    run: Run, view: Any, order: int, found: Mapping[str, float], verification: Any
) -> Line:
    from ..answers.gradients import GradView, input_views
    from ..render.jsons import grad

    shown = GradView(
        program=run.source,
        device=run.device,
        dtype=run.dtype,
        seed=run.seed,
        output=view,
        inputs=input_views(run.inputs, {}),
        graph=None,
    )
    derivatives = {name: {"derivative": value} for name, value in found.items()}
    return grad(shown, verification, more={"order": order}, by_input=derivatives)
