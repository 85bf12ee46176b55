"""Layers, losses and containers, as PyTorch's ``nn`` has them.

from gradcli import nn
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
"""

from ..torch.absent import offer
from . import (
    containers,
    functional,
    init,
    modules,
    parameter,
    recurrent,
    shaping,
    table,
    transformer,
    utils,
    weighted,
)
from .module import Module
from .parameter import Parameter

offer(
    __name__, table, containers, weighted, recurrent, shaping, transformer,
    kind=Module, but=("NonDynamicallyQuantizableLinear",),
    also={
        "Module": Module, "Parameter": Parameter, "functional": functional,
        "init": init, "modules": modules, "parameter": parameter, "utils": utils,
    },
)  # fmt: skip
