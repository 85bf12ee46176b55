"""What a training step asks of a device, counted by the stand-in for CuPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradcli as torch
from gradcli import nn, optim
from gradcli.engine.modes import WATCH
from tests.cupy_stand_in.counts import counting
from tests.cupy_stand_in.standing import is_real

from .test_devices import MAKERS

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cuda")]


@pytest.fixture(autouse=True)
def no_hook_was_ever_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gradients are copied in a process that has used hooks, which other tests do."""
    monkeypatch.setattr(WATCH, "observer", None)


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(10, 8)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, 0.1, batch_first=True)
        self.out = nn.Linear(8, 4)

    def forward(self, x: Any) -> Any:
        return self.out(self.layer(self.table(x)).amax(1))


def perceptron() -> tuple[Any, Any]:
    net = nn.Sequential(
        nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.GELU(), nn.LayerNorm(16),
        nn.Dropout(0.1), nn.Linear(16, 4),
    )  # fmt: skip
    return net, torch.rand(3, 8)


def convolutions() -> tuple[Any, Any]:
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(4, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(8, 4),
    )  # fmt: skip
    return net, torch.rand(3, 1, 8, 8)


def attention() -> tuple[Any, Any]:
    return Attention(), torch.randint(0, 10, (3, 5))


MOST_KERNELS: dict[Callable[[], tuple[Any, Any]], int] = {
    perceptron: 130, convolutions: 220, attention: 260,
}  # fmt: skip
"""Kernels of a step with `Adam`; PyTorch 2.13 runs 160, 186 and 349 operators that are
no views and call no others, one parameter at a time."""


@pytest.mark.skipif(is_real(), reason="the stand-in counts, a GPU does not")
@pytest.mark.parametrize("make", MOST_KERNELS, ids=lambda make: make.__name__)
def test_a_training_step_waits_for_nothing(make: Callable[[], Any]) -> None:
    torch.manual_seed(0)
    net, x = make()
    net, x, y = net.cuda(), x.cuda(), torch.randint(0, 4, (3,)).cuda()
    optimizer = optim.Adam(net.parameters(), lr=0.01)
    for _ in range(2):
        with counting() as asked:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()
    assert asked.waits == []
    assert 0 < asked.kernels <= MOST_KERNELS[make]
    with counting() as read:
        loss.item()
    assert read.synchronisations > 0


SEARCHING = {"LBFGS"}
"""Optimizers whose step looks at the loss, which the host has to read."""


@pytest.mark.skipif(is_real(), reason="the stand-in counts, a GPU does not")
@pytest.mark.parametrize("name", sorted({*MAKERS} - SEARCHING))
def test_a_step_of_an_optimizer_waits_for_nothing(name: str) -> None:
    torch.manual_seed(0)
    net, x = perceptron()
    net, x = net.cuda(), x.cuda()
    matrices = [p for p in net.parameters() if p.ndim == 2]
    optimizer = MAKERS[name](matrices)
    for _ in range(3):
        optimizer.zero_grad()
        net(x).square().mean().backward()
        with counting() as asked:
            optimizer.step()
        assert asked.waits == []
        assert asked.kernels > 0


def test_a_position_outside_is_refused_when_numbers_are_read() -> None:
    x = torch.ones(3, device="cuda")
    y = x[torch.tensor([0, 5], device="cuda")]
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        y.tolist()
    assert x.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("see", [
    lambda y: y.unfold(0, 2, 2), lambda y: y.as_strided((2,), (2,)), lambda y: y[1:],
])  # fmt: skip
def test_a_view_on_a_device_shares_history_and_gradient(see: Any) -> None:
    def change(device: str) -> list[Any]:
        x = torch.tensor([1.0, 2.0, 3.0, 4.0], device=device, requires_grad=True)
        y = x * 2
        view = see(y)
        view.mul_(3)
        (y * y).sum().backward()
        return [x.grad.tolist(), y._version, view._version]

    assert change("cuda") == change("cpu")


def test_a_view_beyond_its_tensor_is_differentiated_twice_on_a_device() -> None:
    def passes(device: str) -> list[Any]:
        x = torch.tensor([1.0, 2.0, 3.0, 4.0], device=device, requires_grad=True)
        y = (x * x)[:2].as_strided((2, 2), (2, 1))
        (g,) = torch.autograd.grad(y.sum() * x.sum(), x, create_graph=True)
        (twice,) = torch.autograd.grad(g.sum(), x)
        return [g.tolist(), twice.tolist()]

    assert passes("cuda") == passes("cpu")
