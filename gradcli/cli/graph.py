"""``gradcli graph``: the recorded graph as a tree, a chain, or for other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .options import Request, on_programs, refuse_idle
from .problems import wrong

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..render.line import Layout, Line
    from ..views.graph import GraphView

FORMS = ("tree", "chain", "dot", "mermaid", "json")


@on_programs
def main(
    request: Request,
    tree: Annotated[
        bool, typer.Option("--tree", help="Draw a tree (default).")
    ] = False,
    chain: Annotated[
        bool,
        typer.Option("--chain", help="Print a line per node, with next_functions."),
    ] = False,
    dot: Annotated[bool, typer.Option("--dot", help="Write Graphviz.")] = False,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Write Mermaid.")] = False,
) -> int:
    """The autograd graph that a program records.

    Edges carry local gradients: the partial derivative of the node's operation by that
    input, at this point. A node that several edges lead to is drawn once.

    Example: gradcli graph "u = sin(x); L = u*exp(u)" x=0.7
    """
    refuse_idle(request, "gradcli graph")
    asked = dict(zip(FORMS, (tree, chain, dot, mermaid, request.json), strict=True))
    form = _only(asked)
    from ..render.jsons import graph as as_json
    from .output import show
    from .session import graph_of, run_program

    view = graph_of(run_program(request), local_gradients=form != "chain")
    return show(
        request,
        json=lambda: as_json(view),
        text=lambda layout: _drawn(form, view, layout),
    )


def _only(asked: dict[str, bool]) -> str:
    chosen = [form for form, wanted in asked.items() if wanted]
    if len(chosen) > 1:
        both = " and ".join(f"--{form}" for form in chosen)
        raise wrong("E590", f"{both} exclude each other", "choose one of them")
    return chosen[0] if chosen else "tree"


def _drawn(form: str, view: GraphView, layout: Layout) -> Iterable[Line]:
    from ..render import chain, pictures, tree

    if form == "tree":
        return tree.tree(view, layout)
    draw = {"chain": chain.chain, "dot": pictures.dot, "mermaid": pictures.mermaid}
    return draw[form](view)
