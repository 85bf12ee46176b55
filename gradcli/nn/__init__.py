"""Layers, losses and containers, as PyTorch's ``nn`` has them.

from gradcli import nn
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
"""

from ..engine.absent import absent, offered
from . import (
    across_maps,
    activation,
    attention,
    batch_norm,
    cells,
    containers,
    convolution,
    distance,
    embedding,
    functional,
    init,
    lazy,
    linear,
    losses,
    modules,
    norm,
    parallel,
    parameter,
    parameters,
    pooling,
    recurrent,
    shaping,
    table,
    transformer,
    utils,
)
from .module import Module
from .parameter import (
    Buffer,
    Parameter,
    UninitializedBuffer,
    UninitializedParameter,
)

_OFFERED = offered(
    table, across_maps, activation, attention, batch_norm, cells, containers,
    convolution, distance, embedding, lazy, linear, losses, norm, parallel, parameters,
    pooling, recurrent, shaping, transformer,
    kind=Module,
)  # fmt: skip
del _OFFERED["LazyModuleMixin"], _OFFERED["NonDynamicallyQuantizableLinear"]
_OFFERED |= {
    "Module": Module, "Parameter": Parameter, "Buffer": Buffer,
    "UninitializedParameter": UninitializedParameter,
    "UninitializedBuffer": UninitializedBuffer, "functional": functional,
    "init": init, "modules": modules, "parameter": parameter, "utils": utils,
}  # fmt: skip
globals().update(_OFFERED)
__all__ = sorted(_OFFERED)


def __getattr__(name: str) -> object:
    raise absent(__name__, name, __all__)
