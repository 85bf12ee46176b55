"""Passes inside passes, and edges in the place of tensors."""

from __future__ import annotations

import sys
from typing import Any

import gradcli as torch
from gradcli.autograd import Function
from gradcli.engine.backward import PASSES

DEEP = 2000


class Nested(Function):
    """Doubles; its backward runs a pass through another one, ``depth`` times."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, depth: int) -> torch.Tensor:
        ctx.depth = depth
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        if not ctx.depth:
            return g, None
        with torch.enable_grad():
            inner = x.detach().requires_grad_()
            Nested.apply(inner, ctx.depth - 1).backward(g)
        return inner.grad, None


def test_two_thousand_nested_passes_need_no_deeper_stack() -> None:
    limit = sys.getrecursionlimit()
    x = torch.tensor(1.0, requires_grad=True)
    Nested.apply(x, DEEP).backward()
    assert x.grad.item() == 1.0
    assert sys.getrecursionlimit() == limit
    assert PASSES.running is None


def test_modes_of_the_outer_pass_hold_in_the_deepest() -> None:
    seen = []

    def deep(level: int) -> None:
        z = torch.tensor(1.0, requires_grad=True)
        y = z * 2
        if level:
            y.register_hook(lambda g: deep(level - 1))
        else:
            y.register_hook(lambda g: seen.append(torch.is_grad_enabled()))
        y.backward(create_graph=True)

    deep(50)
    assert seen == [True]
