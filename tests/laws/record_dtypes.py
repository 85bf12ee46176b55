"""Record which types PyTorch's results have, for every row, case and type of input.

    python -m tests.laws.record_dtypes            # write dtypes.jsonl anew
    python -m tests.laws.record_dtypes --check    # exit 1 if anything would change

Where PyTorch has no operation for a row nothing is recorded; of what it refuses only
that it does.
"""

from __future__ import annotations

import json
import sys
import warnings
from dataclasses import asdict

from gradcli.ops import OPS

from .draw import Spot, draw, spots
from .dtypes import FILE, UNTOLD, Recorded, variants
from .in_torch import BORDERS, RESAMPLED, outputs
from .own import OWN

WHOLES = ("bool", "uint8", "int16", "int32", "int64")
NARROW = ("uint8", "int16", "int32")
MIXED = tuple(f"float64 at {place}" for place in range(4))

HERE: dict[str, tuple[str, ...]] = {
    "ndtri": ("float16",),
    "inverse": ("float16",),
    "cdist.default": ("float16",),
    "hardtanh": ("uint8",),
    "clamp.Tensor": ("bool",),
    "avg_pool2d.default": NARROW,
    "convolution.default": (*NARROW, *MIXED),
    "convolution.transposed": (*NARROW, *MIXED),
    "slice.backward": WHOLES,
    "masked_select.backward": WHOLES,
    "avg_pool3d.default": NARROW,
    "rrelu_with_noise.default": (*WHOLES, *MIXED),
    "affine_grid_generator": ("float16",),
    "affine_grid_generator.backward": (*WHOLES, "float16"),
    **{
        f"{name}.backward": WHOLES
        for name in (
            "avg_pool2d",
            "adaptive_avg_pool2d",
            "adaptive_avg_pool3d",
            *BORDERS,
        )
    },
    **{f"{name}.backward": (*WHOLES, "float16") for name in (*RESAMPLED, "avg_pool3d")},
    **{f"{name}.vec": ("uint8",) for name in RESAMPLED if "nearest" not in name},
    "convolution.weight": (*WHOLES, *MIXED),
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


def recorded(row: str, case: int) -> Recorded | None:
    if row in OWN or row in UNTOLD or OPS[row].query:
        return None
    spot = draw(OPS[row], case)
    types = {
        name: _types(each)
        for name, each in variants(spot).items()
        if name not in HERE.get(row, ())
    }
    gives = {name: found for name, found in types.items() if found is not None}
    refused = [name for name in types if name not in gives]
    return Recorded(row, case, gives, refused) if gives else None


def _types(spot: Spot) -> list[str] | None:
    """The types of the results; None where PyTorch refuses."""
    try:
        parts = outputs(spot.op, spot.arrays, spot.case.params)
    except (RuntimeError, TypeError, IndexError):
        return None
    return [str(part.dtype).removeprefix("torch.") for part in parts]


def main() -> int:
    warnings.simplefilter("ignore")
    found = [recorded(row, case) for row, case in spots(differentiable=False)]
    lines = [json.dumps(asdict(each)) for each in found if each is not None]
    text = "\n".join(lines) + "\n"
    if "--check" not in sys.argv:
        FILE.write_text(text, encoding="utf-8")
    elif FILE.read_text(encoding="utf-8") != text:
        print("dtypes.jsonl is not what PyTorch does")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
