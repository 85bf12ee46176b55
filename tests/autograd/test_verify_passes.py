"""What passes through one backward show: linearity, a second pass, other types, methods
that end at a tolerance."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import gradcli as torch
from gradcli.autograd import Function, gradcheck, verify

from .functions import backward_of, leaf

X = 0.3, -1.2, 2.1


def sine(of: Callable[[Any, Any], Any]) -> Any:
    """Return the sine as a Function whose backward gives ``of(g, x)``."""

    @backward_of(torch.sin)
    def Sine(ctx: Any, g: Any) -> Any:
        return of(g, *ctx.saved_tensors)

    return Sine


def proof_of(of: Callable[[Any, Any], Any], **options: Any) -> Any:
    return verify(sine(of), (leaf(*X),), prove=False, **options)


BENT: dict[str, Callable[[Any], Any]] = {
    "cube": lambda g: g**3 - g,
    "square": lambda g: g * g,
    "abs": torch.abs,
    "sign": torch.sign,
    "mean": lambda g: g * g.abs().mean(),
    "small": lambda g: torch.where(g.abs() < 1e-8, torch.zeros_like(g), g),
    "relu": torch.relu,
}


@pytest.mark.parametrize("size", [1e-1, 1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("kind", BENT)
def test_a_backward_that_is_not_linear_in_its_cotangent_is_refuted(
    kind: str, size: float
) -> None:
    proof = proof_of(lambda g, x: (g + size * BENT[kind](g)) * x.cos(), seconds=600)
    assert proof.verdict == "refuted"
    faults = {fault.kind: fault.text for fault in proof.faults}
    assert "is not linear" in faults["linearity"]
    assert " for input0[" in faults["linearity"]
    assert "at the size of" not in str(proof)


@pytest.mark.parametrize("most", [3.0, 1e4])
def test_a_clipped_cotangent_is_no_gradient(most: float) -> None:
    proof = proof_of(lambda g, x: g.clamp(-most, most) * x.cos(), seconds=600)
    assert [fault.kind for fault in proof.faults] == ["linearity"]


@pytest.mark.parametrize("factor", [1.5, 1.001, -1.0])
def test_what_is_wrong_in_float32_alone_is_refuted(factor: float) -> None:
    def of(g: Any, x: Any) -> Any:
        return g * x.cos() * (factor if x.dtype == torch.float32 else 1.0)

    proof = proof_of(of, seconds=600)
    assert proof.inputs[0].verdict == "certified"
    assert [fault.kind for fault in proof.faults] == ["float32"]
    assert proof.verdict == "refuted"


def test_what_does_not_run_in_float32_is_said() -> None:
    def of(g: Any, x: Any) -> Any:
        assert x.dtype == torch.float64, "of float64 alone"
        return g * x.cos()

    proof = proof_of(of)
    assert proof.verdict == "certified"
    assert "not verified in float32: AssertionError: of float64 alone" in str(proof)


@pytest.mark.parametrize(
    "of",
    [
        lambda g, x: g * x.cos().half().to(g.dtype),
        lambda g, x: (g.half() * x.half().cos()).to(g.dtype),
    ],
)
def test_fewer_than_six_digits_are_rounded(of: Any) -> None:
    proof = proof_of(of, double_backward=False)
    assert proof.verdict == "rounded"
    assert "3 correct digits: it was computed in float16" in str(proof)
    assert proof_of(lambda g, x: g * x.float().cos()).verdict == "certified"


def test_one_headline_says_both_orders() -> None:
    @backward_of(lambda x: x.sin())
    def Constant(ctx: Any, g: Any) -> Any:
        return g * ctx.saved_tensors[0].detach().cos()

    proof = verify(Constant, (leaf(*X),), prove=False)
    assert str(proof).splitlines()[0] == "Constant: certified, second order refuted"
    right = str(proof_of(lambda g, x: g * x.cos())).splitlines()
    assert right[0] == "Sine: certified"


class Keeping(Function):
    """Right once: what it saves keeps the gradient of each pass."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        s = x.clone()
        ctx.save_for_backward(x, s)
        return x * s.exp()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        _, s = ctx.saved_tensors
        with torch.enable_grad():
            s.requires_grad = True
            (s * s.exp()).backward(g)
        return s.grad


class Recomputing(Function):
    """Right: what forward computed is run again in backward."""

    @staticmethod
    def forward(ctx: Any, x: Any, w: Any) -> Any:
        m = x * 2
        ctx.save_for_backward(m, w)
        return m * w.exp()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        for t in ctx.saved_tensors:
            t.requires_grad_(True)
        m, w = ctx.saved_tensors
        with torch.enable_grad():
            by_m, by_w = torch.autograd.grad(m * w.exp(), (m, w), g)
        return by_m * 2, by_w


def test_a_second_pass_that_differs_is_said() -> None:
    x = leaf(0.0, 1.0)
    y = Keeping.apply(x).sum()
    found = [torch.autograd.grad(y, x, retain_graph=True)[0].tolist() for _ in range(3)]
    once = [1.0, 2 * math.e]
    assert found == [pytest.approx([k * n for n in once]) for k in (1, 2, 3)]
    proof = verify(Keeping, (leaf(*X),), prove=False)
    assert proof.verdict == "refuted"
    assert "a second pass through the same graph" in proof.faults[0].text
    assert not gradcheck(Keeping.apply, (leaf(*X),), raise_exception=False)


@pytest.mark.parametrize("size", [1.0, 1e-9])
def test_what_is_wrong_on_a_second_call_alone_is_said(size: float) -> None:
    @backward_of(torch.sin)
    def Counting(ctx: Any, g: Any) -> Any:
        ctx.calls = getattr(ctx, "calls", 0) + 1
        return g * ctx.saved_tensors[0].cos() * (1 + size * (ctx.calls > 1))

    proof = verify(Counting, (leaf(*X),), prove=False)
    assert proof.verdict == "refuted"
    assert "a second pass through the same graph" in proof.faults[0].text


def test_what_is_computed_again_from_saved_tensors_is_right() -> None:
    inputs = leaf(*X), leaf(0.1, 0.2, 0.3)
    proof = verify(Recomputing, inputs, prove=False, double_backward=False)
    assert proof.verdict == "certified"


class FixedPoint(Function):
    """z = tanh(w z + b), to a tolerance that hangs on what is asked for."""

    plain = False

    @staticmethod
    def solved(step: Any, z: Any, tol: float) -> Any:
        while True:
            last, z = z, step(z)
            gap = (z - last).abs().max()
            if (gap.item() if FixedPoint.plain else gap) < tol:
                return z

    @staticmethod
    def forward(ctx: Any, w: Any, b: Any) -> Any:
        z = FixedPoint.solved(lambda z: torch.tanh(w @ z + b), b * 0, 1e-13)
        ctx.save_for_backward(w, b, z)
        return z

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        w, _, z = ctx.saved_tensors
        d = 1 - z * z
        tol = 1e-10 if all(ctx.needs_input_grad) else 1e-8
        u = d * FixedPoint.solved(lambda u: g + w.t() @ (d * u), g, tol)
        return torch.outer(u, z), u


@pytest.mark.parametrize("plain", [False, True])
def test_a_tolerance_that_hangs_on_what_is_asked_for_refutes_nothing(
    plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FixedPoint, "plain", plain)
    w = torch.tensor([[0.2, 0.1], [0.3, -0.4]], dtype=torch.float64, requires_grad=True)
    proof = verify(
        FixedPoint, (w, leaf(0.2, 0.3)), prove=False, double_backward=False, seconds=600
    )
    assert proof.verdict == "sampled", proof
    assert not proof.faults
    notes = " ".join(str(each.note) for each in proof.inputs)
    assert "; off by " in notes
    assert "not 0." in notes or "not -0." in notes or "not 1." in notes


POWERS: list[Callable[[Any], Any]] = [
    lambda x: ((x * torch.tensor([1.0, 2.0, 3.0]) - 1) ** 2).sum(),
    lambda x: x ** torch.tensor([1.0, 2.0, 3.0]),
    lambda x: (x - 1) ** torch.tensor(3.0) + x.cos() ** 2,
]


@pytest.mark.parametrize("run", POWERS)
def test_a_whole_exponent_in_constant_data_asks_for_no_condition(run: Any) -> None:
    proof = verify(run, (leaf(*X),), seconds=600, double_backward=False)
    assert (proof.verdict, proof.conditions) == ("proved", ())


CONSTANT: list[Callable[[Any], Any]] = [
    lambda x: x * sum(torch.tensor([1.0, 2.0]).tolist()),
    lambda x: x * torch.tensor(2.5).item(),
    lambda x: x ** int(torch.tensor(2.0)),
    lambda x: x * (torch.tensor([1.0, 2.0]) / 3).sum().item(),
    lambda x: x * torch.tensor([1.0, 2.0]).long().sum(),
]


@pytest.mark.parametrize("run", CONSTANT)
def test_a_constant_may_leave_the_tensors(run: Any) -> None:
    proof = verify(run, (leaf(*X),), prove=False, double_backward=False)
    assert (proof.verdict, proof.inputs[0].witness) == ("certified", "balls")
