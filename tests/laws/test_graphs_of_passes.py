"""The graph of every row, and those of its recorded passes, as pictures and as text."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

import gradcli
from gradcli.answers.graph import tree
from gradcli.answers.line import Layout
from gradcli.autograd import grad
from gradcli.engine import Tensor
from gradcli.engine.record import function
from gradcli.ops import OPS, Op
from tests.grouped import by_row

from .draw import draw, is_differentiated

ORDERS = 3

DRAWN = 150
"""Most nodes of a graph that is drawn; larger ones are written as text."""

SHARE = 4
"""One row of so many is drawn in every run, the others at night."""

CASES = [
    (op, number)
    for op in OPS.values()
    if op.node is not None and is_differentiated(op)
    for number in range(len(op.cases))
]


def squares(parts: Any) -> Tensor | None:
    """The sum of the squares of all that carries a gradient."""
    total = None
    for part in parts:
        if isinstance(part, Tensor) and part.edge is not None:
            square = function("sum")(function("mul")(part, part))
            total = square if total is None else function("add")(total, square)
    return total


def graphs(op: Op, number: int) -> Iterator[Tensor]:
    """A number that a row's outputs make, then those that its gradients make."""
    leaves, y = draw(op, number).run()
    made = squares(y if isinstance(y, tuple) else (y,))
    for order in range(ORDERS):
        if made is None:
            return
        yield made
        if order < ORDERS - 1:
            made = squares(grad(made, leaves, create_graph=True, allow_unused=True))


@by_row("op, number", CASES, lambda case: f"{case[0].name}-{case[1]}", share=SHARE)
def test_graphs_of_all_orders_are_shown(op: Op, number: int) -> None:
    with np.errstate(all="ignore"):
        for output in graphs(op, number):
            made = gradcli.graph(output)
            nodes = made.view.nodes
            assert len({node.address for node in nodes}) == len(nodes)
            told = json.loads(made.content(".json"))
            assert [node["id"] for node in told["nodes"]] == list(range(len(nodes)))
            texts = [line.text for line in tree(made.view, Layout(None, None))]
            # A node that is met again is named once more.
            for name, count in Counter(n.name for n in nodes if not n.is_leaf).items():
                assert sum(name in text for text in texts) >= count
            for suffix in (".dot", ".mmd"):
                assert made.content(suffix)
            if len(nodes) <= DRAWN:
                assert made.html().count("<svg") >= 1


def test_nodes_of_rules_have_the_shapes_of_their_inputs() -> None:
    x = gradcli.tensor([[0.5, -0.25, 1.0]], requires_grad=True)
    (g,) = grad(x.softmax(1).tanh().sum(), x, create_graph=True)
    shapes = {n.name: n.shape for n in gradcli.graph(g.sum()).view.nodes}
    assert shapes["TanhBackwardBackward0"] == shapes["TanhBackward0"] == (1, 3)


def test_custom_functions_are_pictured() -> None:
    class Cube(gradcli.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx: Any, g: Tensor) -> Tensor:
            (x,) = ctx.saved_tensors
            return 3 * x * x * g

    x = gradcli.tensor(2.0, requires_grad=True)
    (g,) = grad(Cube.apply(x), x, create_graph=True)
    for output in (Cube.apply(x), g):
        assert "<svg" in gradcli.graph(output).svg()
