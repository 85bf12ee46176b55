"""A program that PyTorch accepts is accepted: what counts as saved, over the table.

For every function that both know: an operand, or the result, is changed in place before
the reverse pass; where PyTorch computes a gradient, so does the engine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradcli
from gradcli.engine.public import names
from gradcli.ops import ALIASES

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peers

# Our rules read a value here that PyTorch's do not, and so a change of it is refused.
STRICTER = {
    ("exp2", 1, 0), ("expm1", 1, 0),
    ("erfinv", 1, "result"), ("sinc", 1, "result"), ("glu", 1, "result"),
    ("kron", 2, 0), ("kron", 2, 1),
}  # fmt: skip


def found(module: Any, name: str) -> Callable[..., Any] | None:
    return getattr(module, name, None) or getattr(module.nn.functional, name, None)


def outcome(module: Any, function: Any, count: int, change: Any) -> str:
    try:
        leaves = [module.tensor([[0.5, 0.7], [0.3, 0.6]], requires_grad=True)
                  for _ in range(count)]  # fmt: skip
        operands = [leaf * 1 for leaf in leaves]
        result = function(*operands)
        if isinstance(result, tuple):
            result = result[0]
        if change == "result":
            result.add_(0.0)
        elif change is not None:
            operands[change].add_(0.0)
    except Exception:
        return "not called"
    try:
        result.sum().backward()
    except RuntimeError as error:
        return "changed" if "modified by an inplace" in str(error) else "refused"
    return "computed"


FUNCTIONS = sorted(n for n in names() if n not in ALIASES and found(torch, n))


@pytest.mark.nightly
@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_pytorch_computes_after_a_change_is_computed(name: str) -> None:
    theirs, ours = found(torch, name), found(gradcli, name)
    for count in (1, 2, 3):
        if outcome(torch, theirs, count, None) != "computed":
            continue
        for change in ("result", *range(count)):
            if outcome(torch, theirs, count, change) != "computed":
                continue
            computed = outcome(gradcli, ours, count, change) == "computed"
            assert computed != ((name, count, change) in STRICTER), (count, change)


def test_a_change_before_the_first_use_of_a_saved_value_is_never_missed() -> None:
    x = gradcli.ones(3, requires_grad=True)
    w = gradcli.full((3,), 2.0)
    y = (x * w).sum()
    for change in (
        lambda: w.mul_(2),
        lambda: w[:1].add_(1),
        lambda: w.view(3, 1).neg_(),
    ):
        change()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward(retain_graph=True)
