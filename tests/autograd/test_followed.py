"""What a derivative cannot be followed through is refused; nothing becomes zero."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import pytest

import gradcli as torch
from gradcli import func, nn
from gradcli.autograd import functional
from tests.grouped import by_row

DOUBLE = torch.float64


def base(x: Any) -> Any:
    return x[0] ** 3 * x[1].sin() * x[1] + (x**4).sum()


AT, ALONG = [0.7, 0.4], [1.0, 2.0]


def along() -> Any:
    return torch.tensor(ALONG, dtype=DOUBLE)


def slope(f: Any, steps: int, x: list[float], h: float = 1e-3) -> float:
    """The derivative of a function along a direction, of an order, by differences."""
    if not steps:
        return float(f(torch.tensor(x, dtype=DOUBLE)))

    def at(k: float) -> float:
        moved = [a + k * h * d for a, d in zip(x, ALONG, strict=True)]
        return slope(f, steps - 1, moved, h)

    return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)


def by_autograd(f: Any, x: Any) -> Any:
    x = x if x.requires_grad else x.clone().requires_grad_()
    return torch.autograd.grad(f(x), x, create_graph=True)[0] @ along()


def pulled_outside(f: Any, x: Any) -> Any:
    with torch.no_grad():
        _, pull = func.vjp(f, x)
    return pull(torch.ones((), dtype=DOUBLE))[0] @ along()


def over_a_batch(f: Any, x: Any) -> Any:
    return (func.vmap(func.grad(f))(torch.stack([x, x])) @ along()).sum() / 2


WAYS: dict[str, Any] = {
    "grad": lambda f, x: func.grad(f)(x) @ along(),
    "vjp": lambda f, x: func.vjp(f, x)[1](torch.ones((), dtype=DOUBLE))[0] @ along(),
    "jvp": lambda f, x: func.jvp(f, (x,), (along(),))[1],
    "jacrev": lambda f, x: func.jacrev(f)(x) @ along(),
    "jacfwd": lambda f, x: func.jacfwd(f)(x) @ along(),
    "linearize": lambda f, x: func.linearize(f, x)[1](along()),
    "vmap": over_a_batch,
    "vjp under no_grad": pulled_outside,
    "autograd.grad": by_autograd,
    "jacobian": lambda f, x: functional.jacobian(f, x) @ along(),
    "jacobian, recorded": lambda f, x: (
        functional.jacobian(f, x, create_graph=True) @ along()
    ),
    "functional.vjp": lambda f, x: functional.vjp(f, x)[1] @ along(),
    "functional.jvp": lambda f, x: functional.jvp(f, x, along())[1],
    "functional.jvp, recorded": lambda f, x: functional.jvp(
        f, x, along(), create_graph=True
    )[1],
}
"""A function's derivative along a direction, by every transform."""


@by_row("outer, inner", product(WAYS, WAYS), str, str)
def test_nested_transforms_give_the_derivative_or_refuse(
    outer: str, inner: str
) -> None:
    def once(x: Any) -> Any:
        return WAYS[inner](base, x)

    try:
        found = float(WAYS[outer](once, torch.tensor(AT, dtype=DOUBLE)))
    except RuntimeError:
        assert inner in UNRECORDED
        return
    assert found == pytest.approx(slope(base, 2, AT), rel=1e-6)


UNRECORDED = ("jacobian", "functional.vjp", "functional.jvp")
"""Those whose results stand outside the graph, which others cannot follow."""

TWICE_IN_REVERSE = ("grad", "vjp", "jacrev", "autograd.grad", "vmap")


@pytest.mark.parametrize(
    "ways", [*product(TWICE_IN_REVERSE, ("grad", "jvp"), ("grad",))]
)
def test_what_can_be_nested_three_deep_is_right(ways: tuple[str, ...]) -> None:
    f = base
    for way in reversed(ways):
        f = lambda x, f=f, way=way: WAYS[way](f, x)  # type: ignore[misc]
    found = float(f(torch.tensor(AT, dtype=DOUBLE)))
    assert found == pytest.approx(slope(base, 3, AT, 1e-2), rel=1e-4)


def test_results_outside_the_graph_are_refused_in_a_transform() -> None:
    x = torch.tensor([1.0, 2.0])

    def curvature(x: Any) -> Any:
        return functional.hessian(lambda z: (z**3).sum(), x).sum()

    with pytest.raises(RuntimeError, match="create_graph=True"):
        func.grad(curvature)(x)
    constant = func.grad(lambda x: curvature(x.detach()) * x.sum())(x)
    assert constant.tolist() == [18.0, 18.0]
    with pytest.raises(RuntimeError, match="called inside a functorch"):
        func.grad(lambda x: (x * x).sum().backward())(x)


def test_a_pull_is_recorded_as_recording_is_when_it_is_called() -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        y, pull = func.vjp(lambda x: x**2 * w, torch.ones(2))
    assert not y.requires_grad
    assert pull(torch.ones(2))[0].requires_grad
    with torch.no_grad():
        assert not pull(torch.ones(2))[0].requires_grad


CUT: dict[str, Any] = {
    "unique": lambda x: x.unique(),
    "unique, inverse": lambda x: torch.unique(x, return_inverse=True)[0],
}
"""Results of floats by which no derivative is known."""


@pytest.mark.parametrize("name", CUT)
def test_what_has_no_derivative_refuses_in_reverse_and_forward(name: str) -> None:
    values = [1.0, 2.0, 2.0]
    x = torch.tensor(values, requires_grad=True)
    y = CUT[name](x)
    assert y.requires_grad
    with pytest.raises(NotImplementedError, match="not implemented"):
        (y.sum() + x.sum()).backward()
    with pytest.raises(NotImplementedError):
        func.grad(lambda x: CUT[name](x).sum())(torch.tensor(values))
    with pytest.raises(NotImplementedError):
        func.jvp(CUT[name], (torch.tensor(values),), (torch.ones(3),))


def test_a_saved_tensor_is_what_its_data_is_when_a_pass_reads_it() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    z = x**3
    x.data = torch.tensor(2.0)
    z.backward()
    assert x.grad.item() == 12.0
    y = x * 2
    z = y * y
    y.data = torch.tensor(27.0)
    assert torch.autograd.grad(z, x)[0].item() == 108.0
    held = x.detach()
    w = torch.tensor(1.0, requires_grad=True)
    z = held * w
    x.data = torch.tensor(5.0)
    assert torch.autograd.grad(z, w)[0].item() == 2.0


class Pair(NamedTuple):
    first: Any
    second: Any


class Split(nn.Module):
    def forward(self, x: Any) -> Pair:
        return Pair(x * 2, x * 3)


def test_a_hooked_module_returns_the_kind_of_tuple_that_it_made() -> None:
    seen: list[Any] = []
    split = Split()
    split.register_full_backward_hook(lambda module, gi, go: seen.append(gi))
    pair = split(torch.ones(2, requires_grad=True))
    assert type(pair) is Pair
    (pair.first + pair.second).sum().backward()
    assert seen[0][0].tolist() == [5.0, 5.0]
