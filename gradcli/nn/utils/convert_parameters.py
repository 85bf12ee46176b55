"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from ...engine.record import call
from ...engine.tensor import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """One vector of all entries; it is recorded, as any concatenation."""
    vector: Tensor = call("cat", [p.reshape(-1) for p in parameters])
    return vector


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Let the parameters hold a vector's entries, in order; the memory is shared."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    start = 0
    for parameter in parameters:
        count = parameter.numel()
        part = vec.detach()[start : start + count]
        parameter.data = part.reshape(tuple(parameter.shape))
        start += count
