"""The layers under the paths that PyTorch gives them.

Invariant: nothing is defined here; a path is another name of a file of ``nn``.

    from gradcli.nn.modules.batchnorm import _BatchNorm
"""

import sys

from .. import activation as activation
from .. import batch_norm as batchnorm
from .. import containers as container
from .. import convolution as conv
from .. import distance as distance
from .. import dropout as dropout
from .. import embedding as sparse
from .. import lazy as lazy
from .. import linear as linear
from .. import loss as loss
from .. import norm as normalization
from .. import pooling as pooling
from .. import recurrent as rnn
from .. import shaping as padding
from .. import transformer as transformer
from ..module import Module as Module
from . import module as module

PATHS = {
    "activation": activation,
    "batchnorm": batchnorm,
    "container": container,
    "conv": conv,
    "distance": distance,
    "dropout": dropout,
    "flatten": padding,
    "instancenorm": batchnorm,
    "lazy": lazy,
    "linear": linear,
    "loss": loss,
    "normalization": normalization,
    "padding": padding,
    "pooling": pooling,
    "rnn": rnn,
    "sparse": sparse,
    "transformer": transformer,
}

for _path, _file in PATHS.items():
    sys.modules.setdefault(f"{__name__}.{_path}", _file)
