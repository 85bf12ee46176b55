"""`gradcheck` passes what is right, and fails and explains what is not."""

from __future__ import annotations

from typing import Any

import pytest

import gradcli as torch
from gradcli.autograd import Function, GradcheckError, gradcheck, gradgradcheck
from gradcli.autograd.checks import differentiable

from .functions import backward_of, leaf


def with_backward(forward: Any, rule: Any) -> Any:
    """A function with a hand-written gradient, given as plain functions of x."""
    return backward_of(forward)(lambda ctx, *g: rule(*ctx.saved_tensors, *g)).apply


@pytest.mark.parametrize(
    "function",
    [torch.tanh, torch.exp, lambda x: x.sum(), lambda x: (x[0] * x, x.prod()),
     lambda x: torch.ones(3, dtype=torch.float64), lambda x: x.long(),
     lambda x: x.outer(x).reshape(-1)],
)  # fmt: skip
def test_right_gradients_pass_in_all_modes(function: Any) -> None:
    x = leaf(0.5, -1.5)
    assert gradcheck(function, x, check_forward_ad=True)
    if any(y.requires_grad for y in differentiable(function(x))):
        assert gradgradcheck(function, (x,), check_fwd_over_rev=True)


def test_a_check_with_nothing_to_check_is_refused() -> None:
    x = leaf(0.5, -1.5)
    with pytest.raises(AssertionError, match="no mode is to be compared"):
        gradcheck(torch.sin, x, check_backward_ad=False)
    with pytest.raises(AssertionError, match="no mode is to be compared"):
        gradgradcheck(torch.sin, x, check_rev_over_rev=False)
    for function in (torch.Tensor.detach, torch.ones_like, torch.argmax):
        with pytest.raises(ValueError, match="no gradient to check"):
            gradgradcheck(function, x)


def test_a_mistake_is_named_with_entry_and_both_values() -> None:
    def rule(x: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
        return 2 * x * g * torch.tensor([1.0, 1.5])

    with pytest.raises(GradcheckError) as caught:
        gradcheck(with_backward(lambda x: x * x, rule), leaf(1.0, 3.0))
    text = str(caught.value)
    assert text.startswith("Jacobian mismatch for output 0 with respect to input 0,\n")
    assert "output entry [1] by input entry [1]" in text
    assert "numerical 6" in text
    assert "analytical 9" in text
    assert "differing by 3" in text


@pytest.mark.parametrize(
    ("function", "below", "above"),
    [(torch.abs, "-1", "1"), (torch.relu, "0", "1"),
     (lambda x: torch.maximum(x, -2 * x), "-2", "1"),
     (lambda x: (x**2).sqrt(), "-1", "1")],
)  # fmt: skip
def test_a_kink_does_not_pass(function: Any, below: str, above: str) -> None:
    with pytest.raises(GradcheckError) as caught:
        gradcheck(function, leaf(1.0, 0.0))
    text = str(caught.value)
    assert f"its slope is {below} below and {above} above" in text
    assert "[1]" in text


@pytest.mark.parametrize(
    "function",
    [torch.abs, torch.relu, lambda x: (1e4 * x) ** 2 / 1e6, lambda x: x * 1e9,
     lambda x: (300 * x).tanh(), lambda x: x.abs() * x],
)  # fmt: skip
@pytest.mark.parametrize("at", [0.01, -0.02, 3.0])
def test_curvature_and_rounding_are_no_kinks(function: Any, at: float) -> None:
    assert gradcheck(function, leaf(at), atol=1e-4)


def test_tolerances_are_absolute_plus_relative_to_the_quotient() -> None:
    wrong = with_backward(lambda x: x * 100, lambda x, g: g * 101)
    assert not gradcheck(wrong, leaf(1.0), atol=0.1, rtol=0.008, raise_exception=False)
    assert gradcheck(wrong, leaf(1.0), atol=0.2, rtol=0.0081)


def test_second_order_mistakes_are_caught() -> None:
    detached = with_backward(lambda x: x * x, lambda x, g: 2 * x.detach() * g)
    x = leaf(1.5)
    assert gradcheck(detached, x)
    with pytest.raises(GradcheckError, match="with respect to input 0"):
        gradgradcheck(detached, x)


def test_a_backward_that_gives_other_numbers_each_time_is_caught() -> None:
    drawn = with_backward(
        lambda x: x * 2, lambda x, g: g * 2 + torch.randn(1).double() * 1e-9
    )
    with pytest.raises(GradcheckError, match="Backward is not reentrant"):
        gradcheck(drawn, leaf(1.0))
    assert gradcheck(drawn, leaf(1.0), nondet_tol=1e-6)


def pair_with(rule: Any) -> Any:
    """Two outputs, ``2 x`` and ``3 x``, whose missing cotangents are None."""

    class Pair(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, a: Any, b: Any) -> torch.Tensor:
            return rule(a, b)

    return Pair.apply


def test_a_rule_that_takes_one_cotangent_for_both_is_caught() -> None:
    def rule(a: Any, b: Any) -> Any:
        if a is not None and b is not None:
            return a * 2 + b * 5
        return a * 2 if b is None else b * 3

    with pytest.raises(GradcheckError, match="other gradients than with zeros"):
        gradcheck(pair_with(rule), leaf(1.0))
    assert gradcheck(pair_with(rule), leaf(1.0), check_undefined_grad=False)


@pytest.mark.parametrize(
    "function",
    [lambda x: 1e4 * x**2, lambda x: x.cosh() * 1e6, lambda x: (50 * x).cos()],
)
def test_a_sharp_bend_is_no_kink(function: Any) -> None:
    assert gradcheck(function, leaf(0.0))
    assert gradcheck(lambda x: function(x - 3.0), leaf(3.0), atol=1e-3)


def test_rounding_of_a_large_value_is_no_kink() -> None:
    points = torch.linspace(-1, 1, 60, dtype=torch.float64).requires_grad_()
    assert gradcheck(lambda x: x.sin() + 1e7, points, atol=1e-2)


def test_what_cannot_be_checked_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one input tensor to require grad"):
        gradcheck(torch.sin, torch.ones(1))
    with pytest.raises(TypeError, match="returns tensors, this one returned int"):
        gradcheck(lambda x: 5, leaf(1.0))


def test_a_jvp_may_free_what_forward_left_on_ctx() -> None:
    class Grown(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.grown = torch.exp(x)
            return ctx.grown

        @staticmethod
        def jvp(ctx: Any, t: torch.Tensor) -> torch.Tensor:
            pushed = ctx.grown * t
            del ctx.grown
            return pushed

    x = leaf(0.5, 1.5)
    assert gradcheck(Grown.apply, (x,), check_forward_ad=True, check_backward_ad=False)


def test_a_backward_may_write_into_what_it_allocates() -> None:
    def into(x: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
        assert not torch.is_grad_enabled()
        return torch.empty_like(g).copy_(g).mul_(x)

    half_square = with_backward(lambda x: x * x / 2, into)
    x = leaf(0.5, 1.5)
    assert gradcheck(half_square, (x,))
    verdict = torch.autograd.verify(half_square, (x,), double_backward=False)
    assert verdict.verdict in ("certified", "proved"), verdict
    (rows,) = torch.autograd.functional.jacobian(half_square, (x,))
    assert rows.tolist() == [[0.5, 0.0], [0.0, 1.5]]
