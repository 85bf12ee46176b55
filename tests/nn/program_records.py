"""Programs for PyTorch, and what they printed there: reading, running, recording.

Invariant: what is recorded is never written by hand. A cell begins with ``# %% name``
and knows the prelude alone, so that each stands by itself.

    PYTHONPATH=tests python tests/nn/program_records.py             # record anew
    PYTHONPATH=tests python tests/nn/program_records.py --check     # or compare
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.reference.torch_facts import Outcome, run

HERE = Path(__file__).parent / "programs"
RECORD = HERE / "printed.jsonl"
MARK = "# %% "
PRELUDE = "import math\n" + (HERE / "prelude.cells").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Cell:
    program: str
    name: str
    code: str

    @property
    def title(self) -> str:
        return f"{self.program}: {self.name}"


def cells() -> list[Cell]:
    """Every cell of every program, in order."""
    found = []
    for path in sorted(HERE.glob("*.cells")):
        _, *parts = f"\n{path.read_text(encoding='utf-8')}".split(f"\n{MARK}")
        for part in parts:
            name, _, code = part.partition("\n")
            found.append(Cell(path.stem, name, code))
    return found


def outcome(cell: Cell, torch: Any) -> Outcome:
    return run(PRELUDE + cell.code, torch)


def recorded() -> dict[str, str]:
    """What each cell printed, by its title."""
    lines = RECORD.read_text(encoding="utf-8").splitlines()
    return {entry["cell"]: entry["printed"] for entry in map(json.loads, lines)}


def of_pytorch() -> dict[str, str]:
    import torch

    torch.set_num_threads(1)
    found = {}
    for cell in cells():
        done = outcome(cell, torch)
        if done.error is not None:
            raise done.error
        found[cell.title] = done.printed
    return found


def main() -> int:
    fresh = of_pytorch()
    if "--check" in sys.argv[1:]:
        known = recorded()
        changed = [title for title, text in fresh.items() if known.get(title) != text]
        print("\n".join(changed) or f"{len(fresh)} cells are as recorded")
        return 1 if changed else 0
    lines = [json.dumps({"cell": k, "printed": v}) for k, v in fresh.items()]
    RECORD.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(fresh)} cells recorded")
    return 0


if __name__ == "__main__":
    sys.exit(main())
