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


def held(x):
    with torch.no_grad():
        c = (x * x).sum()
        assert not torch.is_grad_enabled()
    return c * (x * x).sum()


AT = torch.tensor([1.0, 2.0])

NESTS = {
    "hessian": (func.hessian(held), [[14, 8], [8, 26]]),
    "reverse of forward": (func.jacrev(func.jacfwd(held)), [[14, 8], [8, 26]]),
    "forward of forward": (func.jacfwd(func.jacfwd(held)), [[28, 16], [16, 52]]),
    "reverse of reverse": (func.jacrev(func.jacrev(held)), [[10, 0], [0, 10]]),
    "functional.hessian": (
        lambda x: torch.autograd.functional.hessian(
            held, x, vectorize=True, outer_jacobian_strategy="forward-mode"
        ),
        [[14, 8], [8, 26]],
    ),
    "functional.jacobian": (
        lambda x: torch.autograd.functional.jacobian(
            held, x, vectorize=True, strategy="forward-mode"
        ),
        [20, 40],
    ),
    "tangent of a gradient": (
        lambda x: func.jvp(func.grad(held), (x,), (torch.ones(2),))[1], [22, 34],
    ),
    "gradient of a tangent": (
        func.grad(lambda x: func.jvp(held, (x,), (torch.ones(2),))[1]), [22, 34],
    ),
}  # fmt: skip
"""Transforms within transforms, and what PyTorch gives at (1, 2)."""


@pytest.mark.parametrize("name", NESTS)
def test_no_grad_stops_the_gradients_alone_of_transforms_within_others(name):
    transform, want = NESTS[name]
    assert transform(AT).tolist() == want


def test_no_grad_stops_the_gradient_through_a_transform_that_pushes():
    x = AT.clone().requires_grad_()
    value, tangent = func.jvp(held, (x,), (torch.ones(2),))
    (value + tangent).backward()
    # 10 x of the value, and of its tangent as within the transforms above.
    assert x.grad.tolist() == [10 + 22, 20 + 34]


def test_the_tangent_of_a_function_of_its_own_is_held_as_well():
    class Square(Function):
        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, g):
            return 2 * ctx.saved_tensors[0] * g

        @staticmethod
        def jvp(ctx, t):
            return 2 * ctx.saved_tensors[0] * t

    def cube(x):
        with torch.no_grad():
            c = Square.apply(x)
        return (c * x * x).sum()

    want = (6 * AT**2).tolist()
    assert func.jacrev(func.jacfwd(cube))(AT).diagonal().tolist() == want
    assert func.hessian(cube)(AT).diagonal().tolist() == want
