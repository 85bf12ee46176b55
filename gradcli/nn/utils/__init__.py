"""What is done to many parameters at once, to a module's weights, and to sequences.

Clipping gradients, one vector of all parameters, parametrizations, packed sequences.
"""

import sys
from typing import TYPE_CHECKING

from ...engine.absent import absent
from .. import stateless
from . import clip as clip_grad
from . import fusion, init, parametrizations, parametrize, rnn
from . import vector as convert_parameters
from .clip import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from .fusion import (
    fuse_conv_bn_eval,
    fuse_conv_bn_weights,
    fuse_linear_bn_eval,
    fuse_linear_bn_weights,
)
from .init import skip_init
from .spectral_norm import remove_spectral_norm, spectral_norm
from .vector import parameters_to_vector, vector_to_parameters
from .weight_norm import remove_weight_norm, weight_norm

__all__ = [
    "clip_grad",
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "convert_parameters",
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
    "fusion",
    "get_total_norm",
    "init",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "skip_init",
    "spectral_norm",
    "stateless",
    "vector_to_parameters",
    "weight_norm",
]

for _path, _file in {
    "clip_grad": clip_grad,
    "convert_parameters": convert_parameters,
    "stateless": stateless,
}.items():
    sys.modules.setdefault(f"{__name__}.{_path}", _file)


if not TYPE_CHECKING:  # with it, a type checker would take any name

    def __getattr__(name):
        raise absent(__name__, name, __all__)
