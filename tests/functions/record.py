"""Record what PyTorch prints for every script of ``torch/``.

Random numbers are those of a fresh generator, whose seed PyTorch chooses itself;
Python's own are seeded.

    python -m tests.functions.record              # with PyTorch installed
"""

from __future__ import annotations

import random
import runpy
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

HERE = Path(__file__).parent
SCRIPTS = sorted((HERE / "torch").glob("*.py"))
FRESH_SEED = 67280421310721
"""What PyTorch's generator is seeded with where nobody seeds it."""


def printed_by_torch(script: Path) -> str:
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(FRESH_SEED)
    torch.set_printoptions(profile="default")
    random.seed(0)
    out = StringIO()
    with redirect_stdout(out):
        runpy.run_path(str(script), run_name="__main__")
    return out.getvalue()


def recorded(script: Path) -> Path:
    """The file with what PyTorch printed."""
    return HERE / "printed" / f"{script.stem}.txt"


def main() -> None:
    for script in SCRIPTS:
        recorded(script).write_text(printed_by_torch(script))


if __name__ == "__main__":
    main()
