"""Custom functions: one node each, whatever they compute inside."""

from __future__ import annotations

import gc
import weakref
from typing import Any, ClassVar

import pytest

import gradcli as torch
from gradcli.autograd import Function, grad
from gradcli.autograd.functional import hessian, hvp, jvp

from .functions import backward_of, leaf


@backward_of(lambda x: x**3)
def Cube(ctx: Any, g: torch.Tensor) -> torch.Tensor:
    (x,) = ctx.saved_tensors
    return 3 * x**2 * g


class Exp(Function):
    """Saves its output."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
        (y,) = ctx.saved_tensors
        return g * y


@backward_of(lambda x: (x[:2] * 2, x[2:] * 3))
def Halves(ctx: Any, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Two outputs."""
    return torch.cat([a * 2, b * 3])


def test_orders_of_derivative_go_through_the_rule() -> None:
    x = leaf(2.0)
    y = Cube.apply(x)
    found = []
    for _ in range(3):
        (y,) = grad(y.sum(), x, create_graph=True)
        found.append(y.item())
    assert found == [12, 12, 6]


def test_a_saved_output_does_not_keep_its_node_alive() -> None:
    node = weakref.ref(Exp.apply(leaf(1.0)).grad_fn)
    gc.disable()
    try:
        assert node() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("function", [Cube, Exp])
def test_forward_mode_transposes_backward_where_there_is_no_jvp(function: Any) -> None:
    x, t = leaf(0.5, 1.5).detach(), torch.tensor([1.0, -2.0], dtype=torch.float64)
    y, tangent = jvp(function.apply, x, t)
    reference = (lambda x: x**3) if function is Cube else torch.exp
    assert torch.equal(y, reference(x))
    assert torch.allclose(tangent, jvp(reference, x, t)[1], rtol=1e-15)


def test_forward_mode_transposes_several_outputs() -> None:
    x = torch.arange(4.0)
    _, (a, b) = jvp(Halves.apply, x, torch.ones(4))
    assert (a.tolist(), b.tolist()) == ([2, 2], [3, 3])


def test_forward_over_reverse_goes_through_a_custom_function() -> None:
    x = torch.tensor([1.0, 2.0])
    f = lambda x: Cube.apply(x).sum()
    assert hessian(f, x).tolist() == [[6, 0], [0, 12]]
    assert hvp(f, x, torch.ones(2))[1].tolist() == [6, 12]


def test_both_halves_are_differentiated_alone_and_together() -> None:
    x = leaf(1.0, 1.0, 1.0, 1.0)
    a, b = Halves.apply(x)
    assert [a.output_nr, b.output_nr] == [0, 1]
    assert a.grad_fn is b.grad_fn
    assert grad(a.sum(), x, retain_graph=True)[0].tolist() == [2, 2, 0, 0]
    assert grad(b.sum(), x, retain_graph=True)[0].tolist() == [0, 0, 3, 3]
    assert grad((a * b).sum(), x)[0].tolist() == [6, 6, 6, 6]


def test_a_context_keeps_attributes_of_any_name() -> None:
    names = ["edges", "saved", "y", "params", "xp", "shapes", "span", "op", "born"]

    class Named(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            for name in names:
                setattr(ctx, name, name)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
            assert [getattr(ctx, name) for name in names] == names
            return g * 2

    x = leaf(1.0)
    Named.apply(x).sum().backward()
    assert x.grad.tolist() == [2]


def test_a_rule_is_recorded_only_where_the_pass_is() -> None:
    modes = []

    class Seeing(Cube):
        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
            modes.append(torch.is_grad_enabled())
            return Cube.backward(ctx, g)

    x = leaf(1.0)
    grad(Seeing.apply(x).sum(), x)
    grad(Seeing.apply(x).sum(), x, create_graph=True)
    assert modes == [False, True]


def test_what_is_missing_is_named() -> None:
    class Forward(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    with pytest.raises(NotImplementedError, match="neither backward nor vjp"):
        Forward.apply(leaf(1.0)).sum().backward()
    with pytest.raises(NotImplementedError, match="no forward"):
        type("Empty", (Function,), {}).apply(leaf(1.0))


class Saving(Function):
    """Hands what it saved to a list."""

    seen: ClassVar[list[Any]] = []

    @staticmethod
    def forward(ctx: Any, x: Any, w: Any) -> Any:
        s = x * 2
        y = s * w
        ctx.save_for_backward(x, w, s, y)
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        Saving.seen.append(ctx.saved_tensors)
        return g * ctx.saved_tensors[1] * 2, None


def test_saved_tensors_are_the_same_objects_but_for_outputs() -> None:
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0).detach()
    y = Saving.apply(x, w)
    Saving.seen.clear()
    y.sum().backward(retain_graph=True)
    Saving.seen[0][1].requires_grad_(True)
    Saving.seen[0][2].requires_grad_(True).mark = 1
    y.sum().backward(retain_graph=True)
    first, second = Saving.seen
    assert [a is b for a, b in zip(first, second, strict=True)] == [True] * 3 + [False]
    assert (second[0] is x, second[1] is w, w.requires_grad) == (True, True, True)
    assert (second[2].mark, second[2].requires_grad, second[2].is_leaf) == (
        1,
        True,
        True,
    )
    assert second[3].grad_fn is y.grad_fn


def test_what_is_no_tensor_is_refused_only_where_it_would_be_saved() -> None:
    class Wrong(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x, 2)
            return x * 2

    assert Wrong.apply(leaf(1.0).detach()).tolist() == [2.0]
    with torch.no_grad():
        assert Wrong.apply(leaf(1.0)).tolist() == [2.0]
    with pytest.raises(
        TypeError, match="only save variables, but argument 1 is of type int"
    ):
        Wrong.apply(leaf(1.0))


def changed_base(y: Any) -> None:
    y[:1].mul_(2)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda y: y.add_(1), "Add"),
        (lambda y: y.add_(1).mul_(3), "Mul"),
        (changed_base, "torch::autograd::CopySlices"),
        (lambda y: y.detach().add_(1), "Exp"),
    ],
)
@pytest.mark.parametrize(
    "used", [lambda y: y**2, lambda y: Saving.apply(y, y.detach())]
)
def test_a_message_names_the_node_that_the_change_made(
    change: Any, name: str, used: Any
) -> None:
    y = leaf(1.0, 2.0).exp()
    w = used(y)
    change(y)
    del y
    with pytest.raises(
        RuntimeError, match=f"which is output 0 of {name}, is at version"
    ):
        w.sum().backward()


def test_helpers_of_a_function_may_have_any_name() -> None:
    class Own(Function):
        parameters = (2.0,)

        @staticmethod
        def _forward(x: Any) -> Any:
            return Own.parameters[0] * x

        @staticmethod
        def _bound(x: Any) -> Any:
            return Own._forward(x)

        @staticmethod
        def forward(x: Any) -> Any:
            return Own._bound(x)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 2.0 * g

    x = torch.tensor([1.5], requires_grad=True)
    Own.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0]
