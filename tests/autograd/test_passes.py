"""Passes inside passes, and edges in the place of tensors."""

from __future__ import annotations

from typing import Any

import pytest

import gradcli as torch
from gradcli.autograd import Function, grad
from gradcli.autograd.graph import GradientEdge, get_gradient_edge


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

    deep(10)
    assert seen == [True]


def test_an_edge_keeps_the_shape_of_its_tensor() -> None:
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    y = Pair.apply(x)[1]
    edge, v = get_gradient_edge(y), torch.ones(2, 1)
    (expected,) = grad(y, x, v, retain_graph=True)
    for each in (edge, GradientEdge(*edge[:2])):
        assert torch.equal(grad(each, x, v, retain_graph=True)[0], expected)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        grad(edge, x, torch.ones(3))
    with pytest.raises(RuntimeError, match="give the cotangent"):
        grad(GradientEdge(*edge[:2]), x)


class Pair(Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> Any:
        return x * 1, x.reshape(2, 1) * 3

    @staticmethod
    def backward(ctx: Any, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a + 3 * b.reshape(1, 2)


def test_an_edge_of_a_freed_graph_is_refused() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    y.sum().backward()
    edge = GradientEdge(y.grad_fn, 0)
    with pytest.raises(RuntimeError, match="a second time"):
        torch.autograd.backward(edge, torch.ones(2))
