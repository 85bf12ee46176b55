"""Optimizers and schedules of their learning rates, as PyTorch's ``optim`` has them.

optimizer = optim.Adam(net.parameters(), lr=1e-3)
optimizer.zero_grad()
loss(net(x), y).backward()
optimizer.step()
"""

from . import lr_scheduler
from .adam import Adam, AdamW
from .lbfgs import LBFGS
from .optimizer import Optimizer
from .rmsprop import Adagrad, RMSprop
from .sgd import SGD

__all__ = [
    "LBFGS",
    "SGD",
    "Adagrad",
    "Adam",
    "AdamW",
    "Optimizer",
    "RMSprop",
    "lr_scheduler",
]
