"""What keeps its place in the graph: tensors of tensors, views, changed types."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

import gradcli as torch
from gradcli.autograd import Function
from gradcli.nn import functional as F
from gradcli.utils.data import RandomSampler


@pytest.mark.parametrize("make", [torch.Tensor, torch.FloatTensor, torch.ones(1).new])
def test_a_tensor_of_a_tensor_is_a_view_of_it(make: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = make(x)
    assert y.grad_fn.name() == "AliasBackward0"
    assert y.data_ptr() == x.data_ptr()
    (y * y).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 4.0]


def test_a_typed_constructor_refuses_another_type() -> None:
    with pytest.raises(TypeError, match=r"expected a tensor of torch\.float32"):
        torch.FloatTensor(torch.ones(2, dtype=torch.float64))


def test_a_backward_of_another_type_stays_in_the_graph() -> None:
    class Square(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return (x * x).float()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 2 * ctx.saved_tensors[0].float() * g

    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad(Square.apply(x).sum(), x, create_graph=True)
    assert g.grad_fn is not None
    assert g.grad_fn.name() == "ToCopyBackward0"
    ((g**2).sum() + x.sum()).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [9.0, 17.0]


VIEWS: list[Any] = [
    lambda a: a.t(), lambda a: a.view(6), lambda a: a[0], lambda a: a.unbind()[0],
    lambda a: a.T.T, lambda a: a.expand(2, 3, 2),
]  # fmt: skip


@pytest.mark.parametrize("view", VIEWS)
def test_an_unrecorded_view_asks_for_a_gradient_as_its_base_does(view: Any) -> None:
    x = torch.ones(3, 2, requires_grad=True)
    for base in (x, x * 2):
        with torch.no_grad():
            seen = view(base)
        assert (seen.requires_grad, seen.is_leaf, seen.grad_fn) == (True, True, None)
        with torch.no_grad():
            assert not (base * 2).requires_grad
            assert not view(base.detach()).requires_grad


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda y: F.leaky_relu_(y), "LeakyReluBackward1"),
        (lambda y: F.elu(y, inplace=True), "EluBackward1"),
        (lambda y: torch.nn.SELU(True)(y), "EluBackward1"),
        (lambda y: F.celu_(y), "CeluBackward1"),
        (lambda y: F.threshold_(y, 0.1, 0.2), "ThresholdBackward1"),
        (lambda y: F.rrelu_(y), "RreluWithNoiseBackward1"),
        (lambda y: F.relu_(y), "ReluBackward0"),
    ],
)
def test_an_activation_in_place_has_its_own_node(change: Any, name: str) -> None:
    x = torch.tensor([-1.0, 0.5], requires_grad=True)
    assert change(x * 1).grad_fn.name() == name


def test_positions_are_drawn_as_they_are_asked_for() -> None:
    torch.manual_seed(3)
    few = list(RandomSampler(range(9), replacement=True, num_samples=70))
    torch.manual_seed(3)
    many = RandomSampler(range(9), replacement=True, num_samples=int(1e10))
    assert list(islice(many, 64)) == few[:64]
