"""A run as a picture, and files of pictures: the name's suffix decides the format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..answers.jobs import gradient_job
from ..answers.theme import chosen
from ..lang.errors import ProgramError
from ..pictures.shown import ENDINGS as ENDINGS
from ..pictures.shown import ShownGraph
from .checking import CheckProcess
from .output import note, warn
from .problems import put

if TYPE_CHECKING:
    from ..answers.question import Question
    from ..lang.factory import Factory


def drawn(question: Question, checked: bool, folded: bool) -> ShownGraph:
    """Run the program and return its graph with all that a picture shows, also the
    verdicts on ``checked`` gradients; ``folded`` parts that repeat may be drawn as
    one."""
    check = CheckProcess(question) if checked else None
    from ..answers.briefly import briefly
    from ..answers.explanation import explain
    from ..answers.graph_view import graph_of
    from ..answers.picture import Listener, picture_of, values
    from ..answers.textbook_rules import Rules

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


def write(path: str, suffix: str, found: ShownGraph, heated: bool) -> None:
    """Write a picture to a file."""
    try:
        content = found.content(suffix, heated, chosen.name, warn)
    except ValueError as error:
        hint = "--of NAME draws the graph of one value"
        raise ProgramError("E403", str(error), hint=hint) from None
    put(path, content, "give a file in a folder that can be written to")
