"""What is done to many gradients at once, to a module's weights, and to sequences.

Clipping gradients, weights of given lengths, packed sequences.
"""

from ...engine.absent import absent, offered
from . import clip_grad, rnn, stateless, weights

_OFFERED = {
    **offered(clip_grad, weights), "clip_grad": clip_grad, "rnn": rnn,
    "stateless": stateless,
}  # fmt: skip
del _OFFERED["WeightNorm"], _OFFERED["SpectralNorm"]
globals().update(_OFFERED)
__all__ = sorted(_OFFERED)


def __getattr__(name: str) -> object:
    raise absent(__name__, name, __all__)


def __dir__() -> list[str]:
    return __all__
