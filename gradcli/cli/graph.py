"""``gradcli graph``: the recorded graph as a tree, a chain, or for other tools."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .exits import Exit
from .options import Request, on_programs
from .problems import wrong

FORMS = ("tree", "chain", "dot", "mermaid", "json")


@on_programs
def main(
    request: Request,
    tree: Annotated[
        bool, typer.Option("--tree", help="Draw a tree (default).")
    ] = False,
    chain: Annotated[
        bool, typer.Option("--chain", help="A line per node, with next_functions.")
    ] = False,
    dot: Annotated[bool, typer.Option("--dot", help="Write Graphviz.")] = False,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Write Mermaid.")] = False,
) -> int:
    """The autograd graph that a program records.

    Edges carry local gradients: the partial derivative of the node's operation by that
    input, at this point. A node that several edges lead to is drawn once.

    Example: gradcli graph "u = sin(x); L = u*exp(u)" x=0.7
    """
    asked = dict(zip(FORMS, (tree, chain, dot, mermaid, request.json), strict=True))
    form = _only(asked)
    from .session import graph_of, run_program

    view = graph_of(run_program(request), local_gradients=form != "chain")
    from .output import Printer

    printer = Printer()
    printer.lines(_lines(form, view, printer.layout))
    printer.flush()
    return Exit.DONE


def _only(asked: dict[str, bool]) -> str:
    chosen = [form for form, wanted in asked.items() if wanted]
    if len(chosen) > 1:
        both = " and ".join(f"--{form}" for form in chosen)
        raise wrong("E590", f"{both} exclude each other", "choose one of them")
    return chosen[0] if chosen else "tree"


def _lines(form: str, view: Any, layout: Any) -> Any:
    if form == "json":
        from ..render.jsons import graph as draw_json

        return draw_json(view)
    if form == "tree":
        from ..render.tree import tree as draw_tree

        return draw_tree(view, layout)
    if form == "chain":
        from ..render.chain import chain as draw_chain

        return draw_chain(view)
    from ..render import pictures

    return getattr(pictures, form)(view)
