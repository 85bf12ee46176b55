"""Training from the same initial weights gives PyTorch's losses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcli

pytestmark = pytest.mark.peers

STEPS = 200
# float32 rounds every step differently in the two libraries, and training spreads it.
RELATIVE = {"float64": 1e-6, "float32": 1e-5}


def data(dtype: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 8)).astype(dtype)
    return x, np.sin(x @ rng.normal(size=(8, 4))).astype(dtype)


def weights(dtype: str) -> list[Any]:
    rng = np.random.default_rng(1)
    shapes = [(12, 8), (12,), (12,), (12,), (4, 12), (4,)]
    drawn = [rng.uniform(-0.4, 0.4, shape).astype(dtype) for shape in shapes]
    drawn[2] = drawn[2] + 1
    return drawn


def losses(torch: Any, dtype: str) -> Any:
    nn, kind = torch.nn, getattr(torch, dtype)
    net = nn.Sequential(
        nn.Linear(8, 12), nn.LayerNorm(12), nn.Tanh(), nn.Linear(12, 4)
    ).to(kind)
    state = dict(zip(net.state_dict(), weights(dtype), strict=True))
    net.load_state_dict({name: torch.from_numpy(w) for name, w in state.items()})
    x, y = (torch.from_numpy(a) for a in data(dtype))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    seen = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        seen.append(loss.item())
    return np.array(seen)


@pytest.mark.parametrize("dtype", RELATIVE)
def test_two_hundred_steps_of_adam_have_pytorchs_losses(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = losses(gradcli, dtype), losses(torch, dtype)
    assert np.max(np.abs(ours / theirs - 1)) <= RELATIVE[dtype]
    assert theirs[-1] < 0.2 * theirs[0]
