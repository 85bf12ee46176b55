"""The backward pass without numbers: the rule of each step as a formula.

Invariants: the steps are in the engine's order; in a rule ``g`` is the gradient that
arrives at the step.

    2  MulBackward0  u = x*y
       to x  g * y
       to y  g * x
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..engine.walk import inputs_first
from ..lang.excerpt import printable
from .explanation import explain, target
from .gradients import derived, output_of
from .graph import assignment_text
from .graph_view import graph_of
from .line import BLANK, Line, Part, Role, aligned, dim
from .question import Question
from .textbook_rules import COTANGENT, Rules, meanings, taken


def step_formulas(question: Question) -> Iterator[Line]:
    """Yield the steps of the backward pass of a program with symbols."""
    run, names = question.run_with_names()
    run.require_graph()
    question.refuse_decisions(run)
    start = run.first_cotangent(question.grad_output)
    view = graph_of(run, local_gradients=False)
    rules = Rules(names, view)
    known = taken(view.program, view.nodes)
    g = "grad" if COTANGENT in known else COTANGENT
    ids = {node.address: node.id for node in view.nodes}
    below: list[Any] = inputs_first([run.output.edge])
    # Rules read what the nodes saved, which the pass frees.
    texts = {
        (ids[id(node)], nr): rules(node, nr)
        for node in below
        if id(node) in ids and hasattr(node, "edges")
        for nr, edge in enumerate(node.edges)
        if edge is not None
    }
    with run.explained():
        steps = explain(run.output, start, names, view)
    name = derived(output_of(run))
    of = f"d{name}/d{name} = " * bool(name)
    yield dim(f"the pass starts with {of}1")
    yield dim(meanings([g, *filter(None, texts.values())], known))
    for each in steps:
        margin = " " * (len(str(each.number)) + 2)
        yield BLANK
        yield Line(
            (str(each.number), "dim"),
            (f"  {each.node}", "node"),
            (f"  {assignment_text(each.name, each.source)}", "plain"),
        )
        rows: list[list[Part]] = []
        for send in each.sends:
            rule = texts.get((each.id, send.edge))
            said = "by the node's own rule" if rule is None else rule
            role: Role = "dim" if rule is None else "number"
            to = printable(target(send))
            rows.append([(f"{margin}to {to}", "dim"), (f"  {printable(said)}", role)])
        if each.is_leaf:
            leaf = printable(each.name or "leaf")
            rows.append([(f"{margin}{leaf}.grad", "dim"), (f"  {g}", "number")])
        yield from aligned(rows, 1, margin + "  ")
