"""`vmap` gives what a loop over the samples gives."""

from __future__ import annotations

from typing import Any

import pytest

import gradcli as torch
from gradcli.autograd.nested import flatten
from gradcli.func import vmap


def numbers(*shape: int) -> torch.Tensor:
    torch.manual_seed(0)
    return torch.randn(*shape)


def test_a_map_is_differentiable() -> None:
    x = numbers(4, 3).requires_grad_()
    vmap(lambda v: (v**2).sum())(x).sum().backward()
    assert torch.equal(x.grad, 2 * x.detach())


def test_an_empty_batch_has_empty_outputs_of_the_right_shape() -> None:
    f = lambda v: (v.outer(v), v.sum())
    a, b = vmap(f)(torch.ones(0, 3))
    assert (tuple(a.shape), tuple(b.shape)) == ((0, 3, 3), (0,))
    assert tuple(vmap(lambda v: v, out_dims=1)(torch.ones(0, 3)).shape) == (3, 0)
    assert tuple(vmap(lambda v: v, in_dims=-1)(torch.ones(3, 2, 0)).shape) == (0, 3, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: vmap(torch.dot)(x, torch.ones(3, 2)), "got sizes .2, 3."),
        (lambda x: vmap(lambda a: a, in_dims=(None,))(x), "not all of them None"),
        (lambda x: vmap(lambda a: a, in_dims=(0, 0))(x), "in_dims=.* not compatible"),
        (lambda x: vmap(lambda a: a, in_dims=2)(x), "no dimension of a tensor of 2"),
        (lambda x: vmap(lambda a: a, in_dims=(0.5,))(x), "in_dim=0.5 is no dimension"),
        (lambda x: vmap(lambda a: a)(5), "no dimension of <class 'int'>"),
        (lambda x: vmap(lambda a: 5)(x), "must only return Tensors, got type"),
        (lambda x: vmap(lambda a: (a, a), out_dims=(0,))(x), "out_dims=.* not compat"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(torch.ones(2, 2))


@pytest.mark.parametrize(
    "value", [1, (), [], {}, (1,), [1, [2, (3,)]], {"a": 1, "b": {"c": [2]}}]
)
def test_a_nested_value_is_its_leaves_and_its_shape(value: Any) -> None:
    leaves, shape = flatten(value)
    assert shape.fill(leaves) == value
    assert shape.count() == len(leaves)
    assert type(shape.fill(leaves)) is type(value)


def test_named_tuples_stay_what_they_are() -> None:
    found = torch.tensor([[3.0, 1.0]]).sort(1)
    leaves, shape = flatten(found)
    again = shape.fill(leaves)
    assert type(again) is type(found)
    assert again.values is found.values
