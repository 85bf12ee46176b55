"""Number types: PyTorch's rules for what meets what, over all of them."""

from __future__ import annotations

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
