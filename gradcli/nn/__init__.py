"""Layers, losses and containers, as PyTorch's ``nn`` has them.

from gradcli import nn
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
"""

from ..engine.absent import offer
from . import (
    containers,
    convolution,
    functional,
    init,
    linear,
    modules,
    norm,
    parameter,
    recurrent,
    shaping,
    table,
    transformer,
    utils,
)
from .module import Module
from .parameter import Parameter

offer(
    __name__, table, containers, convolution, linear, norm, recurrent, shaping,
    transformer, kind=Module, but=("NonDynamicallyQuantizableLinear",),
    also={
        "Module": Module, "Parameter": Parameter, "functional": functional,
        "init": init, "modules": modules, "parameter": parameter, "utils": utils,
    },
)  # fmt: skip
