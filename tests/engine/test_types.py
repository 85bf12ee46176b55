"""Number types: PyTorch's rules for what meets what, over all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradcli

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peers


def test_a_default_type_of_doubles_is_followed_everywhere() -> None:
    gradcli.set_default_dtype(gradcli.float64)
    try:
        made = (gradcli.tensor(1.5), gradcli.ones(1), gradcli.randn(1),
                gradcli.arange(2) / 2, gradcli.arange(3.0))  # fmt: skip
        assert {x.dtype for x in made} == {gradcli.float64}
    finally:
        gradcli.set_default_dtype(gradcli.float32)
    with pytest.raises(TypeError, match="floating-point"):
        gradcli.set_default_dtype(gradcli.int64)


MIXED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "sums of products and of doubles": lambda m, x, w: (
        (x @ w).sum() + (w.double() ** 2).sum()
    ),
    "a product of both": lambda m, x, w: ((x @ w) * w.double()).sum(),
    "a scalar beside a matrix": lambda m, x, w: ((x @ w) * x.double().sum()).sum(),
    "joined": lambda m, x, w: (m.cat([x @ w, x.double()]) ** 2).sum(),
    "one of two": lambda m, x, w: m.where(m.tensor(True), x @ w, w.double()).sum(),
    "written to": lambda m, x, w: w.double().mul_(x @ w).sum(),
}  # fmt: skip


def types_and_values(module: Any, make: Callable[[Any, Any, Any], Any]) -> Any:
    """What a hook on the way sees, the gradients and those of their squares."""
    x, w = (
        module.tensor(v, requires_grad=True)
        for v in ([[1.0, 2.0], [3.0, 4.0]], [[0.5, -1.0], [2.0, 1.0]])
    )
    y = x * w
    seen: list[str] = []
    y.register_hook(lambda g: seen.append(str(g.dtype).rpartition(".")[2]))
    first = module.autograd.grad(make(module, y, w), [x, w], create_graph=True)
    second = module.autograd.grad(sum((g**2).sum() for g in first), [x, w])
    found = [*first, *second]
    types = [str(g.dtype).rpartition(".")[2] for g in found]
    return seen + types, [g.detach().tolist() for g in found]


@pytest.mark.parametrize("name", MIXED)
def test_floats_of_two_widths_in_one_recorded_pass(name: str) -> None:
    types, values = types_and_values(gradcli, MIXED[name])
    wanted, theirs = types_and_values(torch, MIXED[name])
    assert types == wanted
    for mine, other in zip(values, theirs, strict=True):
        for row, expected in zip(mine, other, strict=True):
            assert row == pytest.approx(expected, rel=1e-5)


def test_a_function_by_hand_sees_its_outputs_type() -> None:
    def seen(module: Any) -> list[str]:
        types: list[str] = []

        class Same(module.autograd.Function):  # type: ignore[misc]
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return x.clone()

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                types.append(str(g.dtype).rpartition(".")[2])
                return g

        x = module.tensor([1.0, 2.0], requires_grad=True)
        (Same.apply(x) + x.double()).sum().backward()
        return types

    assert seen(gradcli) == seen(torch) == ["float32"]
