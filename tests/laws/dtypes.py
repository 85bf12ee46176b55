"""The types of results: a row's cases on every type of number.

Invariant: a case's inputs of one type are drawn the same way for whoever records what
PyTorch makes of them and for the law that compares; integers are never negative,
since not every type has those.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from gradcli.engine.dtypes import default_dtype
from gradcli.ops import OPS

from .draw import Spot, draw, spots
from .recorded import Trial, tensors, told_apart

DTYPES = ("float16", "float32", "float64", "int64", "int32", "int16", "uint8", "bool")
WHOLES = ("bool", "uint8", "int16", "int32", "int64")
NARROW = ("uint8", "int16", "int32")
MIXED = tuple(f"float64 at {place}" for place in range(4))

UNTOLD = {
    "einsum.default": "PyTorch makes it of others, and the type follows how it does so",
    "polygamma.order": "mpmath stands in PyTorch's place, in doubles",
    "embedding.backward": "PyTorch takes floats alone, and its positions are checked",
}
"""Rows whose types the stranger does not tell, and why."""

HERE: dict[str, tuple[str, ...]] = {
    "ndtri": ("float16",),
    "inverse": ("float16",),
    "cdist.default": ("float16",),
    "hardtanh": ("uint8",),
    "clamp.Tensor": ("bool",),
    "avg_pool2d.default": NARROW,
    "avg_pool3d.default": NARROW,
    "bilinear.trilinear": MIXED,  # einsum's order depends on what is installed
    "convolution.default": (*NARROW, *MIXED),
    "convolution.transposed": (*NARROW, *MIXED),
    "convolution.weight": (*WHOLES, *MIXED),
    "slice.backward": WHOLES,
    "masked_select.backward": WHOLES,
    "rrelu_with_noise.default": (*WHOLES, *MIXED),
    "avg_pool2d.backward": WHOLES,
    "adaptive_avg_pool?d.backward": WHOLES,
    "*_pad?d.backward": WHOLES,
    "*upsample_*.backward": (*WHOLES, "float16"),
    "avg_pool3d.backward": (*WHOLES, "float16"),
    "upsample_[!n]*.vec": ("uint8",),
    "_upsample_bi*.vec": ("uint8",),
    "binary_cross_entropy.default": MIXED,
    "binary_cross_entropy_with_logits.default": MIXED,
    "huber_loss.default": MIXED,
    "soft_margin_loss": MIXED,
    "copy_.default": MIXED,
    "fill_.Tensor": MIXED,
}
"""Types, by row, that are not asked for: PyTorch has no kernel or no gradient for what
is computed here, or writes a mixture of floats in the narrower type, or takes by the
row alone what its public function refuses."""


def trials() -> Iterator[Trial]:
    """Yield every case of every row that is drawn."""
    return (Trial(*spot) for spot in spots(differentiable=False))


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


def found(trial: Trial, dtype: str) -> list[str]:
    """Return the types that gradcli's results have."""
    spot = variants(draw(OPS[trial.name], trial.number))[dtype]
    with default_dtype("float32"):
        y = trial.run(tensors(spot.arrays))
    return [str(part.raw.dtype) for part in (y if isinstance(y, tuple) else (y,))]


def recorded(trial: Trial) -> dict[str, Any] | None:
    """Return, by type of the inputs, the types of PyTorch's outputs, and the types that
    it refuses; None if it has no such function."""
    if told_apart(trial, UNTOLD) or OPS[trial.name].query:
        return None
    here = {
        dtype
        for pattern, types in HERE.items() if fnmatchcase(trial.name, pattern)
        for dtype in types
    }  # fmt: skip
    every = variants(draw(OPS[trial.name], trial.number))
    types = {name: _types(spot) for name, spot in every.items() if name not in here}
    gives = {name: found for name, found in types.items() if found is not None}
    refuses = [name for name in types if name not in gives]
    return {"gives": gives, "refuses": refuses} if gives else None


def _types(spot: Spot) -> list[str] | None:
    """Return the types of PyTorch's results; None if it refuses."""
    from .in_torch import outputs

    try:
        parts = outputs(spot.op, spot.arrays, spot.case.params)
    except (RuntimeError, TypeError, IndexError):
        return None
    return [str(part.dtype).removeprefix("torch.") for part in parts]
