"""Passes inside passes, and edges in the place of tensors."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import gradcli as torch
from gradcli.autograd import Function, grad
from gradcli.autograd.graph import GradientEdge, get_gradient_edge
from gradcli.engine.backward import PASSES

from .functions import backward_of

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


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * 2,
        lambda x: x + torch.ones(3, 2),
        lambda x: x.exp(),
        lambda x: x.sum(1),
        lambda x: x.reshape(2, 1).expand(2, 3),
        lambda x: (x + 1).sum(0, keepdim=True).t(),
        lambda x: x.reshape(1, 2) @ torch.ones(2, 4),
        lambda x: x.unbind(1)[1],
        lambda x: x.double(),
        lambda x: x.double().sum(0),
        lambda x: Pair.apply(x)[1],
        lambda x: x,
    ],
    ids=lambda f: None,
)
def test_an_edge_made_of_a_node_knows_the_shape_and_type_of_its_tensor(f: Any) -> None:
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    y = f(x)
    node = y.grad_fn or get_gradient_edge(y).node
    edge = GradientEdge(node, y.output_nr)
    v = torch.arange(y.numel(), dtype=y.dtype).reshape(y.shape)
    (expected,) = grad(f(x), x, v)
    assert torch.equal(grad(edge, x, v, retain_graph=True)[0], expected)
    shape = (*y.shape, 1)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        grad(edge, x, torch.ones(shape))


@backward_of(lambda x: (x * 1, x.reshape(2, 1) * 3))
def Pair(ctx: Any, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a + 3 * b.reshape(1, 2)


def test_an_edge_of_a_freed_graph_is_refused() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    y.sum().backward()
    edge = GradientEdge(y.grad_fn, 0)
    with pytest.raises(RuntimeError, match="a second time"):
        torch.autograd.backward(edge, torch.ones(2))
