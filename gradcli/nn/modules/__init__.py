"""The layers under the paths that PyTorch gives them.

Invariant: nothing is defined here; a path shows what files of ``nn`` hold.

    from gradcli.nn.modules.batchnorm import _BatchNorm
"""

from __future__ import annotations

from ...engine.absent import Path
from .. import activation as _activation
from .. import (
    attention,
    batch_norm,
    cells,
    containers,
    convolution,
    embedding,
    families,
    norm,
    parameters,
    recurrent,
    shaping,
    table,
)
from .. import distance as _distance
from .. import lazy as _lazy
from .. import linear as _linear
from .. import transformer as _transformer
from ..module import Module as Module
from . import module as module

PATHS = {
    "activation": (table, _activation, attention),
    "batchnorm": (batch_norm,),
    "container": (containers, parameters),
    "conv": (convolution,),
    "distance": (table, _distance),
    "dropout": (table, families),
    "flatten": (table, shaping),
    "instancenorm": (batch_norm,),
    "lazy": (_lazy,),
    "linear": (_linear, attention, _lazy),
    "loss": (table, families),
    "normalization": (norm,),
    "padding": (shaping,),
    "pooling": (table, families),
    "rnn": (recurrent, cells),
    "sparse": (embedding,),
    "transformer": (_transformer,),
}
"""PyTorch's files of layers, and the files here that hold the same."""

globals().update(
    {path: Path.at(f"{__name__}.{path}", *files) for path, files in PATHS.items()}
)
