"""What PyTorch's nodes save, by its names, for every row that leaves such a node.

Invariant: `saved_names.jsonl` is never written by hand; what is in it and what is
compared with it are seen by the same lines, with either module in hand.

    python -m tests.laws.saved_names        # record it anew; needs PyTorch
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gradcli.ops import OPS, Op

from .draw import is_shape
from .forward import UP_TO_SIGNS
from .passes import Trial, choices
from .recorded import Records

RECORD = Path(__file__).parent / "saved_names.jsonl"
PREFIX = "_saved_"
FREED = "freed"
"""Stands for what a node does not give any more."""


def trials(op: Op) -> list[Trial]:
    """The first case of a row, with every choice of leaves."""
    drawn = [i for i, value in enumerate(op.cases[0].inputs) if is_shape(value)]
    return [Trial(op.name, 0, chosen) for chosen in choices(drawn)]


def saves(node: Any, row: str) -> dict[str, Any]:
    """What a row's node shows as saved, by name, as it is written down."""
    names = [name for name in dir(node) if name.startswith(PREFIX)]
    free = row in UP_TO_SIGNS
    return {name.removeprefix(PREFIX): shown(node, name, free)
            for name in sorted(names)}  # fmt: skip


def shown(node: Any, name: str, free: bool) -> Any:
    try:
        return written(getattr(node, name), free)
    except RuntimeError:
        return FREED


def written(value: Any, free: bool) -> Any:
    """A saved value as JSON has it: a tensor by its shape, its type and one number that
    changes with any of its entries and with their order; with free signs by the sizes
    of its entries."""
    if isinstance(value, tuple | list):
        return [written(each, free) for each in value]
    if not hasattr(value, "detach"):
        return value
    array = np.asarray(value.detach().numpy(), float)
    if free:
        array = np.abs(array)
    places = np.arange(1, array.size + 1)
    digest = float(np.dot(array.ravel(), places))
    return {"shape": list(array.shape), "type": f"{value.dtype}".partition(".")[2],
            "digest": digest}  # fmt: skip


def is_tensor(value: Any) -> bool:
    """Whether what is written down was a tensor, or several."""
    several = isinstance(value, list) and any(map(is_tensor, value))
    return several or (isinstance(value, dict) and "digest" in value)


def before_and_after(
    module: Any, trial: Trial, outputs: Sequence[Any]
) -> tuple[dict[str, Any], list[str]]:
    """What the node of a trial's outputs saves, and which of it is freed by a pass."""
    node = outputs[0].grad_fn
    found = saves(node, trial.name)
    pulled = [y for y in outputs if y.requires_grad]
    module.autograd.backward(pulled, [module.ones_like(y) for y in pulled])
    after = saves(node, trial.name)
    return found, [name for name, value in after.items() if value == FREED]


def prepared(module: Any, trial: Trial) -> list[Any]:
    """A trial's inputs as a module's tensors, the chosen ones leaves."""
    given = [
        module.from_numpy(np.array(a)) if hasattr(a, "dtype") else a
        for a in trial.arrays()
    ]
    for i in trial.leaves:
        given[i].requires_grad_()
    return given


def theirs(trial: Trial) -> Any:
    """PyTorch's outputs of a trial; None where it has no such function, or refuses, or
    records another node."""
    import torch

    from .in_torch import applied

    op = OPS[trial.name]
    try:
        outputs = applied(op, prepared(torch, trial), trial.params)
    except (LookupError, RuntimeError, TypeError):
        return None
    node = outputs[0].grad_fn
    return outputs if node is not None and node.name() == op.node else None


def recorded() -> Records[list[dict[str, Any]]]:
    """The lines of the record, by the row they are of."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in map(json.loads, RECORD.read_text("utf-8").splitlines()):
        found.setdefault(line["row"], []).append(line)
    return Records("saved_names", found)


def main() -> None:
    import torch

    lines = []
    for op in OPS.values():
        if op.query or op.node is None:
            continue
        for trial in trials(op):
            outputs = theirs(trial)
            if outputs is not None:
                found, freed = before_and_after(torch, trial, outputs)
                line = {"row": op.name, "leaves": trial.leaves, "saves": found}
                lines.append(json.dumps(line | {"freed": freed}))
    RECORD.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} nodes recorded")


if __name__ == "__main__":
    main()
