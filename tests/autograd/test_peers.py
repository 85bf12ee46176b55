"""The same functions under gradcli and PyTorch, in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcli

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.peers,
    pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning"),
]

FUNCTIONS = {
    "polynomial": lambda m, x: (x**3 - 2 * x).sum() * x[0],
    "layered": lambda m, x: m.tanh(m.outer(x, x) @ x.exp()).sum(),
    "softmax": lambda m, x: (m.softmax(x, 0) * x).sum().log() ** 2,
    "norms": lambda m, x: m.logsumexp(x.outer(x), 1).norm(),
    "gather": lambda m, x: (m.cat([x, x.flip(0)])[1:4] * x[-1]).prod(),
    "branch": lambda m, x: m.where(x > 0, x.sin(), x * x).cumsum(0)[-1] ** 3,
}
POINTS = [[0.3, -1.2, 2.0], [1.5, 0.7, -0.4]]


def on(module: Any, name: str, point: list[float]) -> tuple[Any, Any]:
    x = module.tensor(point, dtype=module.float64)
    return (lambda x: FUNCTIONS[name](module, x)), x


def derivatives(module: Any, name: str, point: list[float]) -> dict[str, Any]:
    from importlib import import_module

    func = import_module(f"{module.__name__}.func")
    functional = import_module(f"{module.__name__}.autograd.functional")
    f, x = on(module, name, point)
    v = module.tensor([1.0, -2.0, 0.5], dtype=module.float64)
    gradient = func.grad(f)
    return {
        "grad": gradient(x),
        "jacrev of grad": func.jacrev(gradient)(x),
        "jacfwd of grad": func.jacfwd(gradient)(x),
        "hessian": func.hessian(f)(x),
        "third": func.jacfwd(func.jacrev(gradient))(x),
        "jvp": func.jvp(f, (x,), (v,))[1],
        "jvp of grad": func.jvp(gradient, (x,), (v,))[1],
        "vmap": func.vmap(gradient)(module.stack([x, x * 2])),
        "functional hessian": functional.hessian(f, x),
        "hvp": functional.hvp(f, x, v)[1],
        "vhp": functional.vhp(f, x, v)[1],
    }


@pytest.mark.parametrize("point", POINTS, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_derivative_is_pytorchs(name: str, point: list[float]) -> None:
    ours, theirs = derivatives(gradcli, name, point), derivatives(torch, name, point)
    for kind, value in theirs.items():
        found, expected = ours[kind].numpy(), value.detach().numpy()
        scale = np.abs(expected).max() + 1e-300
        np.testing.assert_allclose(
            found, expected, rtol=1e-11, atol=1e-11 * scale, err_msg=kind
        )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradcheck_agrees_with_pytorchs(name: str) -> None:
    for module in (gradcli, torch):
        f, x = on(module, name, POINTS[0])
        x.requires_grad_()
        assert module.autograd.gradcheck(f, x)
        assert module.autograd.gradgradcheck(f, x)


def test_hooks_inside_a_jacobian_are_called_as_often() -> None:
    counts = []
    for module in (gradcli, torch):
        seen: list[str] = []

        def f(x: Any, m: Any = module, seen: list[str] = seen) -> Any:
            x.register_hook(lambda g: seen.append("x"))
            y = x.exp()
            y.register_hook(lambda g: seen.append("y"))
            x.cos().register_hook(lambda g: seen.append("aside"))
            return m.stack([y.sum(), (y * x).prod(), x[0]])

        module.autograd.functional.jacobian(f, module.tensor([0.5, -1.5]))
        counts.append(sorted(seen))
    assert counts[0] == counts[1]
