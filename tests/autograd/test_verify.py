"""`gradcli.autograd.verify` and `gradcli.testing.assert_gradient`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gradcli as torch
from gradcli import nn
from gradcli.autograd import Function, GradcheckError, verify
from gradcli.testing import assert_gradient

from .functions import backward_of, leaf


def verdict(function: Any, *inputs: Any, **options: Any) -> str:
    return verify(function, inputs, prove=False, **options).verdict


class Square(Function):
    """Wrong by the factor 2."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * x


class SquareRoot(Function):
    """Leaves the tensors backward; right."""

    factor = 1.0

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return torch.sqrt(x)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        slope = SquareRoot.factor * 0.5 / np.sqrt(x.detach().numpy())
        return torch.from_numpy(g.numpy() * slope)


def test_an_assertion_names_entry_values_and_mistake() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_gradient(Square, leaf(3.0), prove=False)
    text = str(caught.value)
    assert "d output[0] / d x[0]: backward gave 3.0, the true value is 6.0" in text
    assert "lacks the factor 2" in text
    assert isinstance(caught.value, GradcheckError)


def test_what_is_weaker_than_asked_for_does_not_pass() -> None:
    def kinked(x: torch.Tensor) -> torch.Tensor:
        return x.abs()

    assert verify(kinked, leaf(0.0), prove=False)
    with pytest.raises(AssertionError, match="asked for: certified"):
        assert_gradient(kinked, leaf(0.0), prove=False)
    with pytest.raises(ValueError, match="no verdict 'sure'"):
        verify(kinked, leaf(1.0), at_least="sure")


def test_a_kink_is_no_gradient_though_the_difference_agrees() -> None:
    proof = verify(lambda x: x.abs(), leaf(0.0, 1.0), prove=False)
    assert proof.verdict == "unknown"
    assert "abs has no derivative at 0" in str(proof.inputs[0].note)


CACHE: list[torch.Tensor] = []


def keeping(x: torch.Tensor) -> torch.Tensor:
    """Keeps what the first run computed, with its graph."""
    CACHE.append(x.sum())
    return x * CACHE[0]


OUTER = torch.zeros(2, dtype=torch.float64)


def into_outer(x: torch.Tensor) -> torch.Tensor:
    OUTER[0] = x[0]
    return OUTER * 1


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: x * x.sum().item(), "a number leaves the tensors"),
        (lambda x: x * math.exp(float(x[0])), "a number leaves the tensors"),
        (lambda x: sum(x * i for i in range(int(x.sum()))), "a number leaves"),
        (lambda x: torch.tensor([x[0], x[1]]) * x, "a number leaves the tensors"),
        (lambda x: x * torch.from_numpy(np.exp(x.detach().numpy())), "numpy() leaves"),
        (lambda x: x * x.long(), "cast to int64"),
        (lambda x: x * np.random.default_rng().normal(), "other values when it is run"),
        (keeping, "other gradients when it is run again"),
        (lambda x: x.detach() * 2, "no output depends on an input"),
    ],
)  # fmt: skip
def test_what_has_no_meaning_on_balls_is_unknown_with_its_place(
    function: Any, reason: str
) -> None:
    proof = verify(function, leaf(1.0, 2.0), prove=False)
    (found,) = proof.inputs
    assert proof.verdict == "unknown"
    assert reason in str(found.note)
    if "balls" in str(found.note):
        assert "test_verify.py:" in str(found.note)


def test_what_changes_a_tensor_made_elsewhere_is_held_against_differences() -> None:
    proof = verify(into_outer, leaf(1.0, 2.0), prove=False)
    assert (proof.verdict, proof.inputs[0].witness) == ("sampled", "differences")
    assert "made elsewhere is changed in place" in str(proof.inputs[0].note)


def test_random_numbers_are_the_same_in_each_run_and_the_generator_is_kept() -> None:
    before = torch.get_rng_state()
    x = leaf(*[1.0] * 8)
    assert verdict(lambda x: x * torch.randn(8, dtype=x.dtype), x) == "certified"
    assert verdict(lambda x: nn.functional.dropout(x, 0.5) * x, x) == "certified"
    assert torch.equal(torch.get_rng_state(), before)


def test_what_is_detached_is_held_constant_and_said_to_be() -> None:
    proof = verify(lambda x: x * x.detach(), leaf(1.0, 2.0), prove=False)
    assert proof.verdict == "certified"
    assert "held constant" in proof.remarks[0]


def test_a_backward_in_numpy_is_judged_by_its_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert verdict(SquareRoot, leaf(1.0, 2.0)) == "certified"
    monkeypatch.setattr(SquareRoot, "factor", 2.0)
    proof = verify(SquareRoot, leaf(1.0, 2.0), prove=False)
    assert proof.verdict == "refuted"
    assert "does not run on balls" in str(proof.inputs[0].note)


def test_a_wrong_function_inside_a_module_is_found() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            return Square.apply(self.linear(x)).sum(1)

    proof = verify(Net().double(), torch.ones(1, 2, dtype=torch.float64), prove=False)
    assert proof.verdict == "refuted"
    assert proof.mistake is not None
    assert proof.mistake.cause == "factor"
    assert "in Square.backward, the gradient by x lacks the factor 2" in str(proof)


def test_float32_is_judged_as_float32() -> None:
    x = torch.tensor([0.3, 0.7], requires_grad=True)
    proof = verify(lambda x: torch.tanh(x) * 3, x, prove=False)
    assert proof.verdict == "certified"
    error = proof.inputs[0].max_error
    assert error is not None
    assert 1e-12 < error < 1e-5


def test_many_entries_are_looked_at_by_one_contraction() -> None:
    proof = verify(lambda x: (x * x).sum(), torch.linspace(
        -1, 1, 2500, dtype=torch.float64, requires_grad=True), prove=False)  # fmt: skip
    assert proof.verdict in ("certified", "sampled")
    assert "2500 entries" in proof.remarks[0]


def test_a_straight_through_estimate_is_told_as_one() -> None:
    @backward_of(lambda x: x.round())
    def Round(ctx: Any, g: Any) -> Any:
        return g

    proof = verify(Round, leaf(1.3, 2.2), prove=False)
    assert proof.verdict == "refuted"
    assert proof.mistake is not None
    assert proof.mistake.cause == "straight-through"


def test_a_backward_that_spoils_what_was_saved_is_refuted() -> None:
    class Spoils(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.x = x.clone()
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.x.mul_(2)

    proof = verify(Spoils, leaf(1.3, 2.2), prove=False)
    assert proof.verdict == "refuted"
    assert proof.mistake is not None
    assert proof.mistake.cause == "in-place"


def test_once_differentiable_is_no_fault() -> None:
    @backward_of(lambda x: x**3)
    @torch.autograd.function.once_differentiable
    def Cube(ctx: Any, g: Any) -> Any:
        return 3 * g * ctx.saved_tensors[0] ** 2

    proof = verify(Cube, leaf(1.3), prove=False)
    assert proof.verdict == "certified"
    assert "no gradient of the gradient" in proof.remarks[0]


def test_a_backward_that_raises_is_refuted() -> None:
    @backward_of(lambda x, y: x + y)
    def Few(ctx: Any, g: Any) -> Any:
        return g

    proof = verify(Few, (leaf(1.0), leaf(2.0)), prove=False)
    assert proof.verdict == "refuted"
    assert "incorrect number of gradients" in proof.faults[0].text


def test_no_input_that_requires_a_gradient_is_an_error() -> None:
    with pytest.raises(ValueError, match="requires_grad=True"):
        verify(torch.sin, torch.ones(2))


@backward_of(lambda x: torch.empty_like(x).copy_(x).mul_(x))
def Almost(ctx: Any, g: Any) -> Any:
    """Wrong by a billionth."""
    (x,) = ctx.saved_tensors
    return g * 2 * x * (1 + ctx.needs_input_grad[0] * 1e-9)


def test_no_mistake_is_named_for_a_difference_finer_than_mistakes_are_told_by() -> None:
    proof = verify(Almost.apply, (leaf(0.7, -1.3),), prove=False)
    assert (proof.verdict, proof.mistake) == ("refuted", None)


class Normalised(Function):
    """Right, with a factor 1/n that Python rounds; terms of its gradient cancel."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        m = x.mean()
        r = (x - m).pow(2).mean().rsqrt()
        ctx.save_for_backward(x, m, r)
        return (x - m) * r

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, m, r = ctx.saved_tensors
        k, y = 1 / x.numel(), (x - m) * r
        return r * (g - k * g.sum() - k * y * (g * y).sum())


@pytest.mark.parametrize("seed", range(6))
def test_rounding_of_a_number_that_python_computed_refutes_nothing(seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=3).round(1)
    found = verify(Normalised.apply, (leaf(*values),), double_backward=False)
    assert found.verdict in ("proved", "certified", "rounded")


class Logarithm(Function):
    """Right up to a number that keeps the quotient finite."""

    small = 1e-15

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.log()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        small = Logarithm.small or torch.finfo(x.dtype).eps
        return g * x / (x * x + small)


@pytest.mark.parametrize(
    ("small", "said"), [(0.0, "small = 2.22045e-16"), (1e-15, "small = 1e-15")]
)
def test_a_number_at_the_size_of_rounding_explains_an_error(
    small: float, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Logarithm, "small", small)
    proof = verify(Logarithm.apply, (leaf(0.3, 2.0),), prove=False)
    assert proof.verdict == "sampled"
    assert said in str(proof)
    assert torch.finfo(torch.float64).eps == np.finfo(float).eps


@backward_of(lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2))))
def Gelu(ctx: Any, g: Any) -> Any:
    """Right; far from 0 its derivative moves far with the float of a square root."""
    (x,) = ctx.saved_tensors
    bell = torch.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return g * (0.5 * (1 + torch.erf(x / math.sqrt(2))) + x * bell)


@backward_of(lambda x: x * x.numel() ** -0.5)
def Scaled(ctx: Any, g: Any) -> Any:
    """Wrong by the factor 1/sqrt(3), a number that Python rounds."""
    return g


def test_a_wrong_gradient_beside_a_number_that_python_rounded_is_refuted() -> None:
    (found,) = verify(Scaled.apply, (leaf(0.3, 1.0, 2.0),), prove=False).inputs
    assert (found.verdict, found.witness) == ("refuted", "balls")


@pytest.mark.parametrize("x", [-30.0, -9.0, -0.7517915246935645, 1.0, 9.0, 12.0])
def test_a_root_that_python_rounded_in_forward_refutes_nothing(x: float) -> None:
    proof = verify(Gelu.apply, (leaf(x),), prove=False)
    assert proof.second is not None
    assert {proof.verdict, proof.second.verdict} <= {"certified", "rounded"}
