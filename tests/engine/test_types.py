"""Number types: PyTorch's rules for what meets what, over all of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

import gradcli

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peers

NAMES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64")
OPERANDS: dict[str, Callable[[Any, str], Any]] = {
    "vector": lambda m, name: m.ones(2, dtype=getattr(m, name)),
    "scalar": lambda m, name: m.ones((), dtype=getattr(m, name)),
}
NUMBERS = {"True": True, "2": 2, "2.5": 2.5}

OF_TWO: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda m, a, b: a + b,
    "mul": lambda m, a, b: a * b,
    "div": lambda m, a, b: a / b,
    "maximum": lambda m, a, b: m.maximum(a, b),
    "where": lambda m, a, b: m.where(m.tensor(True), a, b),
    "eq": lambda m, a, b: a == b,
    "atan2": lambda m, a, b: m.atan2(a, b),
}
OF_ONE: dict[str, Callable[[Any, Any], Any]] = {
    "exp": lambda m, x: m.exp(x),
    "sum": lambda m, x: x.sum(),
    "prod": lambda m, x: x.prod(),
    "cumsum": lambda m, x: x.cumsum(0),
    "abs": lambda m, x: x.abs(),
    "sigmoid": lambda m, x: x.sigmoid(),
    "sqrt": lambda m, x: x.sqrt(),
    "max": lambda m, x: x.max(),
    "argmax": lambda m, x: x.int().argmax(),
    "flip": lambda m, x: x.flip(0),
    "square": lambda m, x: x.square(),
    "mean": lambda m, x: x.mean(),
    "std": lambda m, x: x.std(),
    "norm": lambda m, x: x.norm(),
    "neg": lambda m, x: -x,
}


def type_of(make: Callable[[Any], Any], module: Any) -> str:
    """The name of the result's type, or of the exception's class."""
    try:
        return str(make(module).dtype)
    except RuntimeError:
        return "refused"


@pytest.mark.parametrize("shapes", list(product(OPERANDS, OPERANDS)), ids="-".join)
@pytest.mark.parametrize("name", OF_TWO)
def test_two_tensors_give_pytorchs_type(name: str, shapes: tuple[str, str]) -> None:
    for first, second in product(NAMES, NAMES):

        def make(module: Any, first: str = first, second: str = second) -> Any:
            a = OPERANDS[shapes[0]](module, first)
            b = OPERANDS[shapes[1]](module, second)
            return OF_TWO[name](module, a, b)

        assert type_of(make, gradcli) == type_of(make, torch), (first, second)


@pytest.mark.parametrize("shape", OPERANDS)
@pytest.mark.parametrize("number", NUMBERS)
def test_a_tensor_and_a_number_give_pytorchs_type(number: str, shape: str) -> None:
    value = NUMBERS[number]
    for dtype, name in product(NAMES, ("add", "mul", "div", "eq")):

        def make(module: Any, dtype: str = dtype, name: str = name) -> Any:
            return OF_TWO[name](module, OPERANDS[shape](module, dtype), value)

        assert type_of(make, gradcli) == type_of(make, torch), (dtype, name)


@pytest.mark.parametrize("name", OF_ONE)
def test_one_tensor_gives_pytorchs_type(name: str) -> None:
    for dtype in NAMES:

        def make(module: Any, dtype: str = dtype) -> Any:
            return OF_ONE[name](module, OPERANDS["vector"](module, dtype))

        assert type_of(make, gradcli) == type_of(make, torch), dtype


@pytest.mark.parametrize("dtype", NAMES)
def test_an_in_place_result_is_cast_or_refused_as_in_pytorch(dtype: str) -> None:
    for other in NAMES:

        def make(module: Any, other: str = other) -> Any:
            x = OPERANDS["vector"](module, dtype)
            return x.mul_(OPERANDS["vector"](module, other))

        assert type_of(make, gradcli) == type_of(make, torch), other


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
    "a power in double precision": lambda m, x, w: (m.float_power(x, 2) + x @ w).sum(),
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
