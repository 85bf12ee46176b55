"""Record which outputs of PyTorch's functions lie in the memory of their inputs.

Invariant: `sharing.jsonl` is never written by hand.

    python -m tests.laws.record_sharing
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from gradcli.ops import parameters

from .sharing import RECORD, Answer, Trial, answer, trials

ROOTS = (torch, torch.nn.functional, torch.linalg, torch.special, torch.Tensor)

aten: Any = torch.ops.aten


def positions(indices: Any) -> tuple[Any, ...]:
    return tuple([None if i is None else torch.tensor(i) for i in indices])


SPELLINGS: dict[str, Callable[..., Any]] = {
    "alias": aten.alias,
    "clone": lambda x, memory_format=None: x.clone(
        memory_format=torch.contiguous_format
        if memory_format
        else torch.preserve_format
    ),
    "einsum.default": lambda *xs, equation: torch.einsum(equation, *xs),
    "gather.default": lambda x, at, dim: torch.gather(x, dim, at),
    "group_norm.default": lambda x, w, b, num_groups, eps=1e-5: (
        torch.nn.functional.group_norm(x, num_groups, w, b, eps)
    ),
    "index.Tensor": lambda x, indices: x[
        tuple([slice(None) if i is None else torch.tensor(i) for i in indices])
    ],
    "index_add.default": lambda x, at, y, dim, alpha=1: torch.index_add(
        x, dim, at, y, alpha=alpha
    ),
    "index_copy.default": lambda x, at, y, dim: torch.index_copy(x, dim, at, y),
    "index_fill.Scalar": lambda x, at, dim, value: torch.index_fill(x, dim, at, value),
    "index_fill.Tensor": lambda x, at, y, dim: torch.index_fill(x, dim, at, y),
    "index_put.default": lambda x, y, indices, accumulate=False: aten.index_put(
        x, positions(indices), y, accumulate
    ),
    "index_select.default": lambda x, at, dim: torch.index_select(x, dim, at),
    "layer_norm.default": lambda x, w, b, normalized_shape, eps=1e-5: (
        torch.nn.functional.layer_norm(x, normalized_shape, w, b, eps)
    ),
    "linalg_cross.default": lambda a, b, dim=-1: torch.linalg.cross(a, b, dim=dim),
    "linalg_vector_norm.default": lambda x, **how: torch.linalg.vector_norm(x, **how),
    "mH": lambda x: x.mH,
    "mT": lambda x: x.mT,
    "matrix_H": lambda x: x.H,
    "numpy_T": lambda x: x.permute(*range(x.ndim)[::-1]),
    "repeat_interleave": lambda x, repeats, dim=None: torch.repeat_interleave(
        x, torch.tensor(repeats), dim
    ),
    "reshape.alias": torch.reshape,
    "reshape.unsafe": lambda x, shape: aten._unsafe_view(x, shape),
    "scatter.src": lambda x, at, y, dim: torch.scatter(x, dim, at, y),
    "scatter.value": lambda x, at, dim, value: torch.scatter(x, dim, at, value),
    "scatter_add.default": lambda x, at, y, dim: torch.scatter_add(x, dim, at, y),
    "select.backward": lambda g, input_sizes, dim, index: aten.select_backward(
        g, input_sizes, dim, index
    ),
    "slice.Tensor": lambda x, dim=0, start=None, end=None, step=1: aten.slice(
        x, dim, start, end, step
    ),
    "squeeze.default": lambda x, dim: torch.squeeze(x),
    "squeeze_.dim": torch.squeeze,
    "tensor_split": lambda x, indices_or_sections, dim=0: torch.tensor_split(
        x, indices_or_sections, dim
    ),
    "transpose_.inside": torch.transpose,
    "unsqueeze_.inside": torch.unsqueeze,
}
"""Calls for what PyTorch does not spell as the table does."""


def forms(trial: Trial, inputs: list[Any]) -> Iterator[Callable[[], Any]]:
    """Ways to call PyTorch's function of that name."""
    entry, params = trial.entry, trial.params
    spelled = SPELLINGS.get(trial.name)
    if spelled is not None:
        yield lambda: spelled(*inputs, **params)
        return
    given = iter(inputs)
    names = parameters(entry)
    row = [params[n] if n in params else next(given, None) for n in names]
    while row and row[-1] is None:
        row.pop()
    for root in ROOTS:
        found = getattr(root, entry.base, None)
        if callable(found):
            yield lambda f=found: f(*inputs, **params)
            yield lambda f=found: f(*row)
            yield lambda f=found: f(inputs, **params)


def recorded(trial: Trial) -> Answer | None:
    inputs = [
        torch.from_numpy(x) if isinstance(x, np.ndarray) else x for x in trial.inputs()
    ]
    if is_internal(trial.name):
        return None
    for call in forms(trial, inputs):
        try:
            outputs = call()
        except (TypeError, RuntimeError, IndexError, ValueError, AttributeError):
            continue
        return answer(outputs, inputs, memory)
    return None


def is_internal(name: str) -> bool:
    """Whether a row is a rule's own, or gives what an in-place change writes.

    No call of PyTorch's stands beside these: what they give has memory of its own.
    """
    if name in SPELLINGS:
        return False
    base, _, overload = name.partition(".")
    rule = overload in ("backward", "positions", "put", "tangent")
    return rule or base.endswith("_")


def memory(x: Any) -> int | None:
    tensor = isinstance(x, torch.Tensor) and x.numel() > 0
    return x.untyped_storage().data_ptr() if tensor else None


def main() -> None:
    lines = []
    for trial in trials():
        shares = recorded(trial)
        lines.append(json.dumps({"trial": trial.ident, "shares": shares}))
    RECORD.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
