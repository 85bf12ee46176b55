"""``gradcli graph``: the recorded graph as a tree, or for other tools."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Annotated

from typer import Option

from ...answers import graph as draw
from ...answers.explanation import explain
from ...answers.graph_view import GraphFile, GraphView, graph_of
from ...answers.jobs import gradient_job
from ...answers.line import Line, chosen
from ...answers.numbers import briefly
from ...answers.question import Question
from ...answers.textbook_rules import RuleRecorder, Rules, worded_rules
from ...lang.errors import ProgramError
from ...lang.factory import Factory
from ...pictures.picture import Listener, picture_of, values
from ...pictures.shown import ENDINGS, ShownGraph
from ..checking import CheckProcess
from ..file_graphs import file_target, graph_of_file
from ..head_start import PAGE
from ..options import (
    PRINTS_NOTHING_SHORTER,
    VERIFIES_NOTHING,
    GradOutput,
    Request,
    refuse_idle,
    was_typed,
)
from ..output import Printer, note, warn
from ..problems import put, refuse_both, suffix_of, typed, wrong
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
        Option("--dot", help="Print the graph for Graphviz."),
    ] = False,
    mermaid: Annotated[
        bool,
        Option("--mermaid", help="Print the graph for Mermaid."),
    ] = False,
    out: Annotated[
        str | None,
        Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write a picture: .svg, .html (interactive), .png, .dot, .mmd or "
            ".json.",
        ),
    ] = None,
    heat: Annotated[
        bool,
        Option(
            "--heat",
            help="In an .svg or a .png, colour nodes by their gradients.",
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

    Each edge shows the local derivative or, for vectors and matrices, the rule that
    turns the incoming gradient g into the outgoing one. Without values every edge shows
    its rule. A node that several edges lead to is drawn once. EXPR may be FILE.py:NAME,
    where NAME is a tensor in a Python file, or a function that returns one.

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
    target = file_target((request.words or [""])[0])
    if target is not None:
        refuse_both([*forms, *typed(out=out)])
        for option in typed(
            grad_output=grad_output,
            of=request.of,
            wrt=request.wrt,
            max_seconds=was_typed("max_seconds"),
        ):
            hint = "leave it out: the graph is that of the name behind the colon"
            raise wrong("E590", f"{option} is for programs, not for files", hint)
        suffix = "" if out is None else suffix_of(out, ENDINGS)
        bindings = (request.words or [])[1:]
        drawn = graph_of_file(
            *target, bindings, request.shape, request.seed, not unfold
        )
        if out is not None:
            return _saved(drawn, out, suffix, heat)
        return _printed(drawn.view, drawn.rules(), dot, mermaid)
    if out is not None:
        refuse_both([*forms, "--out"])
        _check_file(out, heat, unfold, grad_output)
        symbols = not typed(heat=heat, grad_output=grad_output)
        question = question_of(request, grad_output, symbols)
        return _written(question, out, heat, unfold)
    for option in typed(heat=heat, unfold=unfold, grad_output=grad_output):
        hint = "name the picture's file with -o, as in -o g.svg"
        raise wrong("E590", f"{option} is for pictures in files", hint)
    question = question_of(request, symbols=True)
    run, names = question.run_with_names()
    question.refuse_decisions(run)
    numbers = not (question.symbols and run.prepared.missing)
    view = graph_of(run, local_gradients=numbers)
    return _printed(view, worded_rules(run.output, names, view), dot, mermaid)


def _printed(view: GraphView, rule: RuleRecorder, dot: bool, mermaid: bool) -> int:
    printer = Printer()
    if dot or mermaid:
        return printer.show(view, (draw.dot if dot else draw.mermaid)(view, rule))
    drawn = draw.tree(view, printer.layout, rule)
    return printer.show(view, chain(drawn, rule.legend()))


def _check_file(out: str, heat: bool, unfold: bool, grad_output: str | None) -> None:
    """Refuse a file of no known format, and options that it has no place for."""
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
    suffix = suffix_of(out, ENDINGS)
    return _saved(_drawn(question, suffix == PAGE, not unfold), out, suffix, heat)


def _saved(found: ShownGraph, out: str, suffix: str, heat: bool) -> int:
    """Write a picture to a file, and say so."""
    _write(out, suffix, found, heat)
    nodes = len(found.picture.nodes)
    said = f"written to {out}: {nodes:,} node{'s' * (nodes != 1)}"
    answer = GraphFile(found.view.program, out, nodes)
    return Printer().show(answer, [Line((said, "plain"))], ())


def _drawn(question: Question, checked: bool, folded: bool) -> ShownGraph:
    """Run the program and return its graph with all that a picture shows, also the
    verdicts on ``checked`` gradients; ``folded`` parts that repeat may be drawn as
    one."""
    check = CheckProcess(question) if checked else None
    listeners: list[Listener] = []

    def listening(factory: Factory) -> Listener:
        listeners.append(Listener(factory))
        return listeners[-1]

    run, names = question.run_with_names(listening)
    run.require_graph()
    question.refuse_decisions(run)
    symbols = question.symbols and bool(run.prepared.missing)
    view = graph_of(run, local_gradients=not symbols)
    made = {} if symbols else values(run.output, listeners[-1].heard)
    # Rules read what the nodes saved, which the pass frees.
    picture = picture_of(run.output, view, made, Rules(names, view), folded)
    if symbols:
        return ShownGraph(view, picture)
    if question.grad_output is None and run.output.numel() != 1:
        shape = list(run.output.shape)
        note(
            f"note: the output has the shape {shape}, so no gradients are shown: add "
            ".sum() or give --grad-output"
        )
        return ShownGraph(view, picture)
    cotangent = run.first_cotangent(question.grad_output)
    with run.explained():
        steps = explain(run.output, cotangent, names, view, briefly)
    verdicts = {}
    if check is not None and check.wanted:
        grads = {i.name: i.tensor.grad for i in run.differentiated}
        weights = cotangent if question.grad_output else None
        job, _ = gradient_job(run, grads, question.seconds, weights)
        check.submit(job)
        found = check.finish()
        verdicts = {} if found is None else {v.name: v.verdict for v in found.inputs}
    return ShownGraph(view, picture.after(steps, verdicts))


def _write(path: str, suffix: str, found: ShownGraph, heated: bool) -> None:
    """Write a picture to a file."""
    try:
        content = found.content(suffix, heated, chosen.name, warn)
    except ValueError as error:
        hint = "--of NAME draws the graph of one value"
        raise ProgramError("E403", str(error), hint=hint) from None
    put(path, content, "give a file in a folder that can be written to")
