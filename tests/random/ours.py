"""A program in gradcli, as the command line runs it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.engine import AccumulateGrad, Node, Port, Tensor, grad
from gradcli.engine.errors import EngineError
from gradcli.lang.bindings import read_bindings
from gradcli.lang.errors import ProgramError
from gradcli.lang.run import execute, prepare
from tests.random.outcome import Side
from tests.random.program import Program

MOST_STEPS = 10_000
"""A loop that runs longer is taken to be endless, and is not run in PyTorch."""


def run(program: Program) -> tuple[Tensor, list[tuple[str, Tensor]]]:
    words = [f"{name}={value}" for name, value in program.inputs.items()]
    bindings = read_bindings(words)
    ready = prepare(program.text, bindings, strict=True, dtype=program.dtype)
    done = execute(ready, max_steps=MOST_STEPS)
    given = {each.name: each.tensor for each in done.inputs}
    return done.output, [(name, given[name]) for name in program.inputs]


def gradient(
    outputs: list[Tensor], leaves: list[Tensor], v: list[Tensor], create: bool
) -> list[Tensor | None]:
    with np.errstate(all="ignore"):
        return grad(outputs, leaves, v, retain_graph=True, create_graph=create)


def root(tensor: Tensor) -> tuple[Node | AccumulateGrad, int] | None:
    edge = tensor.edge
    if isinstance(edge, Port):
        return edge.node, edge.nr
    return None if edge is None else (edge, 0)


def array(tensor: Tensor) -> Any:
    return np.array(tensor.raw)


OURS = Side(
    run=run,
    grad=gradient,
    array=array,
    tensor=lambda values, like: Tensor(
        np.asarray(values).astype(like.raw.dtype), like.xp
    ),
    root=root,
    refusals=(ProgramError, EngineError),
)
