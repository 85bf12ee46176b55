"""``gradcli graph``: the recorded graph as a tree, or for other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from ..checking import PAGE
from ..options import (
    PRINTS_NOTHING_SHORTER,
    VERIFIES_NOTHING,
    GradOutput,
    Request,
    refuse_idle,
)
from ..output import show
from ..problems import refuse_both, suffix_of, typed, wrong
from ..sources import question_of

if TYPE_CHECKING:
    from ...answers.question import Question

WHOLE = (".dot", ".gv", ".mmd", ".json")
"""Suffixes of files with the recorded graph alone, without a backward pass."""

HEATED = (".svg", ".png")
"""Suffixes of pictures with colours for the sizes of gradients."""


def main(
    request: Request,
    tree: Annotated[
        bool,
        Option("--tree", hidden=True, help="Draw a tree, as without it."),
    ] = False,
    dot: Annotated[
        bool,
        Option("--dot", help="Write Graphviz."),
    ] = False,
    mermaid: Annotated[
        bool,
        Option("--mermaid", help="Write Mermaid."),
    ] = False,
    out: Annotated[
        str | None,
        Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write a picture of the kind that the name ends with: .svg, .html (to "
            "click through), .png, .dot, .mmd, .graphml, .json.",
        ),
    ] = None,
    heat: Annotated[
        bool,
        Option(
            "--heat",
            help="In a picture (.svg, .png), colour each node by the size of its "
            "gradient.",
        ),
    ] = False,
    unfold: Annotated[
        bool,
        Option(
            "--unfold", help="In a picture, draw every step of a loop instead of one."
        ),
    ] = False,
    grad_output: GradOutput = None,
) -> int:
    """The autograd graph that a program records.

    Edges carry local gradients: the partial derivative of the node's operation by that
    input, at this point; without values the graph has no numbers. A node that several
    edges lead to is drawn once.

    Example: gradcli graph "u = sin(x); L = u*exp(u)" x=0.7

    Example: gradcli graph "sin(x)*exp(x)" x=0.7 -o g.html
    """
    if out is None or not out.endswith(PAGE):
        hint = "only a page is checked: -o g.html; else leave it out"
        refuse_idle("gradcli graph", VERIFIES_NOTHING, hint)
    if out is None:
        refuse_idle("gradcli graph", PRINTS_NOTHING_SHORTER)
    forms = typed(tree=tree, dot=dot, mermaid=mermaid)
    refuse_both([*forms, *typed(json=request.json)])
    if out is not None:
        refuse_both([*forms, "--out"])
        _check_file(out, heat, unfold, grad_output)
        symbols = not typed(heat=heat, grad_output=grad_output)
        question = question_of(request, grad_output, symbols)
        return _written(question, out, heat, unfold)
    for option in typed(heat=heat, unfold=unfold, grad_output=grad_output):
        hint = "name the picture's file with -o, as in -o g.svg"
        raise wrong("E590", f"{option} is for pictures in files", hint)
    from ...answers import graph as draw
    from ...answers.graph_view import graph_of

    question = question_of(request, symbols=True)
    run = question.run()
    question.refuse_decisions(run)
    numbers = not (question.symbols and run.prepared.missing)
    view = graph_of(run, local_gradients=numbers)
    if dot or mermaid:
        language = draw.dot if dot else draw.mermaid
        return show(view, text=lambda found, _: language(found))
    return show(view, text=draw.tree)


def _check_file(out: str, heat: bool, unfold: bool, grad_output: str | None) -> None:
    """Refuse a file of no known format, and options that it has no place for."""
    from ..drawing import ENDINGS

    suffix = suffix_of(out, ENDINGS)
    if heat and suffix not in HEATED:
        hint = "a page has a switch for it" if suffix == PAGE else "as in -o g.svg"
        raise wrong("E590", f"--heat: no colours in a file that ends {suffix}", hint)
    for option in typed(unfold=unfold, grad_output=grad_output):
        if suffix in WHOLE:
            message = f"{option} does nothing: a file that ends {suffix} has"
            told = "every node" if option == "--unfold" else "no gradients"
            raise wrong("E590", f"{message} {told}", "leave it out")


def _written(question: Question, out: str, heat: bool, unfold: bool) -> int:
    from ...answers.line import Line
    from ...answers.picture import GraphFile
    from ..drawing import ENDINGS, drawn, write

    suffix = suffix_of(out, ENDINGS)
    found = drawn(question, suffix == PAGE, not unfold)
    write(out, suffix, found, heat)
    nodes = len(found.picture.nodes)
    said = f"written to {out}: {nodes:,} node{'s' * (nodes != 1)}"
    answer = GraphFile(found.view.program, out, nodes)
    return show(answer, bare=lambda _: (), text=lambda *_: [Line((said, "plain"))])
