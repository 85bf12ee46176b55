"""Pictures of a graph: its values, gradients and rules, and the parts that repeat.

Invariant: a picture is the graph, node for node and edge for edge; values and gradients
stand at the node that made, or received, them.

A node keeps what its rule needs and no more, so values come from three places: the
steps that a program's library observed, the leaves, and what nodes saved of their
inputs and results. A value that is in none of them is not known.

    picture = picture_of(output, view, made, rules).after(steps, {})
    picture.nodes[0].value, picture.nodes[0].gradient       # (7.75, 1.0)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..answers.explanation import StepView
from ..answers.graph_view import GraphView, NodeView
from ..answers.numbers import Brief, briefly
from ..answers.pytorch_graph import formula_of
from ..answers.textbook_rules import Rules
from ..engine import AccumulateGrad, Node, Port, Tensor
from ..engine.custom import CustomNode
from ..engine.errors import EngineError
from ..engine.node import ConstantNode
from ..engine.walk import inputs_first
from ..lang.errors import Span
from ..lang.factory import Factory
from ..lang.tensor_library import TensorLibrary
from .folds import Fold, folds


@dataclass(frozen=True, slots=True)
class PictureNode:
    """A node with what is known of it: the value that it made, the whole gradient that
    arrives, the formula of its operation, the formulas of the gradients along its edges
    (``rules``) and, if it is an input, the verdict on its gradient."""

    node: NodeView
    value: Brief | None
    gradient: Brief | None
    formula: str
    rules: tuple[str | None, ...]
    verdict: str | None


@dataclass(frozen=True, slots=True)
class Picture:
    """A graph to be drawn.

    steps  the steps of its backward pass, in order
    taken  the words of the program, which rules do not use as letters
    """

    program: str
    name: str
    root: int | None
    nodes: tuple[PictureNode, ...]
    steps: tuple[StepView, ...]
    folds: tuple[Fold, ...]
    taken: frozenset[str] = frozenset()

    def after(self, steps: Sequence[StepView], verdicts: Mapping[str, str]) -> Picture:
        """Return the picture with the steps of the backward pass, and the verdicts on
        the gradients by input."""
        # A node with several outputs shows the gradient of the first that has one.
        arrived: dict[int, Any] = {
            step.id: next((g for g in step.incoming if g is not None), None)
            for step in steps
        }
        nodes = tuple(
            replace(
                each,
                gradient=arrived.get(each.node.id),
                verdict=verdicts.get(each.node.variable or ""),
            )
            for each in self.nodes
        )
        return replace(self, nodes=nodes, steps=tuple(steps))


def picture_of(
    output: Tensor,
    view: GraphView,
    made: Mapping[object, object],
    rules: Rules,
    folded: bool = True,
) -> Picture:
    """Return a picture of a graph whose backward pass has not run: ``made`` has values
    by edge, as `values` returns them, ``rules`` gives the formula along an edge; if
    ``folded``, parts that repeat may be drawn as one."""
    below = inputs_first([output.edge]) if view.root is not None else ()
    engine_nodes: dict[int, Any] = {id(e): e for e in below if not isinstance(e, Port)}
    nodes = []
    for node in view.nodes:
        own = engine_nodes[node.address]
        value = _value_of(own, made)
        nodes.append(
            PictureNode(
                node=node,
                value=None if value is None else briefly(value),
                gradient=None,
                formula=_formula(own),
                rules=tuple(
                    None if child is None else rules(own, nr)
                    for nr, (child, _) in enumerate(node.next_functions)
                ),
                verdict=None,
            )
        )
    found = folds(view) if folded else ()
    shown = tuple(nodes)
    return Picture(view.program, view.name, view.root, shown, (), found, rules.taken)


def _value_of(node: object, made: Mapping[object, object]) -> Any:
    found = made.get(node)
    if found is None and isinstance(node, Node) and node.several:
        found = made.get(Port(node, 0))
    return found


def _formula(node: Node) -> str:
    return formula_of(None if isinstance(node, AccumulateGrad) else node.row())


class Listener(TensorLibrary):
    """A program's library that keeps the value of every recorded step."""

    def __init__(self, factory: Factory, stream: str = "") -> None:
        super().__init__(factory, stream)
        self.heard: dict[object, object] = {}

    def on_result(self, value: object, span: Span) -> None:
        super().on_result(value, span)
        if isinstance(value, Tensor) and value.edge is not None:
            self.heard.setdefault(value.edge, value.raw)


def values(output: Tensor, heard: Mapping[object, object]) -> dict[object, object]:
    """Return the known raw values of the edges below ``output``."""
    known = {output.edge: output.raw, **heard}
    for edge in reversed(inputs_first([output.edge])):
        if isinstance(edge, AccumulateGrad):
            known.setdefault(edge, edge.raw)
        elif isinstance(edge, Node) and not isinstance(edge, ConstantNode | CustomNode):
            _add_saved(edge, known)
    return known


def _add_saved(node: Node, known: dict[object, object]) -> None:
    try:
        raw, y = node.restored()
    except EngineError:
        return
    outputs = y if isinstance(y, tuple) else (y,)
    edges = [node] if y is not outputs else [
        Port(node, nr) for nr in range(len(outputs))
    ]  # fmt: skip
    for edge, value in zip(edges, outputs, strict=True):
        if hasattr(value, "dtype"):
            known.setdefault(edge, value)
    slots = node.slots or range(len(node.edges))
    for below, slot in zip(node.edges, slots, strict=True):
        if below is not None and hasattr(raw[slot], "dtype"):
            known.setdefault(below, raw[slot])
