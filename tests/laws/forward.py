"""What PyTorch gives for every row's cases, recorded: reading, writing, comparing.

Invariant: the record holds PyTorch's numbers for the inputs that `draw` draws, never
gradcli's. CI compares without PyTorch.

    recorded()["mul-0"]       # the outputs of the first case of mul, as arrays
    ours(*AT["mul-0"])        # the same by the table's own formulas
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gradcli.engine import Tensor
from gradcli.engine.record import function
from gradcli.ops import FUNCTIONS, OPS, Composite, Op

from .draw import Spot, draw, handed
from .measure import outputs_of
from .recorded import Records

RECORD = Path(__file__).parent / "forward-torch-2.13.jsonl"
RELATIVE = 1e-12

Entry = Op | Composite

ENTRIES: list[Entry] = [
    *OPS.values(),
    *(f for f in FUNCTIONS.values() if isinstance(f, Composite)),
]
AT: dict[str, tuple[Entry, int]] = {
    f"{entry.name}-{i}": (entry, i)
    for entry in ENTRIES
    for i in range(len(entry.cases))
}


def arrays(entry: Entry, number: int) -> tuple[Any, ...]:
    """The inputs of a case: arrays, and what it gives by value."""
    return draw(entry, number).arrays


def ours(entry: Entry, number: int) -> list[Any]:
    """The outputs of a case by the table."""
    spot = draw(entry, number)
    return [np.asarray(part.raw) for part in outputs_of(run(spot))]


def run(spot: Spot) -> Any:
    if isinstance(spot.op, Op):
        return spot.run()[1]
    inputs = [Tensor(a, spot.xp) if hasattr(a, "dtype") else a for a in spot.arrays]
    return function(spot.op.name)(*handed(spot.op, inputs), **spot.case.params)


def differs(found: Sequence[Any], true: Sequence[Any]) -> bool:
    """Whether outputs differ by more than rounding, in number, shape or type.

    What the record does not hold, a second output that PyTorch alone has, is let be.
    """
    return len(found) > len(true) or any(
        a.shape != b.shape
        or a.dtype != b.dtype
        or not np.allclose(a, b, rtol=RELATIVE, atol=RELATIVE, equal_nan=True)
        for a, b in zip(found, true, strict=False)
    )


UP_TO_SIGNS = {"linalg_svd.default", "linalg.svd", "svd", "linalg_eigh.default",
               "linalg.eigh"}  # fmt: skip
"""Vectors whose signs each library of linear algebra chooses as it likes."""


def settled(at: str, outputs: Sequence[Any]) -> list[Any]:
    """A case's outputs as far as they are told by the case."""
    free = AT[at][0].name in UP_TO_SIGNS
    return [np.abs(array) for array in outputs] if free else list(outputs)


def recorded() -> Records[list[Any]]:
    """The record: outputs by the name of the entry and the number of its case."""
    lines = map(json.loads, RECORD.read_text(encoding="utf-8").splitlines())
    outputs = {line["at"]: [as_array(output) for output in line["outputs"]]
               for line in lines}  # fmt: skip
    return Records("record_forward", outputs)


def as_array(output: Mapping[str, Any]) -> Any:
    return np.asarray(output["entries"], output["dtype"]).reshape(output["shape"])


def as_line(at: str, outputs: Sequence[Any]) -> str:
    """A line of the record; NaN and infinities as Python's reader takes them."""
    written = [
        {
            "shape": list(array.shape),
            "dtype": str(array.dtype),
            "entries": array.reshape(-1).tolist(),
        }
        for array in map(np.asarray, outputs)
    ]
    return json.dumps({"at": at, "outputs": written})
