"""Everything of `gradcli.autograd` and `gradcli.func` stays on its device.

A GPU's arrays, and the stand-in's, refuse a hidden conversion to NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradcli import func
from gradcli.autograd import (
    Function,
    functional,
    grad,
    gradcheck,
    gradgradcheck,
    set_detect_anomaly,
)
from gradcli.engine import NUMPY, Tensor
from gradcli.engine.modes import inference_mode

POINT = np.array([0.5, -1.5, 2.0])
DIRECTION = np.array([1.0, 0.5, -2.0])


class Cube(Function):
    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x**3

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return 3 * x**2 * g


def f(x: Tensor) -> Any:
    return (x.sin() * x).exp() + Cube.apply(x)


def scalar(x: Tensor) -> Any:
    return f(x).sum()


def hooked(x: Tensor, block: Any) -> Any:
    leaf = x.detach().requires_grad_()
    with block:
        y = scalar(leaf)
    return grad(y, leaf)


def anomalous(x: Tensor) -> Any:
    with set_detect_anomaly(True):
        return hooked(x, inference_mode(False))


COMPUTED: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "grad": lambda x, t: func.grad(scalar)(x),
    "jacrev": lambda x, t: func.jacrev(f)(x),
    "jacfwd": lambda x, t: func.jacfwd(f)(x),
    "hessian": lambda x, t: func.hessian(scalar)(x),
    "jvp": lambda x, t: func.jvp(f, (x,), (t,)),
    "vjp": lambda x, t: func.vjp(f, x)[1](t),
    "vmap": lambda x, t: func.vmap(lambda a: a * a, out_dims=0)(x),
    "functional": lambda x, t: functional.jacobian(f, x, strategy="forward-mode"),
    "hvp": lambda x, t: functional.hvp(scalar, x, t),
    "vhp": lambda x, t: functional.vhp(scalar, x, t),
    "anomaly": lambda x, t: anomalous(x),
}


def leaves_of(value: Any) -> list[Tensor]:
    if isinstance(value, tuple):
        return [leaf for part in value for leaf in leaves_of(part)]
    return [value]


@pytest.mark.gpu
@pytest.mark.parametrize("name", COMPUTED)
def test_results_stay_on_the_device_and_are_the_host_s(name: str, cuda: Any) -> None:
    compute = COMPUTED[name]
    on_host = compute(Tensor(POINT, NUMPY), Tensor(DIRECTION, NUMPY))
    sent = cuda.np.asarray
    there = compute(Tensor(sent(POINT), cuda), Tensor(sent(DIRECTION), cuda))
    pairs = zip(leaves_of(there), leaves_of(on_host), strict=True)
    for ours, theirs in pairs:
        assert type(ours.raw) is cuda.np.ndarray
        np.testing.assert_allclose(ours.raw.get(), theirs.raw, rtol=1e-13)


@pytest.mark.gpu
def test_gradients_are_checked_there(cuda: Any) -> None:
    x = Tensor(cuda.np.asarray(POINT), cuda, True)
    assert gradcheck(f, (x,), check_forward_ad=True)
    assert gradgradcheck(f, (x,))
