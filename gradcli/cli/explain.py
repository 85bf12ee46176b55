"""``gradcli explain``: the backward pass, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .exits import Exit
from .options import GradOutput, Request, on_programs, refuse_idle
from .problems import wrong

if TYPE_CHECKING:
    from ..views.explanation import Explanation


@on_programs
def main(
    request: Request,
    step: Annotated[
        bool, typer.Option("--step", help="Wait for a key after each step; q quits.")
    ] = False,
    grad_output: GradOutput = None,
) -> int:
    """The backward pass as it happens, node by node.

    Shown is what arrives at each node, and what goes on to the next.

    Example: gradcli explain "u = x*y; L = u + x" x=2 y=3
    """
    refuse_idle(request, "gradcli explain")
    if step:
        _require_terminal(request)
    from ..render import explanation as draw
    from .output import show

    explanation = _explained(request, grad_output)
    if step:
        return _stepwise(explanation)
    return show(
        request,
        json=lambda: draw.as_json(explanation),
        bare=lambda: draw.bare(explanation),
        text=lambda layout: draw.lines(explanation, layout),
    )


def _require_terminal(request: Request) -> None:
    from .keys import terminal

    for option, given in (("--json", request.json), ("--quiet", request.quiet)):
        if given:
            hint = "choose one of them"
            raise wrong("E590", f"--step and {option} exclude each other", hint)
    if not terminal():
        raise wrong(
            "E590",
            "--step waits for keys, and there is no terminal to press them",
            "leave --step out: all steps are printed then",
        )


def _explained(request: Request, grad_output: str | None) -> Explanation:
    from ..views.explanation import Explanation, explain
    from ..views.numbers import plain
    from .session import graph_of, output_of_run, run_with_names

    run, names = run_with_names(request)
    run.require_graph()
    start = run.first_cotangent(grad_output)
    view = graph_of(run, local_gradients=False)
    with run.explained():
        steps = explain(run.output, start, names, view)
    output, given = output_of_run(run), grad_output is not None
    return Explanation(run.source, output, plain(start.raw), given, steps)


def _stepwise(explanation: Explanation) -> int:
    """Print a step and wait for a key, until the steps end or the key is q."""
    from ..render.explanation import opening, step
    from .keys import ENDS, key
    from .output import Printer, prompt

    printer = Printer()
    printer.lines(opening(explanation, printer.layout))
    last = len(explanation.steps)
    for each in explanation.steps:
        printer.lines(step(each, printer.layout))
        printer.flush()
        if each.number < last:
            with prompt(f"({each.number} of {last}: any key for the next, q ends)"):
                pressed = key()
            if pressed in ENDS:
                break
    return Exit.DONE
