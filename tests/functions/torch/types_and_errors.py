"""What notebooks print of types and of errors."""

import torch
from torch import nn

x = torch.arange(12, dtype=torch.float32)
print(type(x), type(x.shape), type(x.dtype), type(x.device), type(nn.Parameter(x)))
print(torch.Tensor, torch.Size, nn.Module, isinstance(x, torch.Tensor))


def attempt(function):
    try:
        print(function())
    except Exception as error:
        print(type(error), type(error).__name__, str(error)[:60])


attempt(lambda: torch.ones(2, 3) @ torch.ones(2, 3))
attempt(lambda: torch.ones(2) + torch.ones(3))
attempt(lambda: x[20])
attempt(lambda: x.reshape(5, 5))
attempt(lambda: torch.ones(2, requires_grad=True).backward())
attempt(lambda: torch.linalg.cholesky(-torch.eye(2)))
attempt(lambda: x.foo)
attempt(lambda: torch.zeros(2).item())
