"""Custom functions: one node each, whatever they compute inside."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import gradcli as torch
from gradcli.autograd import Function, grad
from gradcli.autograd.functional import hessian, hvp, jvp
from gradcli.autograd.graph import saved_tensors_hooks


class Cube(Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
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


class Halves(Function):
    """Two outputs."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x[:2] * 2, x[2:] * 3

    @staticmethod
    def backward(ctx: Any, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.cat([a * 2, b * 3])


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def test_orders_of_derivative_go_through_the_rule() -> None:
    x = leaf(2.0)
    y = Cube.apply(x)
    found = []
    for _ in range(3):
        (y,) = grad(y.sum(), x, create_graph=True)
        found.append(y.item())
    assert found == [12, 12, 6]


def test_a_saved_output_carries_its_graph() -> None:
    x = leaf(0.5)
    (first,) = grad(Exp.apply(x).sum(), x, create_graph=True)
    (second,) = grad(first.sum(), x, create_graph=True)
    assert second.item() == pytest.approx(x.exp().item(), rel=1e-15)


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


def test_a_gradient_is_summed_back_to_a_broadcast_argument() -> None:
    class Add(Function):
        @staticmethod
        def forward(ctx: Any, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return a + b

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return g, g

    a, b = torch.ones(2, 3, requires_grad=True), torch.ones(3, requires_grad=True)
    Add.apply(a, b).sum().backward()
    assert a.grad.shape == (2, 3)
    assert b.grad.tolist() == [2, 2, 2]


def test_a_gradient_takes_its_arguments_dtype() -> None:
    class Double(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x.double() * 2

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
            assert g.dtype == torch.float64
            return g * 2

    x = torch.ones(2, requires_grad=True)
    Double.apply(x).sum().backward()
    assert x.grad.dtype == torch.float32


def test_a_returned_argument_is_another_tensor_on_its_memory() -> None:
    class Same(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
            return g * 2

    x = leaf(1.0, 2.0)
    y = Same.apply(x)
    assert y is not x
    assert x.is_leaf
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_an_argument_marked_dirty_is_rebased() -> None:
    class Grow(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            x.add_(1)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
            return g * 5

    x = leaf(1.0, 2.0)
    y = x * 1
    assert Grow.apply(y) is y
    assert y.tolist() == [2, 3]
    y.sum().backward()
    assert x.grad.tolist() == [5, 5]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        Grow.apply(leaf(1.0))


def test_a_saved_tensor_that_was_changed_in_place_is_refused() -> None:
    x = leaf(1.0, 2.0)
    y = x * 1
    z = Cube.apply(y)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_saved_tensors_are_freed_and_retained_as_any_node_s() -> None:
    y = Cube.apply(leaf(1.0))
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="a second time"):
        y.sum().backward()
    with pytest.raises(RuntimeError, match="a second time"):
        _ = y.grad_fn.saved_tensors


def test_hooks_on_saved_tensors_see_a_custom_function_s() -> None:
    x = leaf(1.0, 2.0)
    with saved_tensors_hooks(lambda t: t.detach(), lambda t: t * 10):
        y = Cube.apply(x)
    y.sum().backward()
    assert x.grad.tolist() == [300, 1200]


def test_without_a_leaf_nothing_is_recorded() -> None:
    assert Cube.apply(torch.ones(2)).grad_fn is None
    with torch.no_grad():
        assert Cube.apply(leaf(1.0)).grad_fn is None


def test_what_is_no_tensor_passes_through() -> None:
    class Mixed(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor, n: int) -> tuple[Any, ...]:
            return x * n, n, x.argmax()

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor, *rest: Any) -> tuple[Any, None]:
            assert rest[0] is None
            return g * 3, None

    x = leaf(1.0, 2.0)
    y, number, index = Mixed.apply(x, 3)
    assert (number, index.item(), index.requires_grad) == (3, 1, False)
    y.sum().backward()
    assert x.grad.tolist() == [3, 3]


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


def returning(value: Any) -> type[Function]:
    class Odd(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor, n: float = 1.0) -> torch.Tensor:
            return x * n

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> Any:
            return value

    return Odd


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ((torch.ones(2), torch.ones(2)), "gradient different than None at position 2"),
        ((torch.ones(2),), "expected 2, got 1"),
        ((torch.ones(2), None, torch.ones(1)), "expected 2, got 3"),
        ((5.0, None), "expected Variable or None \\(got float\\)"),
        (
            (torch.ones(3), None),
            "got .3. but expected shape compatible with .2.",
        ),
    ],
)
def test_what_backward_returns_is_checked(value: Any, message: str) -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=message):
        returning(value).apply(x, 2.0).sum().backward()


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


def test_more_nones_than_arguments_are_taken() -> None:
    x = torch.ones(2, requires_grad=True)
    returning((torch.ones(2), None, None)).apply(x, 2.0).sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_what_is_missing_is_named() -> None:
    class Forward(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    with pytest.raises(NotImplementedError, match="backward or vjp"):
        Forward.apply(leaf(1.0)).sum().backward()
    with pytest.raises(NotImplementedError, match="forward function"):
        type("Empty", (Function,), {}).apply(leaf(1.0))
    with pytest.raises(TypeError, match="can only save variables, but argument 1"):
        torch.autograd.function.FunctionCtx().save_for_backward(leaf(1.0), 5)


def test_subclasses_have_nodes_of_their_own_names() -> None:
    class Square(Cube):
        pass

    assert Square.apply(leaf(1.0)).grad_fn.name() == "SquareBackward"
    assert Cube.apply(leaf(1.0)).grad_fn.name() == "CubeBackward"


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
