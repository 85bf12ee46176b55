"""What PyTorch's nodes call what they save, for every row that leaves such a node.

Invariant: `saved_names.jsonl` is never written by hand.

    python -m tests.laws.saved_names        # record it anew; needs PyTorch
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gradcli.ops import OPS, Op

from .draw import draw

RECORD = Path(__file__).parent / "saved_names.jsonl"
PREFIX = "_saved_"


def names(node: Any) -> list[str]:
    shown = [name for name in dir(node) if name.startswith(PREFIX)]
    return sorted(name.removeprefix(PREFIX) for name in shown)


def ours(op: Op) -> Any:
    """The node of a row's first case."""
    _, y = draw(op, 0).run()
    return (y[0] if isinstance(y, tuple) else y).grad_fn


def theirs(op: Op) -> Any:
    """PyTorch's node of the same; None where it has no such function, or refuses."""
    import torch

    from .in_torch import applied, argument

    spot = draw(op, 0)
    given = [argument(array) for array in spot.arrays]
    for i in spot.free:
        if isinstance(given[i], torch.Tensor) and given[i].is_floating_point():
            given[i] = given[i].clone().requires_grad_()
    try:
        return applied(op, given, dict(spot.case.params))[0].grad_fn
    except (LookupError, RuntimeError, TypeError):
        return None


def recorded() -> dict[str, list[str]]:
    lines = RECORD.read_text("utf-8").splitlines()
    return {line["row"]: line["saves"] for line in map(json.loads, lines)}


def main() -> None:
    lines = []
    for op in OPS.values():
        if op.query or op.node is None:
            continue
        node = theirs(op)
        if node is not None and node.name() == op.node:
            lines.append(json.dumps({"row": op.name, "saves": names(node)}))
    RECORD.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} rows recorded")


if __name__ == "__main__":
    main()
