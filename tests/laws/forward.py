"""What PyTorch gives for every case of every row and function, recorded.

arrays_of(Records("forward")["mul-0"])     # the outputs of the first case of mul
ours(AT["mul-0"])                          # the same by the table's own formulas
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.engine import Tensor
from gradcli.ops import FUNCTIONS, OPS, Composite, Op

from .recorded import Trial, tensors, told_apart

RELATIVE = 1e-12

Entry = Op | Composite

OFFERED: list[Entry] = [
    *OPS.values(),
    *(f for f in FUNCTIONS.values() if isinstance(f, Composite)),
]
AT = {
    trial.ident: trial
    for entry in OFFERED
    for trial in (Trial(entry.name, i) for i in range(len(entry.cases)))
}

UP_TO_SIGNS = {"linalg_svd.default", "linalg.svd", "svd", "linalg_eigh.default",
               "linalg.eigh"}  # fmt: skip
"""Vectors whose signs each library of linear algebra chooses as it likes."""


def trials() -> list[Trial]:
    return [*AT.values()]


def ours(trial: Trial) -> list[Any]:
    """Return the outputs of a case by the table."""
    y = trial.run(tensors(trial.arrays()))
    parts = y if isinstance(y, tuple | list) else (y,)
    return [np.asarray(part.raw) for part in parts if isinstance(part, Tensor)]


def differs(found: Sequence[Any], true: Sequence[Any]) -> bool:
    """Tell whether outputs differ by more than rounding, in number, shape or type.

    What the record does not hold, a second output that PyTorch alone has, is let be.
    """
    return len(found) > len(true) or any(
        a.shape != b.shape
        or a.dtype != b.dtype
        or not np.allclose(a, b, rtol=RELATIVE, atol=RELATIVE, equal_nan=True)
        for a, b in zip(found, true, strict=False)
    )


def settled(at: str, outputs: Sequence[Any]) -> list[Any]:
    """Return a case's outputs as far as they are told by the case."""
    free = AT[at].name in UP_TO_SIGNS
    return [np.abs(array) for array in outputs] if free else list(outputs)


def arrays_of(seen: Sequence[Any]) -> list[Any]:
    """Return outputs of the record as arrays."""
    return [
        np.asarray(each["entries"], each["dtype"]).reshape(each["shape"])
        for each in seen
    ]


def recorded(trial: Trial) -> list[Any] | None:
    """Return PyTorch's outputs; None if it has no such function."""
    from .in_torch import outputs

    if told_apart(trial, {}):
        return None
    found = outputs(trial.entry, trial.arrays(), trial.params)
    return [
        {
            "shape": list(array.shape),
            "dtype": str(array.dtype),
            "entries": array.reshape(-1).tolist(),
        }
        for array in map(np.asarray, found)
    ]


def same(at: str, seen: Sequence[Any], was: Sequence[Any]) -> bool:
    """Tell whether outputs differ by rounding alone, as they do on another machine, and
    where an array lies elsewhere in memory."""
    found, held = settled(at, arrays_of(seen)), settled(at, arrays_of(was))
    return len(found) == len(held) and not differs(found, held)
