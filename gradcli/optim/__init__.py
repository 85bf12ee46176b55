"""Optimizers and schedules of their learning rates, as PyTorch's ``optim`` has them.

optimizer = optim.Adam(net.parameters(), lr=1e-3)
optimizer.zero_grad()
loss(net(x), y).backward()
optimizer.step()
"""

from typing import TYPE_CHECKING

from ..engine.absent import absent
from . import lr_scheduler, swa_utils
from .adadelta import Adadelta
from .adafactor import Adafactor
from .adam import Adam, AdamW
from .asgd import ASGD
from .lbfgs import LBFGS
from .moments import Adamax, NAdam, RAdam
from .optimizer import Optimizer
from .rmsprop import Adagrad, RMSprop
from .rprop import Rprop
from .sgd import SGD

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "lr_scheduler",
    "swa_utils",
]


if not TYPE_CHECKING:  # with it, a type checker would take any name

    def __getattr__(name):
        raise absent(__name__, name, __all__)
