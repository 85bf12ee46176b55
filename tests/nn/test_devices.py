"""Training on another device: nothing of it passes through NumPy unasked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradcli as torch
from gradcli import nn, optim

MAKERS: dict[str, Callable[[Any], Any]] = {
    "SGD": lambda p: optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.1),
    "Adam": lambda p: optim.Adam(p, lr=0.05, amsgrad=True),
    "AdamW": lambda p: optim.AdamW(p, lr=0.05),
    "RMSprop": lambda p: optim.RMSprop(p, momentum=0.5, centered=True),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.1),
    "Adadelta": lambda p: optim.Adadelta(p, lr=2.0),
    "LBFGS": lambda p: optim.LBFGS(p, 0.1, 4, line_search_fn="strong_wolfe"),
}


def network() -> Any:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Embedding(6, 4), nn.Flatten(), nn.Linear(8, 5), nn.LayerNorm(5), nn.GELU(),
        nn.Linear(5, 4), nn.BatchNorm1d(4), nn.Softplus(),
    ).double()  # fmt: skip


def losses(net: Any, x: Any, y: Any, make: Callable[[Any], Any]) -> list[float]:
    optimizer = make(net.parameters())

    def closure() -> Any:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        return loss

    return [float(optimizer.step(closure)) for _ in range(4)]


def test_every_optimizer_is_tried() -> None:
    classes = {n for n, c in vars(optim).items() if isinstance(c, type)}
    given = {n for n in classes if issubclass(getattr(optim, n), optim.Optimizer)}
    assert {*MAKERS} == given - {"Optimizer"}


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("name", MAKERS)
def test_training_elsewhere_gives_the_same_losses(name: str) -> None:
    torch.manual_seed(1)
    x = torch.randint(0, 6, (7, 2))
    y = torch.rand(7, 4, dtype=torch.float64)
    here = losses(network(), x, y, MAKERS[name])
    there = losses(network().cuda(), x.cuda(), y.cuda(), MAKERS[name])
    assert there == pytest.approx(here, rel=1e-9)
    assert here[-1] < here[0]


class Pictures(nn.Module):
    """Windows, groups, a recurrent network and attention in one."""

    def __init__(self) -> None:
        super().__init__()
        self.windows = nn.Sequential(
            nn.Conv2d(1, 4, 2, padding=1), nn.MaxPool2d(2, 1), nn.GroupNorm(2, 4),
            nn.ConvTranspose2d(4, 4, 2), nn.BatchNorm2d(4), nn.AvgPool2d(2),
        )  # fmt: skip
        self.along = nn.LSTM(4, 4, batch_first=True)
        self.attention = nn.TransformerEncoderLayer(4, 2, 6, 0.0, batch_first=True)

    def forward(self, x: Any) -> Any:
        steps, _ = self.along(self.windows(x).flatten(2).transpose(1, 2))
        return self.attention(steps).mean(1)


def pictures() -> Any:
    torch.manual_seed(0)
    return Pictures().double()


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_windows_sequences_and_attention_train_elsewhere_as_here() -> None:
    torch.manual_seed(1)
    x = torch.rand(3, 1, 4, 4, dtype=torch.float64)
    y = torch.rand(3, 4, dtype=torch.float64)
    here = losses(pictures(), x, y, MAKERS["Adam"])
    there = losses(pictures().cuda(), x.cuda(), y.cuda(), MAKERS["Adam"])
    assert there == pytest.approx(here, rel=1e-9)
    assert here[-1] < here[0]
