"""Products with Jacobians and Hessians agree with the matrices, in every mode."""

from __future__ import annotations

from typing import Any

import pytest

import gradcli as torch
from gradcli.autograd import grad
from gradcli.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp
from gradcli.large import blocks


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
