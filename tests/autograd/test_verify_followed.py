"""`verify` on code as people write it: what is followed, and by which witness."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradcli as torch
from gradcli.autograd import Function, verify
from gradcli.functions.function_proof import FunctionProof

from .functions import backward_of, leaf

X = (1.3, -2.2, 0.4)


def proof_of(forward: Any, backward: Any, x: Any = None) -> FunctionProof:
    function = backward_of(forward)(backward)
    return verify(function, (leaf(*X) if x is None else x,), prove=False)


def twice(ctx: Any, g: Any) -> Any:
    (x,) = ctx.saved_tensors
    return 2 * x * g


def on_device(x: Any) -> Any:
    half = torch.tensor(0.5, device=x.device, dtype=x.dtype)
    ones = torch.ones(x.shape, device=x.device, dtype=x.dtype)
    return x * x * ones.to(x.device) + (half - 0.5) * x.cpu()


def by_positions(x: Any) -> Any:
    out = torch.zeros_like(x)
    for at in ((x > 0).nonzero()[:, 0], (x <= 0).nonzero(as_tuple=True)[0]):
        out[at] = x[at] ** 2
    return out


@pytest.mark.parametrize(
    "forward",
    [on_device, by_positions, lambda x: x[x.nonzero()[:, 0]] ** 2,
     lambda x: x * x * torch.Tensor([1.0]).type_as(x),
     lambda x: x * x * x.new([1.0, 1.0, 1.0]), lambda x: torch.DoubleTensor(x) * x],
)  # fmt: skip
def test_devices_types_and_positions_are_followed(forward: Any) -> None:
    assert proof_of(forward, twice).verdict == "certified"


def test_svd_in_forward_is_followed() -> None:
    class Nuclear(Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            u, s, v = torch.svd(a)
            ctx.save_for_backward(u, v)
            return s.sum()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            u, v = ctx.saved_tensors
            return g * u @ v.t()

    draws = np.random.default_rng(0)
    a = torch.tensor(draws.standard_normal((4, 3)), requires_grad=True)
    assert verify(Nuclear, (a,), prove=False).verdict == "certified"


def test_saved_variables_are_the_saved_tensors() -> None:
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_variables
        return 2 * x * g

    with pytest.warns(DeprecationWarning, match="use 'saved_tensors'"):
        assert proof_of(lambda x: x * x, backward).verdict == "certified"


def test_a_name_that_is_lacking_is_unknown_and_named() -> None:
    def sparse(ctx: Any, g: Any) -> Any:
        return torch.sparse_coo_tensor(g)  # type: ignore[attr-defined]

    proof = proof_of(lambda x: x * x, sparse)
    assert proof.verdict == "unknown"
    assert "gradcli has no torch.sparse_coo_tensor" in str(proof.inputs[0].note)
    assert "test_verify_followed.py:" in str(proof.inputs[0].note)
    assert not proof.faults
    proof = proof_of(lambda x: x.stft(3), twice)
    assert "forward asks for more: gradcli has no" in str(proof.inputs[0].note)
    named = proof_of(lambda x: x * x, lambda ctx, g: torch.relu(g, fast=True))
    assert "relu() has no parameter 'fast'" in str(named.inputs[0].note)
    of_node = proof_of(lambda x: x * x, lambda ctx, g: g * len(ctx.metadata))
    assert of_node.verdict == "unknown"


def test_a_name_that_nobody_gave_is_the_users_mistake() -> None:
    proof = proof_of(lambda x: x * x, lambda ctx, g: g * ctx.factor)
    assert proof.verdict == "refuted"
    assert "no attribute 'factor'" in proof.faults[0].text


def squared(x: Any) -> Any:
    return torch.from_numpy(np.square(x.detach().numpy()))


def test_what_leaves_the_tensors_is_held_against_differences() -> None:
    proof = proof_of(squared, twice)
    (found,) = proof.inputs
    assert (proof.verdict, found.witness) == ("sampled", "differences")
    assert "tolerance 1e-06" in str(found.note)
    assert proof.second is None


def test_a_gradient_far_from_both_differences_is_refuted() -> None:
    proof = proof_of(squared, lambda ctx, g: ctx.saved_tensors[0] * g)
    (found,) = proof.inputs
    assert (proof.verdict, found.witness) == ("refuted", "differences")
    assert found.counterexample is not None
    assert found.counterexample.true == pytest.approx(2 * found.counterexample.given)


def test_a_gradient_that_is_nearly_right_is_not_condemned_by_differences() -> None:
    near = proof_of(squared, lambda ctx, g: 2.00002 * ctx.saved_tensors[0] * g)
    assert near.verdict == "unknown"
    assert "difference quotients" in str(near.inputs[0].note)


def test_differences_that_do_not_agree_show_nothing() -> None:
    def stepped(x: Any) -> Any:
        return torch.from_numpy(np.floor(x.detach().numpy() * 3e4))

    proof = proof_of(stepped, lambda ctx, g: 3e4 * g)
    assert proof.verdict == "unknown"
    assert "from each other" in str(proof.inputs[0].note)


def test_a_kink_has_no_difference_to_agree_with() -> None:
    def clipped(x: Any) -> Any:
        return torch.from_numpy(np.maximum(x.detach().numpy(), 0))

    def backward(ctx: Any, g: Any) -> Any:
        return g * (ctx.saved_tensors[0] > 0).to(g.dtype)

    assert proof_of(clipped, backward).verdict == "sampled"
    proof = proof_of(clipped, backward, leaf(0.0, 1.0))
    assert proof.verdict == "unknown"
    assert "kink" in str(proof.inputs[0].note)


def test_a_number_outside_of_a_function_is_a_constant_and_not_condemned() -> None:
    plain = verify(lambda x: x * x.sum().item(), leaf(*X), prove=False)
    assert plain.verdict == "unknown"
    counted = verify(lambda x: x ** int(abs(x[1]).item()), leaf(*X), prove=False)
    assert counted.verdict == "sampled"


def test_many_entries_are_drawn_for_differences() -> None:
    x = torch.linspace(0.1, 3, 3000, dtype=torch.float64).requires_grad_()
    proof = proof_of(squared, twice, x)
    assert proof.verdict == "sampled"
    assert "for 128 of 3000 entries" in str(proof.inputs[0].note)


def test_a_gradient_of_nothing_but_zeros_agrees_with_differences() -> None:
    def saturated(x: Any) -> Any:
        return torch.tensor(np.clip(x.detach().numpy(), -1, 1)) + 0 * x

    proof = proof_of(saturated, lambda ctx, g: 0 * g, leaf(1.7, -2.2, 3.1))
    assert proof.verdict == "sampled"


def test_a_difference_at_the_size_of_a_tolerance_is_named() -> None:
    def by_newton(x: Any) -> Any:
        return x.sqrt()

    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g / (2 * x.sqrt() + 1e-9)

    proof = proof_of(by_newton, backward, leaf(1.3, 2.2))
    assert proof.verdict == "sampled"
    assert "at the size of 1e-09 in backward (test_verify_followed.py" in str(proof)

    def without(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g / (2.000000002 * x.sqrt())

    assert proof_of(by_newton, without, leaf(1.3, 2.2)).verdict == "refuted"

    def coarse(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g / (2 * x.sqrt() + 1e-5)

    proof = proof_of(by_newton, coarse, leaf(1.3, 2.2))
    assert proof.verdict == "refuted"
    assert "at the size of 1e-05 in coarse" in str(proof)


def test_a_guard_is_found_in_a_function_that_the_code_reaches_only_by_running() -> None:
    def backward(ctx: Any, g: Any) -> Any:
        return g / (2 * ctx.saved_tensors[0].sqrt() + 1e-9)

    held = {"root": backward_of(torch.sqrt)(backward)}
    proof = verify(lambda x: held["root"].apply(x), (leaf(1.3, 2.2),))
    assert proof.verdict == "sampled"
    assert "at the size of 1e-09 in backward" in str(proof)


EPS = 1e-8


def of_saved(rule: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda ctx, g: rule(ctx.saved_tensors[0], g)


@pytest.mark.parametrize(
    ("forward", "rule"),
    [
        (lambda x: (x * x + 1e-8).sqrt(),
         lambda x, g: g * x / (x**2 + 1e-8).sqrt() * 1.0000001),
        (lambda x: (x + EPS).log(), lambda x, g: g * (1 + 1e-7) / (x + EPS)),
        (lambda x: x.sin() + 1e-7 * x, lambda x, g: g * x.cos()),
        (lambda x: x.exp() + 1e-7 * x * x, lambda x, g: g * x.exp()),
        (lambda x: (x + 1e-7).log(), lambda x, g: g / x),
        (lambda x: (x + 1e-7).log(), lambda x, g: g / (x - 1e-7)),
        (lambda x: (x + 1e-6).log(), lambda x, g: g / (x + 1e-8)),
        (lambda x: (x + 1e-8).log(), lambda x, g: g / (x + 1e-7)),
        (lambda x: (x * x + 1e-7).sqrt(),
         lambda x, g: g * x / (x * x + 1e-7**2).sqrt()),
        (lambda x: x.clamp(min=1e-7) ** 2, lambda x, g: g * 2 * x * 0.9999999),
        (lambda x: x * x, lambda x, g: g * 2 * x + 1e-7 * x),
        (lambda x: x**3 + 1e-12, lambda x, g: g * 3 * x**2.0000001),
    ],
)  # fmt: skip
def test_a_number_excuses_only_what_moves_with_it(
    forward: Callable[[Any], Any], rule: Callable[[Any, Any], Any]
) -> None:
    proof = proof_of(forward, of_saved(rule), leaf(0.7, 1.3, 2.1))
    assert proof.verdict == "refuted"


def test_literals_that_are_rounded_are_named() -> None:
    def gelu(x: Any) -> Any:
        return x * 0.5 * (1 + (0.79788456 * x * (1 + 0.044715 * x * x)).tanh())

    def slope(x: Any, g: Any) -> Any:
        t = (0.79788456 * x * (1 + 0.044715 * x * x)).tanh()
        inner = 0.79788456 + 0.1070322243 * x * x
        return g * (0.5 * x * (1 - t * t) * inner + 0.5 * (1 + t))

    proof = proof_of(gelu, of_saved(slope), leaf(0.7, -1.3, 2.1))
    assert proof.verdict == "sampled"
    assert "the rounding of" in str(proof)

    def further(x: Any, g: Any) -> Any:
        t = (0.79788456 * x * (1 + 0.044715 * x * x)).tanh()
        inner = 0.79788456 + 0.1070322343 * x * x
        return g * (0.5 * x * (1 - t * t) * inner + 0.5 * (1 + t))

    assert proof_of(gelu, of_saved(further), leaf(0.7, 2.1)).verdict == "refuted"


def test_code_is_as_it_was_after_numbers_in_it_were_tried() -> None:
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g / (2 * x.sqrt() + 1e-9 + EPS)

    before = backward.__code__
    proof_of(lambda x: x.sqrt(), backward, leaf(1.3, 2.2))
    assert backward.__code__ is before
    assert EPS == 1e-8


class Slope(Function):
    """Right once, wrong twice: the slope is a constant to the graph."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.slope = 2 * x
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * ctx.slope


def test_the_verdict_is_that_of_the_gradient() -> None:
    proof = verify(Slope, (leaf(*X),), prove=False)
    assert (proof.verdict, bool(proof)) == ("certified", True)
    assert proof.second is not None
    assert proof.second.verdict == "refuted"
    assert "computed in forward" in str(proof.second.reason)
    assert "  second order: refuted" in str(proof).splitlines()


def test_the_second_order_counts_where_it_is_asked_for() -> None:
    assert not verify(Slope, (leaf(*X),), prove=False, order=2)
    right = backward_of(lambda x: x * x)(twice)
    assert verify(right, (leaf(*X),), prove=False, order=2, at_least="certified")
    with pytest.raises(ValueError, match="order: 2 is not examined"):
        verify(right, (leaf(*X),), order=2, double_backward=False)


def test_a_backward_that_changes_its_own_gradient_is_told_so() -> None:
    class Kept(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.grad = 2 * x
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return ctx.grad.mul_(g)

    proof = verify(Kept, (leaf(*X),), prove=False)
    assert proof.verdict == "refuted"
    assert proof.mistake is not None
    assert proof.mistake.cause == "in-place"


def test_a_kink_in_a_loops_end_is_none_of_the_functions() -> None:
    def root(x: Any) -> Any:
        y = x.clone()
        while True:
            z = y - (y**3 - x) / (3 * y * y)
            if (z - y).abs().max() < 1e-10:
                return z
            y = z

    def backward(ctx: Any, g: Any) -> Any:
        return g / (3 * root(ctx.saved_tensors[0]) ** 2)

    proof = proof_of(root, backward, leaf(1.3, 0.4, 1.9))
    assert proof.verdict in ("certified", "sampled")
    # Steps of 1e-10 are below what float32 can tell.
    assert any("in float32: it takes over 8 times" in each for each in proof.remarks)
