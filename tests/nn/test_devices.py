"""Training on another device: nothing of it passes through NumPy unasked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from laws.strict import STRICT, StrictArray

import gradcli as torch
from gradcli import nn, optim

MAKERS: dict[str, Callable[[Any], Any]] = {
    "SGD": lambda p: optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.1),
    "Adam": lambda p: optim.Adam(p, lr=0.05, amsgrad=True),
    "AdamW": lambda p: optim.AdamW(p, lr=0.05),
    "RMSprop": lambda p: optim.RMSprop(p, momentum=0.5, centered=True),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.1),
    "LBFGS": lambda p: optim.LBFGS(p, lr=0.1, line_search_fn="strong_wolfe"),
}


def strict(tensor: Any) -> Any:
    return torch.Tensor(StrictArray(np.array(tensor.raw)), STRICT)


def network() -> Any:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Embedding(6, 4), nn.Flatten(), nn.Linear(8, 5), nn.LayerNorm(5), nn.GELU(),
        nn.Linear(5, 4), nn.BatchNorm1d(4), nn.Softplus(),
    ).double()  # fmt: skip


def moved(net: Any) -> Any:
    for parameter in net.parameters():
        parameter.data = strict(parameter)
    for module in net.modules():
        for name, buffer in module._buffers.items():
            module._buffers[name] = strict(buffer)
    return net


def losses(net: Any, x: Any, y: Any, make: Callable[[Any], Any]) -> list[float]:
    optimizer = make(net.parameters())

    def closure() -> Any:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        return loss

    return [float(optimizer.step(closure)) for _ in range(4)]


@pytest.mark.parametrize("name", MAKERS)
def test_training_elsewhere_gives_the_same_losses(name: str) -> None:
    torch.manual_seed(1)
    x = torch.randint(0, 6, (7, 2))
    y = torch.rand(7, 4, dtype=torch.float64)
    here = losses(network(), x, y, MAKERS[name])
    there = losses(moved(network()), strict(x), strict(y), MAKERS[name])
    assert there == here
    assert here[-1] < here[0]
