"""Optimizers and schedules follow PyTorch's, step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradcli

pytestmark = pytest.mark.peers

STEPS = 50
CALLS = 2
TOLERANCE = {"float64": 1e-12, "float32": 2e-6}
START = [0.5, -1.2, 0.8, 0.1]

Make = Callable[[Any, Any], Any]

OPTIMIZERS: dict[str, Make] = {
    "SGD": lambda o, p: o.SGD(p, lr=0.01),
    "SGD momentum": lambda o, p: o.SGD(
        p, lr=0.01, momentum=0.9, dampening=0.1, weight_decay=0.01),
    "SGD nesterov": lambda o, p: o.SGD(p, lr=0.01, momentum=0.9, nesterov=True),
    "SGD maximize": lambda o, p: o.SGD(p, lr=0.001, maximize=True),
    "Adam": lambda o, p: o.Adam(p, lr=0.05),
    "Adam amsgrad": lambda o, p: o.Adam(
        p, lr=0.05, betas=(0.4, 0.8), weight_decay=0.1, amsgrad=True),
    "Adam maximize": lambda o, p: o.Adam(p, lr=0.01, maximize=True),
    "Adam decoupled": lambda o, p: o.Adam(
        p, lr=0.05, weight_decay=0.1, decoupled_weight_decay=True),
    "AdamW": lambda o, p: o.AdamW(p, lr=0.05, weight_decay=0.1, amsgrad=True),
    "RMSprop": lambda o, p: o.RMSprop(p),
    "RMSprop centered": lambda o, p: o.RMSprop(
        p, centered=True, momentum=0.4, weight_decay=0.1, alpha=0.9),
    "Adagrad": lambda o, p: o.Adagrad(p, lr=0.1),
    "Adadelta": lambda o, p: o.Adadelta(p),
    "Adadelta decay": lambda o, p: o.Adadelta(p, lr=0.5, rho=0.7, weight_decay=0.1),
    "Adagrad decay": lambda o, p: o.Adagrad(
        p, lr=0.1, lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.2),
}  # fmt: skip

# One call of step() takes several steps here.
LINE_SEARCHES: dict[str, Make] = {
    "LBFGS": lambda o, p: o.LBFGS(p, lr=0.3, max_iter=3),
    "LBFGS strong_wolfe": lambda o, p: o.LBFGS(
        p, max_iter=7, line_search_fn="strong_wolfe"),
    "LBFGS short memory": lambda o, p: o.LBFGS(
        p, max_iter=7, line_search_fn="strong_wolfe", history_size=2),
    "LBFGS long first step": lambda o, p: o.LBFGS(
        p, lr=20, max_iter=4, line_search_fn="strong_wolfe"),
}  # fmt: skip


def path(torch: Any, make: Make, dtype: str, calls: int) -> Any:
    """The parameters after each call of ``step``, and how the loss fell."""
    kind = getattr(torch, dtype)
    w = torch.tensor(START, dtype=kind, requires_grad=True)
    b = torch.tensor(0.3, dtype=kind, requires_grad=True)
    optimizer = make(torch.optim, [w, b])

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (w**4).sum() - (w.sin() * b).sum() + (b - 1) ** 2 + w[0] * w[1]
        loss.backward()
        return loss

    points = []
    for _ in range(calls):
        loss = optimizer.step(closure)
        points.append([*w.tolist(), b.item(), loss.item()])
    return np.array(points)


def assert_same_path(make: Make, dtype: str, calls: int) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = (path(t, make, dtype, calls) for t in (gradcli, torch))
    assert np.abs(ours - theirs).max() <= TOLERANCE[dtype]
    assert calls == 1 or np.ptp(theirs, axis=0).min() > 0


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_fifty_steps_are_pytorchs(name: str, dtype: str) -> None:
    assert_same_path(OPTIMIZERS[name], dtype, STEPS)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", LINE_SEARCHES)
def test_the_calls_of_lbfgs_are_pytorchs(name: str, dtype: str) -> None:
    # In single precision rounding, which is the processor's own, decides what a line
    # search does once it is at the minimum: after the first call.
    calls = CALLS if dtype == "float64" else 1
    assert_same_path(LINE_SEARCHES[name], dtype, calls)


# Rates, epoch by epoch.

SCHEDULES: dict[str, Make] = {
    "StepLR": lambda s, o: s.StepLR(o, 3, gamma=0.5),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.9),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, T_max=5, eta_min=0.01),
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda epoch: 0.9**epoch),
    "LambdaLR per group": lambda s, o: s.LambdaLR(
        o, [lambda epoch: 1 / (1 + epoch), lambda epoch: 0.5]),
}  # fmt: skip
EPOCHS = 16


def two_groups(torch: Any) -> Any:
    w, b = (torch.ones(1, requires_grad=True) for _ in range(2))
    return torch.optim.SGD([{"params": [w]}, {"params": [b], "lr": 0.5}], lr=1.0)


def rates(torch: Any, make: Make) -> list[list[float]]:
    optimizer = two_groups(torch)
    schedule = make(torch.optim.lr_scheduler, optimizer)
    seen = []
    for _ in range(EPOCHS):
        groups = optimizer.param_groups
        seen.append([group[name] for group in groups for name in ("lr", "momentum")])
        assert seen[-1][::2] == schedule.get_last_lr()
        optimizer.step()
        schedule.step()
    return seen


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_rates_of_sixteen_epochs_are_pytorchs(name: str) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = (np.array(rates(t, SCHEDULES[name])) for t in (gradcli, torch))
    assert np.allclose(ours, theirs, rtol=1e-14, atol=0)
    assert len(np.unique(theirs)) > 2
