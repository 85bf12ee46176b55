"""A program in gradcli, as the command line runs it."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np

from gradcli.autograd.functional import jacobian
from gradcli.engine import AccumulateGrad, Node, Port, Tensor, grad
from gradcli.engine import jacobian as blocks
from gradcli.engine.errors import EngineError
from gradcli.lang.bindings import read_bindings
from gradcli.lang.errors import ProgramError
from gradcli.lang.run import Session, prepare
from tests.random.outcome import Side
from tests.random.program import Program

MOST_STEPS = 10_000
"""A loop that runs longer is taken to be endless, and is not run in PyTorch."""


def run(
    program: Program, given: tuple[Tensor, ...] | None = None, device: str = "cpu"
) -> tuple[Tensor, list[tuple[str, Tensor]]]:
    words = [f"{name}={value}" for name, value in program.inputs.items()]
    bindings = read_bindings(words)
    ready = prepare(
        program.text, bindings, strict=True, dtype=program.dtype, device=device
    )
    session = Session(ready, max_steps=MOST_STEPS)
    if given is not None:
        session.rebind(dict(zip(program.inputs, given, strict=True)))
    done = session.run()
    tensors = {each.name: each.tensor for each in done.inputs}
    return done.output, [(name, tensors[name]) for name in program.inputs]


def gradient(
    outputs: list[Tensor], leaves: list[Tensor], v: list[Tensor], create: bool
) -> list[Tensor | None]:
    with np.errstate(all="ignore"):
        return grad(outputs, leaves, v, retain_graph=True, create_graph=create)


def whole(
    program: Program, inputs: tuple[Tensor, ...], device: str = "cpu"
) -> tuple[Tensor, ...]:
    """The whole derivative by the inputs, all rows at once; dense and sparse ones."""
    found: list[Tensor] = []
    for least in (blocks.MIN_SPARSE_ROWS, 1):
        with np.errstate(all="ignore"), patch.object(blocks, "MIN_SPARSE_ROWS", least):
            found += jacobian(lambda *own: run(program, own, device)[0], inputs)
    return tuple(found)


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
    jacobian=whole,
    array=array,
    tensor=lambda values, like: Tensor(
        np.asarray(values).astype(like.raw.dtype), like.xp
    ),
    root=root,
    refusals=(ProgramError, EngineError),
)
