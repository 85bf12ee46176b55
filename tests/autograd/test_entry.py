"""`backward` and `grad`: what is reached, what is freed, and what is refused."""

from __future__ import annotations

import gradcli as torch
from gradcli.autograd import grad
from gradcli.autograd.graph import Node


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def test_hooks_beyond_the_inputs_are_not_called() -> None:
    x = leaf(1.0, 2.0)
    seen = []
    y = x * 3
    y.register_hook(lambda g: seen.append("y"))
    x.register_hook(lambda g: seen.append("x"))
    grad((y * y).sum(), y)
    assert seen == ["y"]


def test_an_input_may_be_an_ancestor_of_another() -> None:
    x = leaf(1.0, 2.0)
    y = x * x
    z = y * 3
    gz, gy, gx = grad(z.sum(), (z, y, x))
    assert gz.tolist() == [1, 1]
    assert gy.tolist() == [3, 3]
    assert gx.tolist() == [6, 12]


def test_nodes_and_leaves_ends_are_nodes() -> None:
    x = leaf(2.0)
    y = x * x
    assert isinstance(y.grad_fn, Node)
    assert isinstance(y.grad_fn.next_functions[0][0], Node)
    assert not isinstance(x, Node)
