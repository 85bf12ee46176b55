"""A rectifier whose slopes are drawn.

Invariant: slopes come of the generator that all draws come of, one for each entry.
"""

from __future__ import annotations

from ...engine.changes import change
from ...engine.draws import uniform
from ...engine.tensor import Tensor
from .shared import run


def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3,
    training: bool = False, inplace: bool = False,
) -> Tensor:  # fmt: skip
    """``input`` where it is positive, else times a slope (Xu et al. 2015).

    Args:
        lower, upper: between what slopes are drawn; their mean is the slope out of
            training.
        training: draw a slope for each entry.
        inplace: change the input.
    """
    if inplace:
        return rrelu_(input, lower, upper, training)
    return run(
        "rrelu",
        input,
        lower,
        upper,
        training,
        _slopes(input, lower, upper) if training else None,
    )


def rrelu_(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3,
    training: bool = False,
) -> Tensor:  # fmt: skip
    """`rrelu`, in place."""
    changed: Tensor = change(input, lambda old: rrelu(old, lower, upper, training))
    return changed


def _slopes(input: Tensor, lower: float, upper: float) -> Tensor:
    drawn = uniform(tuple(input.shape), input.raw.dtype.name, None)
    return Tensor(input.xp.array(lower + drawn * (upper - lower)), input.xp)
