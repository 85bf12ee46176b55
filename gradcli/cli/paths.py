"""``gradcli paths``: the chain rule, path by path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..lang.errors import ProgramError
from .options import VERIFIES_NOTHING, GradOutput, Request, without
from .problems import refuse_both, typed, wrong

if TYPE_CHECKING:
    from ..engine import Tensor
    from ..lang.run import Run
    from ..views.names import Names
    from ..views.paths import PathsAnswer


@without(VERIFIES_NOTHING)
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
            "--to", metavar="NAMES", help="Where paths end: a,b (default: every input)."
        ),
    ] = None,
    most: Annotated[
        int,
        typer.Option(
            "--most",
            metavar="N",
            min=1,
            help="List only the N paths with the largest products.",
        ),
    ] = 10,
    latex: Annotated[
        bool, typer.Option("--latex", help="Write the paths as equations in LaTeX.")
    ] = False,
    grad_output: GradOutput = None,
) -> int:
    """The chain rule, path by path, with each path's product.

    The products add up to the gradient.

    Example: gradcli paths "b = w1*a; c = w2*a; L = b*c" a=2 w1=3 w2=1
    """
    if start is not None and request.of is not None:
        raise wrong("E590", "--from and --of exclude each other", "leave --of out")
    if latex:
        others = typed(quiet=request.quiet, json=request.json)
        refuse_both(["--latex", *others])
    from ..render import paths as draw
    from .output import show
    from .session import as_name, run_with_names

    run, names = run_with_names(request)
    if start is not None:
        name = as_name(start)
        run = run.of_value(name, _value(name, "--from", _outputs(run)))
    run.require_graph()
    answer = _answer(run, names, to, most, grad_output)
    if latex:
        from ..render.worked.latex import paths_latex

        return show(
            request,
            json=lambda: draw.as_json(answer),
            text=lambda layout: paths_latex(answer),
        )
    return show(
        request,
        json=lambda: draw.as_json(answer),
        bare=lambda: draw.bare(answer),
        text=lambda layout: draw.listing(answer, layout),
    )


def _answer(
    run: Run, names: Names, to: str | None, most: int, grad_output: str | None
) -> PathsAnswer:
    from ..views.paths import Paths, PathsAnswer
    from .session import graph_of

    ends = _ends(run, to)
    cotangent = run.first_cotangent(grad_output)
    view = graph_of(run, local_gradients=False)
    with run.explained():
        paths = Paths(run.output, cotangent, ends, names, view)
        targets = tuple(paths.to(name, most) for name in ends)
    derived = run.output_name if run.names_output else ""
    weighted = grad_output is not None
    return PathsAnswer(run.source, run.output_name, derived, weighted, targets)


def _ends(run: Run, to: str | None) -> dict[str, Tensor]:
    """The tensors to look for, by name."""
    from .session import listed

    asked = listed(to)
    if asked is None:
        return {given.name: given.tensor for given in run.differentiated}
    if not asked:
        raise wrong("E595", "--to gives no names", "give names: --to a,b")
    return {name: _value(name, "--to", _inputs(run)) for name in asked}


def _outputs(run: Run) -> dict[str, object]:
    """Values by name, as they are when the program ends."""
    return {
        run.output_name: run.output,
        **run.prepared.environment,
        **run.variables,
    }


def _inputs(run: Run) -> dict[str, object]:
    """Values by name; an input's name is the input, also if it was assigned to."""
    return {**run.variables, **run.prepared.environment}


def _value(name: str, option: str, values: dict[str, object]) -> Tensor:
    from ..engine import Tensor

    found = values.get(name)
    if isinstance(found, Tensor):
        return found
    tensors = [n for n, value in values.items() if isinstance(value, Tensor)]
    known = f"the values are {', '.join(tensors)}"
    if name in values:
        from ..lang.frame import described

        message = f"{option}: '{name}' is {described(found)}, not a tensor"
        raise ProgramError("E507", message, hint=known)
    from ..lang.suggest import did_you_mean

    hint = did_you_mean(name, tensors) or known
    raise ProgramError("E507", f"{option}: no value is called '{name}'", hint=hint)
