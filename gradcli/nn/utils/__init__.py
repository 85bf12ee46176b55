"""What is done to many parameters at once, to a module's weights, and to sequences.

Clipping gradients, one vector of all parameters, parametrizations, packed sequences.
"""

from ...engine.absent import absent, offered
from . import (
    clip_grad,
    convert_parameters,
    fusion,
    init,
    parametrizations,
    parametrize,
    rnn,
    stateless,
)
from .spectral_norm import remove_spectral_norm, spectral_norm
from .weight_norm import remove_weight_norm, weight_norm

_OFFERED = {
    **offered(clip_grad, convert_parameters, fusion, init),
    "clip_grad": clip_grad, "convert_parameters": convert_parameters,
    "stateless": stateless, "fusion": fusion, "init": init,
    "parametrizations": parametrizations,
    "parametrize": parametrize, "rnn": rnn,
    "spectral_norm": spectral_norm, "remove_spectral_norm": remove_spectral_norm,
    "weight_norm": weight_norm, "remove_weight_norm": remove_weight_norm,
}  # fmt: skip
globals().update(_OFFERED)
__all__ = sorted(_OFFERED)


def __getattr__(name: str) -> object:
    raise absent(__name__, name, __all__)
