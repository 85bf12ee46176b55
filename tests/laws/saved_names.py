"""What PyTorch's nodes save, by its names, for every row that leaves such a node.

Invariant: what is recorded and what is compared with it are seen by the same lines,
with either module in hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradcli.ops import OPS

from .forward import UP_TO_SIGNS
from .recorded import Trial, by_leaves

PREFIX = "_saved_"
FREED = "freed"
"""Stands for what a node does not give any more."""


def trials() -> Iterator[Trial]:
    """Yield the first case of every row that leaves a node, with every choice of
    leaves."""
    for op in OPS.values():
        if not op.query and op.node is not None:
            yield from by_leaves(op, 1)


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
) -> dict[str, Any]:
    """Return what the node of a trial's outputs saves, and which of it is freed by a
    pass."""
    node = outputs[0].grad_fn
    found = saves(node, trial.name)
    pulled = [y for y in outputs if y.requires_grad]
    module.autograd.backward(pulled, [module.ones_like(y) for y in pulled])
    after = saves(node, trial.name)
    return {
        "saves": found,
        "freed": [name for name, value in after.items() if value == FREED],
    }


def recorded(trial: Trial) -> dict[str, Any] | None:
    """Return what PyTorch's node saves; None if it has no such function, or refuses, or
    records another node."""
    import torch

    from .in_torch import applied

    try:
        outputs = applied(trial.entry, trial.inputs(torch), trial.params)
    except (LookupError, RuntimeError, TypeError):
        return None
    node = outputs[0].grad_fn
    if node is None or node.name() != OPS[trial.name].node:
        return None
    return before_and_after(torch, trial, outputs)


def alike(value: Any, expected: Any) -> bool:
    """Tell whether saved values differ by no more than rounding."""
    if isinstance(expected, list) and isinstance(value, list):
        pairs = zip(value, expected, strict=True)
        return len(value) == len(expected) and all(alike(a, b) for a, b in pairs)
    if isinstance(expected, dict) and isinstance(value, dict):
        digests = value["digest"], expected["digest"]
        same = value | {"digest": 0} == expected | {"digest": 0}
        return same and np.allclose(*digests, rtol=1e-9, atol=1e-9, equal_nan=True)
    return type(value) is type(expected) and bool(value == expected)


def same(at: str, seen: dict[str, Any], was: dict[str, Any]) -> bool:
    """Tell whether two nodes save the same under the same names."""
    names = seen["freed"] == was["freed"] and list(seen["saves"]) == list(was["saves"])
    return names and alike([*seen["saves"].values()], [*was["saves"].values()])
