"""`no_grad` stops gradients, never tangents."""

import pytest

import gradcli as torch
from gradcli import func
from gradcli.autograd import Function

X, V = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 0.5, -1.0])


def in_block(x):
    with torch.no_grad():
        y = x * x
    return y * x


def in_decorated(x):
    @torch.no_grad()
    def square(x):
        return x * x

    return square(x) * x


def switched_off(x):
    torch.set_grad_enabled(False)
    try:
        return x * x * x
    finally:
        torch.set_grad_enabled(True)


def in_switched_off(x):
    with torch.autograd.set_grad_enabled(False):
        y = x * x
    return y * x


def in_both(x):
    with torch.autograd.no_grad(), torch.enable_grad():
        y = x * x
    return y * x


FUNCTIONS = [in_block, in_decorated, switched_off, in_switched_off, in_both]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_no_grad_stops_no_tangent(f):
    want = (3 * X**2 * V).tolist()
    assert func.jvp(f, (X,), (V,))[1].tolist() == want
    assert func.linearize(f, X)[1](V).tolist() == want
    assert (func.jacfwd(f)(X) @ V).tolist() == want
    with torch.no_grad():
        assert func.jvp(f, (X,), (V,))[1].tolist() == want
    assert torch.is_grad_enabled()


def test_no_grad_stops_no_tangent_of_a_tangent():
    second = func.jacfwd(func.jacfwd(lambda x: in_block(x).sum()))(X)
    assert second.diagonal().tolist() == (6 * X).tolist()


def test_what_is_detached_has_no_tangent():
    tangent = func.jvp(lambda x: x.detach() * x, (X,), (V,))[1]
    assert tangent.tolist() == (X * V).tolist()


def test_no_grad_stops_gradients_in_every_other_transform():
    want = (X * X).tolist()
    assert func.grad(lambda x: in_block(x).sum())(X).tolist() == want
    assert func.vjp(in_block, X)[1](torch.ones(3))[0].tolist() == want
    assert func.jacrev(in_block)(X).diagonal().tolist() == want
    x = X.clone().requires_grad_()
    in_block(x).sum().backward()
    assert x.grad.tolist() == want


def test_a_function_with_its_own_tangent_is_still_one_node():
    class Square(Function):
        @staticmethod
        def forward(x):
            with torch.no_grad():
                return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_forward(*inputs)

        @staticmethod
        def jvp(ctx, t):
            return 7 * t

    assert func.jvp(Square.apply, (X,), (V,))[1].tolist() == (7 * V).tolist()
