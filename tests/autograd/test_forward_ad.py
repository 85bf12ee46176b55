"""Tangents carried beside the program."""

from __future__ import annotations

from typing import Any

import pytest

import gradcli as torch
from gradcli.autograd import Function, forward_ad, grad
from gradcli.autograd.forward_ad import dual_level, make_dual, unpack_dual


def test_tangents_follow_whether_or_not_a_graph_is_recorded() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    with dual_level():
        dual = make_dual(x, torch.tensor(1.0))
        with torch.no_grad():
            quiet = unpack_dual(dual * dual)
        loud = unpack_dual(dual * dual)
        plain = make_dual(torch.tensor(2.0), torch.tensor(1.0)) ** 2
        assert not plain.requires_grad
    assert quiet.tangent.item() == loud.tangent.item() == 4
    assert not quiet.tangent.requires_grad
    assert loud.tangent.requires_grad


def test_a_recorded_tangent_is_differentiable() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with dual_level():
        dual = make_dual(x, torch.tensor([1.0, 1.0]))
        tangent = unpack_dual((dual**3).sum()).tangent
    assert grad(tangent, x)[0].tolist() == [6, 12]


def test_a_tangent_that_requires_a_gradient_is_differentiable_too() -> None:
    t = torch.tensor(3.0, requires_grad=True)
    with dual_level():
        dual = make_dual(torch.tensor(2.0), t)
        tangent = unpack_dual(dual * dual * dual).tangent
    assert grad(tangent, t)[0].item() == 12


def test_outputs_of_one_operation_have_a_tangent_each() -> None:
    with dual_level():
        dual = make_dual(torch.tensor([3.0, 1.0, 2.0]), torch.tensor([1.0, 2.0, 3.0]))
        values, order = dual.sort()
        assert unpack_dual(values).tangent.tolist() == [2, 3, 1]
        assert unpack_dual(order).tangent is None
        assert unpack_dual(dual.split(2)[0]).tangent.tolist() == [1, 2]


def test_constants_and_detached_values_have_none() -> None:
    with dual_level():
        dual = make_dual(torch.ones(2), torch.ones(2))
        assert unpack_dual(dual.detach()).tangent is None
        assert unpack_dual(torch.ones(2) * 2).tangent is None
        assert unpack_dual(dual > 0).tangent is None


def test_closing_the_level_drops_tangents() -> None:
    with dual_level():
        dual = make_dual(torch.ones(2), torch.ones(2))
    assert unpack_dual(dual).tangent is None
    with dual_level():
        assert unpack_dual(dual).tangent is None
        assert unpack_dual(dual * 2).tangent is None
    assert not forward_ad.MODE.on_call


def test_a_tangent_is_shown_while_its_level_is_open() -> None:
    with dual_level():
        y = make_dual(torch.ones(2), torch.tensor([1.0, 5.0])) * 3
        assert repr(y) == "tensor([3., 3.], tangent=tensor([ 3., 15.]))"
    assert repr(y) == "tensor([3., 3.])"


def test_a_primal_has_no_tangent_of_its_own() -> None:
    with dual_level():
        primal, _ = unpack_dual(make_dual(torch.ones(2), torch.ones(2)))
        assert unpack_dual(primal).tangent is None


def test_what_is_written_in_place_carries_its_tangent() -> None:
    with dual_level():
        y = make_dual(torch.ones(2), torch.tensor([1.0, 2.0])) * 1
        y *= y
        assert unpack_dual(y).tangent.tolist() == [2, 4]
        part = y[1:]
        part.mul_(5)
        assert unpack_dual(y).tangent.tolist() == [2, 20]
        base = torch.zeros(2, 2)
        base[1] = y
        assert unpack_dual(base).tangent.tolist() == [[0, 0], [2, 20]]
        assert unpack_dual(base.zero_()).tangent.tolist() == [[0, 0], [0, 0]]


class Scaled(Function):
    """With a rule for forward mode."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, k: float) -> torch.Tensor:
        ctx.k = k
        return x * k

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> tuple[torch.Tensor, None]:
        return g * ctx.k, None

    @staticmethod
    def jvp(ctx: Any, t: torch.Tensor, _: None) -> torch.Tensor:
        return t * ctx.k * 10  # not the derivative, to see who is asked


def test_a_custom_function_is_asked_for_its_own_rule() -> None:
    with dual_level():
        dual = make_dual(torch.ones(2), torch.ones(2))
        y = Scaled.apply(dual, 3.0)
        assert unpack_dual(y).tangent.tolist() == [30, 30]
        assert not y.requires_grad


def test_a_custom_function_without_a_rule_is_transposed() -> None:
    class Doubled(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
            return g * 2

    with dual_level():
        dual = make_dual(torch.ones(2), torch.tensor([1.0, 5.0]))
        assert unpack_dual(Doubled.apply(dual)).tangent.tolist() == [2, 10]


def test_what_makes_no_sense_is_refused() -> None:
    ones = torch.ones(2)
    with pytest.raises(RuntimeError, match="no level exists"):
        make_dual(ones, ones)
    with pytest.raises(RuntimeError, match="not the last one"):
        forward_ad.exit_dual_level()
    with dual_level():
        with pytest.raises(RuntimeError, match="Nested forward mode AD"), dual_level():
            pass
        with pytest.raises(RuntimeError, match="different size"):
            make_dual(ones, torch.ones(3))
        with pytest.raises(ValueError, match="Expected primal to be floating point"):
            make_dual(torch.tensor([1, 2]), ones)
