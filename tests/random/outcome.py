"""What a program came to, in the same words for gradcli and for PyTorch.

Invariant: the same program, cotangents and stages on both sides; a graph is listed node
by node, so that two graphs are the same exactly where their lists are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

MOST_ROWS = 9
"""Of a Hessian with more rows only a product with a vector is compared."""

MOST_ENTRIES = 12
"""Of an output with more entries no whole Jacobian is compared."""

STAGES = ("value", "gradient", "Jacobian", "second derivative")
ORDERS = {"value": 0, "gradient": 1, "Jacobian": 1, "second derivative": 2}
"""How often a program is differentiated for what is compared at a stage."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An exception: at which stage it came, and what it said."""

    stage: str
    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.message.splitlines()[0] if self.message else ''}"


@dataclass(slots=True)
class Outcome:
    """What a program gave, as far as it got."""

    value: Any = None
    dtype: str = ""
    requires_grad: bool = False
    graph: tuple[str, ...] = ()
    gradients: list[Any] = field(default_factory=list)
    jacobians: list[Any] = field(default_factory=list)
    seconds: list[Any] = field(default_factory=list)
    refusal: Refusal | None = None


def weights(shape: tuple[int, ...], number: int = 0) -> Any:
    """A cotangent that tells entries apart: between 0.5 and 1.5, and never 1."""
    count = int(np.prod(shape))
    turned = (np.arange(count) + 1 + 17 * number) * 0.6180339887498949
    return (0.5 + turned % 1.0).reshape(shape)


@dataclass(frozen=True, slots=True)
class Side:
    """How one of the two libraries runs a program and differentiates it.

    run      program, inputs' tensors (None: leaves that are made) -> the output tensor
             and the inputs, in the inputs' order
    grad     outputs, inputs, cotangents, create_graph -> a gradient or None each
    jacobian program, inputs' tensors -> the whole derivative, a block per input, for
             each of the ways in which gradcli has it
    array    a tensor as NumPy's array
    tensor   NumPy's array as a tensor of the type of another
    root     a tensor's place in the graph: a node and an output number, or None
    """

    run: Callable[..., tuple[Any, list[tuple[str, Any]]]]
    grad: Callable[..., list[Any]]
    jacobian: Callable[[Any, tuple[Any, ...]], tuple[Any, ...]]
    array: Callable[[Any], Any]
    tensor: Callable[[Any, Any], Any]
    root: Callable[[Any], Any]
    refusals: tuple[type[Exception], ...]


def outcome(
    side: Side, program: Any, orders: int = 2, rows: int = MOST_ROWS
) -> Outcome:
    """Run a program: its value, its graph, its gradient and a second derivative."""
    found = Outcome()
    stage = STAGES[0]
    try:
        output, inputs = side.run(program)
        found.value = side.array(output)
        found.dtype = str(found.value.dtype)
        found.requires_grad = bool(output.requires_grad)
        found.graph = listed(side, output, inputs)
        if not found.requires_grad or orders < 1:
            return found
        stage = STAGES[1]
        leaves = [leaf for _, leaf in inputs]
        v = side.tensor(weights(found.value.shape), output)
        first = side.grad([output], leaves, [v], orders > 1)
        found.gradients = [None if g is None else side.array(g) for g in first]
        stage = STAGES[2]
        if 1 < found.value.size <= MOST_ENTRIES:
            blocks = side.jacobian(program, tuple(leaves))
            found.jacobians = [side.array(block) for block in blocks]
        kept = {n: g for n, g in enumerate(first) if g is not None and g.requires_grad}
        if not kept or orders < 2:
            return found
        stage = STAGES[3]
        found.seconds = second(side, first, leaves, rows)
    except side.refusals as error:
        found.refusal = Refusal(stage, type(error).__name__, str(error))
    return found


def second(side: Side, first: list[Any], leaves: list[Any], most: int) -> list[Any]:
    """The whole Hessian, per input all rows; of a large one a product with a vector."""
    known = {n: g for n, g in enumerate(first) if g is not None and g.requires_grad}
    sizes = [int(np.prod(leaf.shape)) for leaf in leaves]
    if sum(sizes) > most:
        along = [
            side.tensor(weights(tuple(g.shape), n + 1), g) for n, g in known.items()
        ]
        product = side.grad(list(known.values()), leaves, along, False)
        return [None if h is None else side.array(h) for h in product]
    rows: list[Any] = []
    for n, size in enumerate(sizes):
        units = np.eye(size).reshape(size, *leaves[n].shape)
        rows += [
            side.grad([known[n]], leaves, [side.tensor(unit, known[n])], False)
            if n in known
            else [None] * len(leaves)
            for unit in units
        ]
    return [stacked(side, column) for column in zip(*rows, strict=True)]


def stacked(side: Side, rows: tuple[Any, ...]) -> Any:
    """The rows as one array, with zeros for those that do not depend on an input."""
    found = [None if row is None else side.array(row) for row in rows]
    known = next((row for row in found if row is not None), None)
    if known is None:
        return None
    return np.stack([np.zeros_like(known) if row is None else row for row in found])


def listed(side: Side, output: Any, inputs: list[tuple[str, Any]]) -> tuple[str, ...]:
    """Every node of the graph in the order of a walk from the output, and its edges.

    A node is written as its name and, for each edge, the number of the node that it
    leads to with the number of the output; a leaf as the name of its input.
    """
    names: dict[Any, str] = {}
    for name, leaf in inputs:
        root = side.root(leaf)
        if root is not None:
            names[root[0]] = name
    start = side.root(output)
    if start is None:
        return ()
    numbers: dict[Any, int] = {start[0]: 0}
    order = [start[0]]
    lines = [f"output {start[1]}"]
    for node in order:
        ends = []
        for below, nr in node.next_functions:
            if below is None:
                ends.append("None")
                continue
            if below not in numbers:
                numbers[below] = len(order)
                order.append(below)
            ends.append(f"{numbers[below]}" + (f"#{nr}" if nr else ""))
        name = type(node).__name__
        leaf = f"[{names.get(node, '?')}]" if name == "AccumulateGrad" else ""
        lines.append(f"{numbers[node]} {name}{leaf}({', '.join(ends)})")
    return tuple(lines)
