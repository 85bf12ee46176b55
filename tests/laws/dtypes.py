"""The types of results: a row's cases on every type of number.

Invariant: a case's inputs of one type are drawn the same way for whoever records what
PyTorch makes of them and for the law that compares; integers are never negative,
since not every type has those.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gradcli.engine import NUMPY, Tensor
from gradcli.engine.dtypes import default_dtype
from gradcli.engine.record import apply
from gradcli.ops import OPS

from .draw import Spot, draw
from .recorded import Records

FILE = Path(__file__).parent / "dtypes.jsonl"

DTYPES = ("float16", "float32", "float64", "int64", "int32", "int16", "uint8", "bool")

UNTOLD = {
    "einsum.default": "PyTorch makes it of others, and the type follows how it does so",
    "polygamma.order": "mpmath stands in PyTorch's place, in doubles",
    "embedding.backward": "PyTorch takes floats alone, and its positions are checked",
    "embedding.shares": "a part of embedding with a bound of the norm",
}
"""Rows whose types the stranger does not tell, and why."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One line of the file: by type of the inputs, the types of the outputs; the types
    that are refused."""

    row: str
    case: int
    gives: dict[str, list[str]]
    refuses: list[str]

    @property
    def ident(self) -> str:
        return f"{self.row}-{self.case}"


def load() -> Records[Recorded]:
    lines = FILE.read_text(encoding="utf-8").splitlines()
    found = [Recorded(**json.loads(line)) for line in lines]
    return Records("record_dtypes", {each.ident: each for each in found})


def typed(spot: Spot, dtype: str) -> Spot:
    """The case with the floats among its inputs in another type."""

    def convert(a: Any) -> Any:
        if a.dtype.kind != "f":
            return a
        if dtype == "bool":
            return a > 0
        return a.astype(dtype) if dtype[0] == "f" else np.rint(abs(3 * a)).astype(dtype)

    return spot.as_kind(convert)


def holds(spot: Spot, dtype: str) -> bool:
    """Whether the numbers among the parameters exist in the type."""
    numbers = [v for v in spot.case.params.values() if isinstance(v, int | float)]
    return dtype != "uint8" or all(v >= 0 for v in numbers)


def mixtures(spot: Spot) -> dict[str, Spot]:
    """The case with doubles among single floats, by which of the floats that is."""
    floats = [i for i, a in enumerate(spot.arrays) if _is_float(a)]
    return {
        f"float64 at {place}": replace(
            spot,
            arrays=tuple(
                a.astype("float64" if i == place else "float32") if _is_float(a) else a
                for i, a in enumerate(spot.arrays)
            ),
        )
        for place in floats
        if len(floats) > 1
    }


def _is_float(a: Any) -> bool:
    return hasattr(a, "dtype") and a.dtype.kind == "f"


def variants(spot: Spot) -> dict[str, Spot]:
    """The case in every type that holds it, and in mixtures of types, by name."""
    alike = {dtype: typed(spot, dtype) for dtype in DTYPES if holds(spot, dtype)}
    return alike | mixtures(spot)


def found(row: str, case: int, dtype: str) -> list[str]:
    """The types that gradcli's results have."""
    spot = variants(draw(OPS[row], case))[dtype]
    inputs = tuple(Tensor(a, NUMPY) if hasattr(a, "dtype") else a for a in spot.arrays)
    with default_dtype("float32"):
        y = apply(spot.op, inputs, dict(spot.case.params))
    return [str(part.raw.dtype) for part in (y if isinstance(y, tuple) else (y,))]
