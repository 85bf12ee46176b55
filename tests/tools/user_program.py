"""What people write against the face; `mypy --strict` has to accept it."""

from __future__ import annotations

import gradcli as torch
from gradcli import nn


def loss_of(w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    hidden = (x @ w).tanh()
    return ((hidden - 1) ** 2).mean()


def descend(steps: int, rate: float) -> list[float]:
    torch.manual_seed(0)
    w = torch.randn(3, 2, requires_grad=True)
    x = torch.ones(4, 3, dtype=torch.float32)
    losses: list[float] = []
    for _ in range(steps):
        loss = loss_of(w, x)
        loss.backward()
        grad = w.grad
        assert grad is not None
        with torch.no_grad():
            w -= rate * grad
            w.clamp_(-3.0, 3.0)
        w.grad = None
        losses.append(float(loss.item()))
    return losses


def look(x: torch.Tensor) -> tuple[int, bool, torch.Size, torch.dtype]:
    values, indices = x.sort(descending=True)
    best = torch.max(x, 0)
    rows = [row.sum() for row in x]
    part = x[1:, None]
    part[0] = 5.0
    kept = torch.where(x > 0, x, torch.zeros_like(x)).to(torch.float64)
    total = 2 * kept + torch.exp(-values) / best.values.abs() + len(rows)
    same: bool = torch.equal(total, total.clone())
    assert indices.dtype is torch.int64
    return x.dim(), same, total.shape, total.dtype


layer = nn.Linear(3, 2)
out: torch.Tensor = torch.linalg.solve(torch.eye(2), layer(torch.ones(3)))
losses = descend(20, 0.1)
