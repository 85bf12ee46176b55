"""Transforms of functions nest in any order and leave no trace."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

import gradcli as torch
from gradcli.func import grad, jacfwd, jacrev, jvp, vjp, vmap


def scalar(value: float) -> torch.Tensor:
    return torch.tensor(value, dtype=torch.float64)


def vector(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def slope(f: Any) -> Any:
    """The derivative of a function of one number, by forward mode."""
    return lambda x: jvp(f, (x,), (torch.ones_like(x),))[1]


DERIVATIVES = {"grad": grad, "jacrev": jacrev, "jacfwd": jacfwd, "jvp": slope}


@pytest.mark.parametrize(("outer", "inner"), list(product(DERIVATIVES, repeat=2)))
def test_an_inner_derivative_does_not_see_the_outer_variable(
    outer: str, inner: str
) -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return x * DERIVATIVES[inner](lambda y: x + y)(scalar(1.0))

    assert DERIVATIVES[outer](f)(scalar(1.0)).item() == 1


@pytest.mark.parametrize("name", DERIVATIVES)
def test_a_result_is_recorded_exactly_by_what_comes_from_outside(name: str) -> None:
    derive = DERIVATIVES[name]
    x, w = scalar(2.0), scalar(3.0).requires_grad_()
    assert not derive(lambda x: x**2)(x).requires_grad
    recorded = derive(lambda x: w * w * x**2)(x)
    assert torch.autograd.grad(recorded, w)[0].item() == 2 * 3 * 4
    tracked = scalar(2.0).requires_grad_()
    again = derive(lambda x: x**3)(tracked)
    assert torch.autograd.grad(again, tracked)[0].item() == 12
    assert tracked.grad is None
    with torch.no_grad():
        assert not derive(lambda x: w * x**2)(tracked).requires_grad


def test_a_finished_inner_transform_leaves_no_trace() -> None:
    f = lambda x: grad(lambda y: x * y * y)(scalar(3.0)) * x
    found = grad(f)(scalar(2.0))
    assert (found.item(), found.requires_grad) == (24, False)


def test_no_grad_inside_is_respected_and_outside_ignored() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            constant = x**2
        return x - constant

    assert grad(f)(scalar(3.0)).item() == 1
    with torch.no_grad():
        assert grad(lambda x: x**2)(scalar(3.0)).item() == 6


def test_a_pullback_can_be_differentiated_by_its_cotangent() -> None:
    _, pull = vjp(lambda x: x**2, vector(1.0, 2.0))
    rows = jacrev(lambda v: pull(v)[0])(vector(1.0, 1.0))
    assert rows.tolist() == [[2, 0], [0, 4]]


def test_transforms_keep_the_functions_name() -> None:
    def loss(x: torch.Tensor) -> torch.Tensor:
        """How far off."""
        return x

    for derive in (grad, jacrev, jacfwd, vmap):
        assert derive(loss).__name__ == "loss"
        assert derive(loss).__doc__ == "How far off."
