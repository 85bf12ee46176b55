"""A line through five points, as a PyTorch script."""

import torch
from torch import nn

x = torch.tensor([[0.0], [1.0], [2.0], [3.0], [4.0]])
y = 2 * x + 1
model = nn.Linear(1, 1)
nn.init.zeros_(model.weight)
nn.init.zeros_(model.bias)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(100):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}, slope {model.weight.item():.3f}")
