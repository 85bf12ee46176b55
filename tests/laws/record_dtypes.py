"""Record which types PyTorch's results have, for every row, case and type of input.

    python -m tests.laws.record_dtypes            # write dtypes.jsonl anew
    python -m tests.laws.record_dtypes --check    # exit 1 if anything would change

Where PyTorch refuses a type, or has no operation for a row, nothing is recorded.
"""

from __future__ import annotations

import json
import sys
import warnings
from dataclasses import asdict

from gradcli.ops import OPS

from .draw import Spot, draw, spots
from .dtypes import DTYPES, FILE, Recorded, holds, typed
from .in_torch import OWN, outputs

UNTOLD = {
    "einsum.default": "PyTorch makes it of others, and the type follows how it does so",
    "polygamma.order": "mpmath stands in PyTorch's place, in doubles",
    "embedding.backward": "PyTorch takes floats alone, and its positions are checked",
    "embedding.shares": "a part of embedding with a bound of the norm",
}
"""Rows whose types the stranger does not tell, and why."""


def recorded(row: str, case: int) -> Recorded | None:
    if row in OWN or row in UNTOLD or OPS[row].query:
        return None
    spot = draw(OPS[row], case)
    gives = {
        dtype: types
        for dtype in DTYPES
        if holds(spot, dtype) and (types := _types(typed(spot, dtype)))
    }
    return Recorded(row, case, gives) if gives else None


def _types(spot: Spot) -> list[str]:
    """The types of the results; none where PyTorch refuses."""
    try:
        parts = outputs(spot.op, spot.arrays, spot.case.params)
    except (RuntimeError, TypeError, IndexError):
        return []
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
