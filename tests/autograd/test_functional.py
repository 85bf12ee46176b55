"""Products with Jacobians and Hessians agree with the matrices, in every mode."""

from __future__ import annotations

from typing import Any

import pytest

import gradcli as torch
from gradcli.autograd import blocks, grad
from gradcli.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp


def vector(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def matrix_valued(x: torch.Tensor) -> torch.Tensor:
    return x.sin().outer(x.exp())


def pair(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return (x[:, None] * y).tanh(), (x * x).sum() * y


def scalar(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (x.sin() * x).sum() * (y**3).sum() + x.sum() * y.prod()


X, Y = vector(0.5, -1.5), vector(1.0, 2.0, -0.5)


def close(a: Any, b: Any) -> bool:
    if isinstance(a, tuple):
        return all(close(p, q) for p, q in zip(a, b, strict=True))
    return torch.allclose(a, b, rtol=1e-12, atol=1e-14)


def test_a_block_has_the_outputs_shape_followed_by_the_inputs() -> None:
    blocks = jacobian(pair, (X, Y))
    shapes = [[tuple(block.shape) for block in row] for row in blocks]
    assert shapes == [[(2, 3, 2), (2, 3, 3)], [(3, 2), (3, 3)]]
    assert tuple(jacobian(matrix_valued, X).shape) == (2, 2, 2)


@pytest.mark.parametrize("vectorize", [False, True])
def test_both_strategies_give_the_same_jacobian(vectorize: bool) -> None:
    modes = ["reverse-mode", "forward-mode"]
    a, b = [jacobian(pair, (X, Y), vectorize=vectorize, strategy=m) for m in modes]
    assert close(a, b)
    a, b = [hessian(scalar, (X, Y), outer_jacobian_strategy=m) for m in modes]
    assert close(a, b)


def test_products_are_products_with_the_matrix() -> None:
    v, u = vector(2.0, -1.0), torch.arange(4.0, dtype=torch.float64).reshape(2, 2)
    block = jacobian(matrix_valued, X)
    assert close(jvp(matrix_valued, X, v)[1], block @ v)
    assert close(vjp(matrix_valued, X, u)[1], torch.tensordot(u, block, 2))
    second = hessian(lambda x: scalar(x, Y), X)
    assert close(hvp(lambda x: scalar(x, Y), X, v)[1], second @ v)
    assert close(vhp(lambda x: scalar(x, Y), X, v)[1], v @ second)


def test_products_of_several_inputs_add_up() -> None:
    v = (vector(2.0, -1.0), vector(1.0, 0.0, 3.0))
    rows = hessian(scalar, (X, Y))
    expected = tuple(
        sum(block @ t for block, t in zip(row, v, strict=True)) for row in rows
    )
    assert close(hvp(scalar, (X, Y), v)[1], expected)
    assert close(vhp(scalar, (X, Y), v)[1], expected)


def test_a_hessian_is_the_jacobian_of_the_gradient() -> None:
    def gradient(x: torch.Tensor) -> torch.Tensor:
        return jacobian(lambda x: scalar(x, Y), x, create_graph=True)

    assert close(hessian(lambda x: scalar(x, Y), X), jacobian(gradient, X))


def test_values_come_with_products() -> None:
    value, _ = vhp(scalar, (X, Y), (X, Y))
    assert close(value, scalar(X, Y))
    outputs, _ = jvp(pair, (X, Y), (X, Y))
    assert close(outputs, pair(X, Y))


def test_results_are_recorded_only_if_asked() -> None:
    x = vector(1.0, 2.0).requires_grad_()
    cube = lambda x: x**3
    assert not jacobian(cube, x).requires_grad
    assert not vjp(cube, x, x.detach())[0].requires_grad
    recorded = [
        jacobian(cube, x, create_graph=True).sum(),
        vjp(cube, x, torch.ones(2).double(), create_graph=True)[1].sum(),
        jvp(cube, x, torch.ones(2).double(), create_graph=True)[1].sum(),
    ]
    for total in recorded:
        assert grad(total, x)[0].tolist() == [6, 12]
    third = [
        hessian(lambda x: cube(x).sum(), x, create_graph=True).sum(),
        hvp(lambda x: cube(x).sum(), x, torch.ones(2).double(), create_graph=True)[1],
        vhp(lambda x: cube(x).sum(), x, torch.ones(2).double(), create_graph=True)[1],
    ]
    for total in third:
        assert grad(total.sum(), x)[0].tolist() == [6, 6]


def test_leaves_outside_are_left_alone() -> None:
    w = torch.tensor(2.0, requires_grad=True)
    x = torch.ones(2, requires_grad=True)
    y = x * w
    jacobian(lambda x: x * y, x)
    hessian(lambda x: (x * y).sum() ** 2, x)
    assert w.grad is None
    assert x.grad is None
    y.sum().backward()
    assert w.grad.item() == 2


def test_an_output_that_depends_on_nothing_has_zeros() -> None:
    ones = lambda x: torch.ones(3).double()
    assert jacobian(ones, X).tolist() == [[0, 0]] * 3
    assert jvp(ones, X, X)[1].tolist() == [0, 0, 0]
    assert vjp(ones, X, Y)[1].tolist() == [0, 0]
    assert hessian(lambda x: x.sum(), X).tolist() == [[0, 0], [0, 0]]


def test_empty_inputs_have_empty_blocks() -> None:
    empty = torch.ones(0)
    assert tuple(jacobian(lambda x: x * 2, empty).shape) == (0, 0)
    assert tuple(jacobian(lambda x: x.sum(), empty).shape) == (0,)


STRICT = {
    "does not require gradients": lambda: jacobian(
        lambda x: torch.ones(2), X, strict=True
    ),
    "Output 0 .* independent of input 1": lambda: jacobian(
        lambda x, y: x * 2, (X, Y), strict=True
    ),
    "jacobian .* independent of input 0": lambda: jacobian(
        lambda x: x * 2, X, strict=True, create_graph=True
    ),
    "While computing the hessian": lambda: hessian(lambda x: x.sum(), X, strict=True),
    "The output .* independent of input 1": lambda: vjp(
        lambda x, y: x * 2, (X, Y), X, strict=True
    ),
    "The output of .* independent of input 1\\.": lambda: jvp(
        lambda x, y: x * 2, (X, Y), (X, Y), strict=True
    ),
    "found that the jacobian": lambda: hvp(lambda x: x.sum(), X, X, strict=True),
}


@pytest.mark.parametrize("message", STRICT)
def test_strict_refuses_independence(message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        STRICT[message]()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: jacobian(lambda x: 5, X),
            TypeError,
            "given to jacobian must be either",
        ),
        (
            lambda: jacobian(lambda x: x, [1]),
            TypeError,
            "inputs has type <class 'list'>",
        ),
        (
            lambda: jacobian(lambda x: (x, 2), X),
            TypeError,
            "the value at index 1 has type",
        ),
        (lambda: hessian(lambda x: (x, x), X), RuntimeError, "return a single Tensor"),
        (lambda: hessian(lambda x: x, X), RuntimeError, "contain a single element"),
        (lambda: vjp(torch.exp, X), RuntimeError, "returns a single Tensor"),
        (lambda: jvp(torch.exp, X), RuntimeError, "v can only be None if the input"),
        (lambda: vjp(torch.exp, X, Y), RuntimeError, "v has invalid size: should be"),
        (lambda: vjp(torch.exp, X, (X, X)), RuntimeError, "contain a single Tensor"),
        (lambda: jvp(pair, (X, Y), (X,)), RuntimeError, "invalid length: should be 2"),
        (lambda: jvp(pair, (X, Y), (X, X)), RuntimeError, "Entry 1 in v has invalid"),
        (lambda: jacobian(torch.exp, X, strategy="?"), AssertionError, "strategy"),
        (
            lambda: jacobian(torch.exp, torch.tensor([1])),
            RuntimeError,
            "floating point",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    call: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()


def one(x: torch.Tensor) -> list[torch.Tensor]:
    return [x.sin() * x]


def views(x: torch.Tensor) -> list[torch.Tensor]:
    a, b = x.unbind()
    return [a * x, b]


def changed(x: torch.Tensor) -> list[torch.Tensor]:
    y = x * 2
    y[0] *= x[1]
    return [y]


def watched(f: Any, hook: Any, at: str) -> tuple[list[Any], torch.Tensor]:
    """A function's values and its input, looked at in one place."""
    x = vector(0.5, -1.5).requires_grad_()
    inner = x.exp()
    outputs = f(inner)
    place = {"output": outputs[0], "inside": inner, "input": x, "aside": inner.cos()}
    seen = outputs[0].grad_fn if at == "node" else place[at]
    seen.register_hook(hook)
    return outputs, x


def passes(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """A list that grows by one with every reverse pass."""
    made: list[Any] = []
    pull = blocks.pull
    monkeypatch.setattr(blocks, "pull", lambda *a: made.append(a) or pull(*a))
    return made


PLACES = ["output", "node", "inside", "input"]


@pytest.mark.parametrize("at", PLACES)
@pytest.mark.parametrize("f", [one, views, changed])
def test_a_hook_sees_every_row_of_a_jacobian_and_changes_it(
    f: Any, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    outputs, x = watched(f, lambda *gs: seen.append(gs), at)
    made = passes(monkeypatch)
    looked = blocks.blocks_of(outputs, [x])
    rows = sum(y.numel() for y in outputs)
    behind = outputs[0].numel() if at in ("output", "node") else rows
    assert (len(made), len(seen)) == (rows, behind)
    alone = x.detach().requires_grad_()
    batched = blocks.blocks_of(f(alone.exp()), [alone])
    assert len(made) == rows
    assert close(tuple(r[0] for r in looked), tuple(r[0] for r in batched))
    if at == "input":
        outputs, x = watched(f, lambda g: g * 10, at)
        tenfold = blocks.blocks_of(outputs, [x])
        assert close(tuple(r[0] for r in tenfold), tuple(10 * r[0] for r in batched))


@pytest.mark.parametrize("end", ["aside", "removed", "forward", "beyond"])
def test_hooks_that_see_no_row_leave_a_jacobian_in_one_pass(
    end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    x = vector(0.5, -1.5).requires_grad_()
    inner = x.exp()
    y = inner.sin() * inner
    place = inner.cos() if end == "aside" else x if end == "beyond" else inner
    handle = place.register_hook(seen.append)
    if end == "removed":
        handle.remove()
    made = passes(monkeypatch)
    by = inner if end == "beyond" else x
    ((found,),) = blocks.blocks_of([y], [by], forward=end == "forward")
    assert (made, seen) == ([], [])
    rows = [
        grad([y], [by], [unit], retain_graph=True)[0] for unit in torch.eye(2).double()
    ]
    assert close(found, torch.stack(rows))
