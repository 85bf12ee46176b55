"""Every row of the table can be written as code, and the code is the row."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from gradcli.verify.straight_line import Listing, straight_line
from laws.draw import Spot, draw
from laws.measure import outputs_of

from gradcli.engine import NUMPY, Tensor, call, grad
from gradcli.engine.record import apply
from gradcli.ops import OPS, Op
from gradcli.render.code import code
from gradcli.verify.process.job import Block, Input, Job

from .written import Library, run_python, same

CASES = [
    pytest.param(op, number, id=f"{op.name}-{number}")
    for op in OPS.values()
    if op.node is not None
    for number in range(len(op.cases))
]


@dataclass(frozen=True, slots=True)
class Row:
    """A row at a drawn point, as steps."""

    job: Job
    listing: Listing

    def text(self, language: str) -> str:
        return "\n".join(code(self.listing, self.job.source, "", language)) + "\n"

    def inputs(self) -> list[np.ndarray]:
        return [_array(given.value) for given in self.job.inputs]

    def expected(self) -> list[np.ndarray]:
        return [_array(self.job.output), *[_array(i.claim) for i in self.job.inputs]]


def _array(block: Any) -> np.ndarray:
    return np.array(block.values()).reshape(block.shape)


def _block(array: Any) -> Block:
    return Block.of(np.shape(array), np.ravel(array).tolist())


@cache
def row_of(op: Op, number: int) -> Row:
    """The engine's gradient of all outputs together, and the same as steps."""
    spot = draw(op, number)
    leaves, y = spot.run()
    output = flattened(y)
    weights = np.linspace(0.5, 1.5, output.numel())
    found = grad([output], leaves, [Tensor(weights, NUMPY)])
    inputs = [
        Input(f"x{i}", _block(t.raw), _block(np.zeros(t.shape) if g is None else g.raw))
        for i, t, g in zip(spot.free, leaves, found, strict=True)
    ]
    job = Job(op.name, tuple(inputs), _block(output.raw), cotangent=_block(weights))
    return Row(job, straight_line(job, lambda tensors: run(spot, tensors)))


def flattened(y: Any) -> Tensor:
    """All outputs that carry a gradient, as one vector."""
    parts = [call("reshape", part, (-1,)) for part in outputs_of(y)]
    joined: Tensor = parts[0] if len(parts) == 1 else call("cat", parts)
    return joined


def run(spot: Spot, tensors: dict[str, Tensor]) -> Tensor:
    inputs = [
        tensors[f"x{i}"] if i in spot.free else fixed(each)
        for i, each in enumerate(spot.arrays)
    ]
    return flattened(apply(spot.op, tuple(inputs), dict(spot.case.params)))


def fixed(value: Any) -> Any:
    plain = value is None or isinstance(value, str | bool)
    return value if plain else Tensor(value, NUMPY)


@pytest.mark.parametrize(("op", "number"), CASES)
def test_numpy_code_is_the_row(op: Op, number: int) -> None:
    row = row_of(op, number)
    same(run_python(row.text("numpy"), "gradient", row.inputs()), row.expected())


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_c_code_is_the_row(tmp_path: Any) -> None:
    rows = [row_of(*case.values) for case in CASES]
    library = Library([row.text("c") for row in rows], tmp_path)
    for number, row in enumerate(rows):
        same(library.run(number, row.listing, row.inputs()), row.expected())
