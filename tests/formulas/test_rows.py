"""Every row of the table can be written as code, and the code is the row."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from laws.draw import NO_FORMULA, Spot, draw, is_differentiated
from laws.measure import flat_output, flattened

from gradcli.engine import NUMPY, Tensor, grad
from gradcli.formulas.entries import EntryNamespace, entries
from gradcli.formulas.namespace import TreeNamespace
from gradcli.formulas.program import rows_as_calls
from gradcli.ops import OPS, Op
from tests.grouped import by_row, nightly, written_or_lacking

from .written import Library, function_of, run_python, same

THREE_ROWS = {"linalg_svd.default": 4, "linalg_eigh.default": 3}
"""Cases of rows that have a formula of matrices with two rows alone."""

SHARE = 4
"""One row of so many is written in every run, the others at night."""

CASES = [
    (op, number)
    for op in OPS.values()
    if op.node is not None and op.name not in NO_FORMULA and is_differentiated(op)
    for number in range(len(op.cases))
    if number != THREE_ROWS.get(op.name)
]


@dataclass(frozen=True, slots=True)
class Row:
    """A row at a drawn point: its inputs, its outputs and their gradients."""

    spot: Spot
    inputs: dict[str, np.ndarray]
    expected: list[np.ndarray]

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        return [array.shape for array in self.expected]

    def text(self, language: str) -> str:
        xp = EntryNamespace(TreeNamespace(words=False, zeros_vanish=True))
        given = {n: Tensor(xp.named(n, a), xp, True) for n, a in self.inputs.items()}
        with rows_as_calls(), np.errstate(all="ignore"):
            output = flat_output(self.spot, given)
            seed = Tensor(xp.array(weights(output)), xp)
            found = grad([output], list(given.values()), [seed])
        gradients = [
            (f"{name}_grad", x, Tensor(xp.zeros_like(x.raw), xp) if g is None else g)
            for (name, x), g in zip(given.items(), found, strict=True)
        ]
        blocks = [
            (name, tuple(t.shape), list(entries(t.raw, xp)))
            for name, t in [("value", output), *((n, g) for n, _, g in gradients)]
        ]
        shapes = [(n, a.shape) for n, a in self.inputs.items()]
        return function_of(blocks, shapes, language)


def weights(output: Tensor) -> np.ndarray:
    return np.linspace(0.5, 1.5, output.numel())


@cache
def row_of(op: Op, number: int) -> Row:
    """The engine's gradient of all outputs together."""
    spot = draw(op, number)
    leaves, y = spot.run()
    output = flattened(y)
    found = grad([output], leaves, [Tensor(weights(output), NUMPY)])
    drawn = zip(spot.free, leaves, strict=True)
    inputs = {f"x{i}": np.asarray(t.raw) for i, t in drawn}
    gradients = [
        np.zeros(t.shape) if g is None else np.asarray(g.raw)
        for t, g in zip(leaves, found, strict=True)
    ]
    return Row(spot, inputs, [np.asarray(output.raw), *gradients])


@by_row("op, number", CASES, lambda case: f"{case[0].name}-{case[1]}", share=SHARE)
def test_numpy_code_is_the_row(op: Op, number: int) -> None:
    row = row_of(op, number)
    given = list(row.inputs.values())
    text = written_or_lacking(lambda: row.text("numpy"), "numpy")
    if text is not None:
        same(run_python(text, "gradient", given), row.expected)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("share", [2 * SHARE, *nightly([1])])
def test_c_code_is_the_row(share: int, tmp_path: Any) -> None:
    every = [row_of(*case) for case in CASES[::share]]
    texts = [written_or_lacking(partial(row.text, "c"), "c") for row in every]
    rows = [row for row, text in zip(every, texts, strict=True) if text is not None]
    library = Library([text for text in texts if text is not None], tmp_path)
    for number, row in enumerate(rows):
        given = list(row.inputs.values())
        same(library.run(number, "gradient", row.shapes, given), row.expected)
