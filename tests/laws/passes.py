"""A second backward pass, and the graph of a pass: what PyTorch allows and connects.

Invariant: what is recorded and what is compared with it are seen by the same lines:
`witness` calls what both modules have.

    witness(torch, trial, trial.run)      # {"again": True, ...}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gradcli.ops import Op

from .recorded import ENTRIES, Trial, by_leaves, told_apart

SECOND_TIME = "second time"
"""What the message says of a second pass that finds nothing saved."""

_ITS_AUTOGRAD = "PyTorch's autograd stands in its place"

UNTOLD = {
    "rrelu_with_noise.default-1": "PyTorch draws its noise itself",
    "linalg_vector_norm.default-4": "of order 0: zeros here, no gradient there",
    "prod.default-3": "of one entry: connected here, with zeros as its derivative",
    "cumprod-4": "of one entry: connected here, with zeros as its derivative",
    "det-3": "of one entry: connected here, with zeros as its derivative",
    "polygamma.order": "mpmath stands in PyTorch's place",
    "einsum.default": "PyTorch makes it of others; here it is one node",
    **dict.fromkeys(
        ("slice.backward", "masked_select.backward",
         "*avg_pool?d.backward", "*_pad?d.backward", "*upsample_*.backward",
         "convolution.weight"),
        _ITS_AUTOGRAD,
    ),
}  # fmt: skip
"""Rows and cases in which gradcli differs or the stranger does not tell, and why."""


def trials() -> Iterator[Trial]:
    """Yield every case of every row with a gradient and of every function."""
    for entry in ENTRIES.values():
        if not (isinstance(entry, Op) and (entry.query or entry.node is None)):
            yield from by_leaves(entry)


def witness(
    module: Any, trial: Trial, call: Callable[[list[Any]], Any]
) -> dict[str, Any] | None:
    """Return what the passes of a module do; None if there is nothing to differentiate.

    The keys: ``again``, whether a second pass is allowed where the first did not retain
    the graph; ``requires``, per leaf whether its gradient requires one where the pass
    is recorded, None if there is no gradient; ``reaches``, per leaf, and per leaf
    again, whether the gradient's own pass reaches it.
    """
    _, outputs = _run(module, trial, call)
    if not outputs:
        return None
    ones = [module.ones_like(y) for y in outputs]
    module.autograd.backward(outputs, ones)
    again = True
    try:
        module.autograd.backward(outputs, ones)
    except RuntimeError as error:
        if SECOND_TIME not in str(error):
            raise
        again = False
    found, outputs = _run(module, trial, call)
    options = {"create_graph": True, "allow_unused": True}
    gradients = module.autograd.grad(outputs, found, ones, **options)
    return {
        "again": again,
        "requires": [None if g is None else bool(g.requires_grad) for g in gradients],
        "reaches": [_reached(module, g, found) for g in gradients],
    }


def _reached(module: Any, g: Any, leaves: list[Any]) -> list[bool]:
    if g is None or not g.requires_grad:
        return [False] * len(leaves)
    options = {"retain_graph": True, "allow_unused": True}
    second = module.autograd.grad([g], leaves, [module.ones_like(g)], **options)
    return [s is not None for s in second]


def _run(
    module: Any, trial: Trial, call: Callable[[list[Any]], Any]
) -> tuple[list[Any], list[Any]]:
    inputs = trial.inputs(module)
    y = call(inputs)
    parts = list(y) if isinstance(y, tuple | list) else [y]
    leaves = [inputs[i] for i in trial.leaves]
    return leaves, [part for part in parts if part.requires_grad]


def recorded(trial: Trial) -> dict[str, Any] | None:
    """Return what PyTorch does; None if it has no such function, or refuses."""
    import torch

    from .in_torch import applied

    if told_apart(trial, UNTOLD):
        return None
    try:
        return witness(torch, trial, lambda xs: applied(trial.entry, xs, trial.params))
    except (RuntimeError, TypeError, IndexError):
        return None
