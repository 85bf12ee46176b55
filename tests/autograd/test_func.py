"""Transforms of functions nest in any order and leave no trace."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

import gradcli as torch
from gradcli import func
from gradcli.func import grad, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap


def scalar(value: float) -> torch.Tensor:
    return torch.tensor(value, dtype=torch.float64)


def vector(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def slope(f: Any) -> Any:
    """The derivative of a function of one number, by forward mode."""
    return lambda x: jvp(f, (x,), (torch.ones_like(x),))[1]


DERIVATIVES = {"grad": grad, "jacrev": jacrev, "jacfwd": jacfwd, "jvp": slope}


@pytest.mark.parametrize("names", list(product(DERIVATIVES, repeat=3)), ids="-".join)
def test_derivatives_nest_in_any_order(names: tuple[str, ...]) -> None:
    f = lambda x: (x**3).sin() * x
    for name in names:
        f = DERIVATIVES[name](f)
    g = lambda x: (x**3).sin() * x
    for _ in range(3):
        g = grad(g)
    assert f(scalar(0.7)).item() == pytest.approx(g(scalar(0.7)).item(), rel=1e-12)


@pytest.mark.parametrize(("outer", "inner"), list(product(DERIVATIVES, repeat=2)))
def test_an_inner_derivative_does_not_see_the_outer_variable(
    outer: str, inner: str
) -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return x * DERIVATIVES[inner](lambda y: x + y)(scalar(1.0))

    assert DERIVATIVES[outer](f)(scalar(1.0)).item() == 1


@pytest.mark.parametrize(("outer", "inner"), list(product(DERIVATIVES, repeat=2)))
def test_an_outer_derivative_sees_the_inner_result(outer: str, inner: str) -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return x * DERIVATIVES[inner](lambda y: x * x * y * y)(scalar(3.0))

    assert DERIVATIVES[outer](f)(scalar(2.0)).item() == 3 * 4 * 6


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


def test_arguments_may_be_nested() -> None:
    weights = {"a": vector(1.0, 2.0), "b": [scalar(3.0), (scalar(4.0),)]}

    def loss(weights: Any, x: torch.Tensor) -> torch.Tensor:
        a, (b, (c,)) = weights["a"], weights["b"]
        return (a * x).sum() * b * c

    found = grad(loss)(weights, vector(5.0, 6.0))
    assert found["a"].tolist() == [60, 72]
    assert found["b"][0].item() == 17 * 4
    assert found["b"][1][0].item() == 17 * 3


def test_outputs_may_be_nested() -> None:
    f = lambda x: {"square": x**2, "both": (x, x.sum())}
    for derive in (jacrev, jacfwd):
        blocks = derive(f)(vector(1.0, 3.0))
        assert blocks["square"].tolist() == [[2, 0], [0, 6]]
        assert blocks["both"][0].tolist() == [[1, 0], [0, 1]]
        assert blocks["both"][1].tolist() == [1, 1]


def test_argnums_choose_and_nest_the_result() -> None:
    f = lambda x, y: (x * x * y).sum()
    x, y = vector(1.0, 2.0), vector(3.0, 4.0)
    assert grad(f, argnums=-1)(x, y).tolist() == [1, 4]
    assert [g.tolist() for g in grad(f, argnums=(1, 0))(x, y)] == [[1, 4], [6, 16]]
    (xx, xy), (yx, yy) = hessian(f, argnums=(0, 1))(x, y)
    assert xx.tolist() == [[6, 0], [0, 8]]
    assert xy.tolist() == yx.tolist() == [[2, 0], [0, 4]]
    assert yy.tolist() == [[0, 0], [0, 0]]


def test_keyword_arguments_are_handed_on() -> None:
    assert grad(lambda x, *, k=1.0: (x * k).sum())(vector(1.0), k=5.0).tolist() == [5]


def test_aux_is_handed_back_without_a_trace() -> None:
    w = scalar(1.0).requires_grad_()
    f = lambda x: (x**2, {"twice": x * 2, "w": w})
    derivative, aux = grad(f, has_aux=True)(scalar(3.0))
    assert derivative.item() == 6
    assert not aux["twice"].requires_grad
    assert aux["w"] is w
    _, (value, aux) = func.grad_and_value(f, has_aux=True)(scalar(3.0))
    assert (value.item(), aux["twice"].item()) == (9, 6)
    assert jacrev(f, has_aux=True)(scalar(3.0))[1]["twice"].item() == 6
    assert vjp(f, scalar(3.0), has_aux=True)[2]["twice"].item() == 6
    assert jvp(f, (scalar(3.0),), (scalar(1.0),), has_aux=True)[2]["twice"].item() == 6


def test_a_pulled_back_function_may_be_called_again() -> None:
    (a, b), pull = vjp(lambda x, y: (x * y, x + y), vector(1.0, 2.0), vector(3.0, 4.0))
    assert (a.tolist(), b.tolist()) == ([3, 8], [4, 6])
    for k in (1.0, 2.0):
        by_x, by_y = pull((torch.ones(2) * k, torch.zeros(2)))
        assert (by_x.tolist(), by_y.tolist()) == ([3 * k, 4 * k], [k, 2 * k])


def test_a_pullback_can_be_differentiated_by_its_cotangent() -> None:
    _, pull = vjp(lambda x: x**2, vector(1.0, 2.0))
    rows = jacrev(lambda v: pull(v)[0])(vector(1.0, 1.0))
    assert rows.tolist() == [[2, 0], [0, 4]]


def test_a_linearized_function_is_the_jvp() -> None:
    x, t = vector(0.5, 1.5), vector(1.0, -1.0)
    value, push = linearize(torch.sin, x)
    assert torch.equal(value, x.sin())
    assert torch.equal(push(t), jvp(torch.sin, (x,), (t,))[1])


def test_jacobians_of_both_modes_and_of_the_functional_face_agree() -> None:
    f = lambda x: x.sin().outer(x.exp())
    x = vector(0.5, -1.0, 2.0)
    reverse, forward = jacrev(f)(x), jacfwd(f)(x)
    assert torch.allclose(reverse, forward, rtol=1e-13)
    assert torch.equal(reverse, torch.autograd.functional.jacobian(f, x))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: grad(lambda x: 5)(scalar(1.0)), RuntimeError, "return a Tensor, got"),
        (
            lambda: grad(torch.sin)(vector(1.0, 2.0)),
            RuntimeError,
            "got tensor with 1 d",
        ),
        (
            lambda: grad(lambda x: (x, 1, 2), has_aux=True)(scalar(1.0)),
            RuntimeError,
            "should be a tuple",
        ),
        (lambda: grad(torch.sin, argnums=1)(scalar(1.0)), RuntimeError, "Got argnum=1"),
        (lambda: grad(lambda x: x)(5), ValueError, "must be Tensor, got <class 'int'>"),
        (lambda: grad(torch.sum)(torch.tensor([1])), RuntimeError, "floating point"),
        (
            lambda: jvp(torch.sin, scalar(1.0), scalar(1.0)),
            RuntimeError,
            "to be a tuple",
        ),
        (
            lambda: jvp(torch.sin, (scalar(1.0),), (scalar(1.0), scalar(1.0))),
            RuntimeError,
            "same python structure",
        ),
        (
            lambda: jvp(torch.sin, (scalar(1.0),), (vector(1.0, 2.0),)),
            RuntimeError,
            "has a different size",
        ),
        (
            lambda: vjp(lambda x: (x, x), scalar(1.0))[1](scalar(1.0)),
            RuntimeError,
            "pytree structure of cotangents",
        ),
        (
            lambda: jacrev(lambda x: (x, 2))(scalar(1.0)),
            RuntimeError,
            "unsupported type",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    call: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()


def test_transforms_keep_the_functions_name() -> None:
    def loss(x: torch.Tensor) -> torch.Tensor:
        """How far off."""
        return x

    for derive in (grad, jacrev, jacfwd, vmap):
        assert derive(loss).__name__ == "loss"
        assert derive(loss).__doc__ == "How far off."
