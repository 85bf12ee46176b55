"""``gradcli paths``: the chain rule, path by path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..lang.errors import ProgramError
from .exits import Exit
from .options import GradOutput, Request, on_programs
from .problems import wrong

if TYPE_CHECKING:
    from ..engine import Tensor
    from ..lang.run import Run
    from ..views.names import Names
    from ..views.paths import PathsAnswer


@on_programs
def main(
    request: Request,
    start: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="NAME", help="Where paths start (default: the output)."
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="NAMES", help="Where they end: a,b (default: every input)."
        ),
    ] = None,
    most: Annotated[
        int,
        typer.Option("--most", metavar="N", min=1, help="List the N heaviest only."),
    ] = 10,
    grad_output: GradOutput = None,
) -> int:
    """The chain rule, path by path, with each path's product.

    The products add up to the gradient.

    Example: gradcli paths "b = w1*a; c = w2*a; L = 10 - b*c" a=2 w1=3 w2=1 --to a
    """
    if start is not None and request.of is not None:
        raise wrong("E590", "--from and --of exclude each other", "leave --of out")
    from ..views.names import Names
    from .session import as_name, require_graph, run_program

    names = Names()
    run = run_program(request, names.heard)
    names.settle(run.inputs, run.variables, run.prepared.code.assigned)
    if start is not None:
        run = _started(run, as_name(start))
    require_graph(run)
    answer = _answer(run, names, to, most, grad_output)
    from ..render import paths as draw
    from .output import Printer

    printer = Printer()
    if request.json:
        printer.lines(draw.as_json(answer))
    elif request.quiet:
        printer.lines(draw.bare(answer))
    else:
        printer.lines(draw.listing(answer, printer.layout))
    printer.flush()
    return Exit.DONE


def _answer(
    run: Run, names: Names, to: str | None, most: int, grad_output: str | None
) -> PathsAnswer:
    from ..views.paths import Paths, PathsAnswer
    from .session import explained, graph_of, named, start_of_pass

    ends = _ends(run, to)
    cotangent = start_of_pass(run, grad_output)
    view = graph_of(run, local_gradients=False)
    with explained(run):
        paths = Paths(run.output, cotangent, ends, names, view)
        targets = tuple(paths.to(name, most) for name in ends)
    derived = run.output_name if named(run) else ""
    weighted = grad_output is not None
    return PathsAnswer(run.source, run.output_name, derived, weighted, targets)


def _started(run: Run, name: str) -> Run:
    """The same run with another of its values as the output."""
    from ..lang.run import Run

    fields = {field: getattr(run, field) for field in Run._fields}
    fields["output"] = _value(run, name, "--from", _outputs(run))
    fields["output_name"] = fields["of"] = name
    return Run(**fields)


def _ends(run: Run, to: str | None) -> dict[str, Tensor]:
    """The tensors to look for, by name."""
    from .session import differentiated, listed

    asked = listed(to)
    if asked is None:
        return {given.name: given.tensor for given in differentiated(run)}
    if not asked:
        raise wrong("E595", "--to names nothing", "give names: --to a,b")
    return {name: _value(run, name, "--to", _inputs(run)) for name in asked}


def _outputs(run: Run) -> dict[str, object]:
    """Values by name: what a name means in the end."""
    inputs = {given.name: given.tensor for given in run.inputs}
    return {run.output_name: run.output, **inputs, **run.variables}


def _inputs(run: Run) -> dict[str, object]:
    """Values by name: what an input's name meant in the beginning."""
    return {**run.variables, **{i.name: i.tensor for i in run.inputs}}


def _value(run: Run, name: str, option: str, values: dict[str, object]) -> Tensor:
    from ..engine import Tensor

    found = values.get(name)
    if isinstance(found, Tensor):
        return found
    tensors = [n for n, value in values.items() if isinstance(value, Tensor)]
    known = f"the values are {', '.join(tensors)}"
    if name in values:
        from ..lang.frame import described

        message = f"{option}: '{name}' is {described(found)}, no tensor"
        raise ProgramError("E507", message, hint=known)
    from ..lang.suggest import did_you_mean

    hint = did_you_mean(name, tensors) or known
    raise ProgramError("E507", f"{option}: no value is called '{name}'", hint=hint)
