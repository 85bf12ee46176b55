"""Views, indexing and reordering against recorded PyTorch programs.

Each record holds a program in one input ``x``, the graph of its result, and for
``L = sum(y**3)`` the gradient and the gradient of the gradient's cube sum.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from gradcli.engine import NUMPY, AccumulateGrad, Tensor, function, grad
from gradcli.engine.forward import jvp
from gradcli.lang.run import evaluate
from tests.grouped import by_row

RECORDS = [
    json.loads(line)
    for line in (Path(__file__).parent / "views-torch-2.13.jsonl")
    .read_text()
    .splitlines()
]


def called(record: dict[str, Any]) -> str:
    return f"{record['graph']} of {record['program']} at {np.shape(record['x'])}"


over_programs = by_row(
    "record", RECORDS, called, lambda called: called.partition("(")[0]
)
"""One test for the programs that end with one kind of node."""


def run(record: dict[str, Any]) -> tuple[Tensor, Tensor]:
    x = Tensor(np.asarray(record["x"], dtype=float), NUMPY, True)
    y, _, _ = evaluate(f"y = {record['program']}", {"x": x})
    return x, y


def notation(node: Any) -> str:
    if node is None:
        return "None"
    if isinstance(node, AccumulateGrad):
        return "x"
    inner = [notation(n) + (f"#{nr}" if nr else "") for n, nr in node.next_functions]
    return f"{node.name()}({', '.join(inner)})"


def cube_sum(y: Tensor) -> Tensor:
    total: Tensor = function("sum")(y * y * y)
    return total


@over_programs
def test_graph_is_pytorchs_node_for_node(record: dict[str, Any]) -> None:
    _, y = run(record)
    assert list(y.shape) == record["shape"]
    assert notation(y.grad_fn) == record["graph"]


@over_programs
def test_gradients_of_both_orders_are_pytorchs(record: dict[str, Any]) -> None:
    x, y = run(record)
    (first,) = grad([cube_sum(y)], [x], create_graph=True)
    (second,) = grad([cube_sum(first)], [x])
    np.testing.assert_allclose(first.raw, record["grad"], rtol=1e-12)
    np.testing.assert_allclose(second.raw, record["second"], rtol=1e-12)


@over_programs
def test_forward_mode_gives_the_same_directional_derivative(
    record: dict[str, Any],
) -> None:
    x, y = run(record)
    direction = np.cos(np.arange(x.numel(), dtype=float)).reshape(x.shape)
    (pushed,) = jvp([cube_sum(y)], [x], [Tensor(direction, NUMPY)])
    expected = (np.asarray(record["grad"]) * direction).sum()
    np.testing.assert_allclose(pushed.raw, expected, rtol=1e-12, atol=1e-9)
