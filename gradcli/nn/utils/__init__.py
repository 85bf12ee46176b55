"""What is done to many parameters at once: clipping gradients, one vector of all."""

from typing import TYPE_CHECKING

from ...engine.absent import absent
from . import parametrize, rnn
from .clip import clip_grad_norm_, clip_grad_value_, get_total_norm
from .vector import parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "get_total_norm",
    "parameters_to_vector",
    "parametrize",
    "rnn",
    "vector_to_parameters",
]


if not TYPE_CHECKING:  # with it, a type checker would take any name

    def __getattr__(name):
        raise absent(__name__, name, __all__)
