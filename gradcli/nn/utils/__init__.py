"""What is done to many parameters at once: clipping gradients, one vector of all."""

from .clip import clip_grad_norm_, clip_grad_value_, get_total_norm
from .vector import parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "get_total_norm",
    "parameters_to_vector",
    "vector_to_parameters",
]
