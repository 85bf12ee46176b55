"""What several of the functions here compute with, and PyTorch does not offer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

from ...engine.dtypes import bool_
from ...engine.record import call
from ...engine.tensor import Tensor

run = cast("Callable[..., Tensor]", call)
"""A function of the table, known to give one tensor."""


def check_probability(p: float) -> None:
    """Raise ValueError for a number that is no probability."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def with_mask(scores: Tensor, allowed: Tensor) -> Tensor:
    """Set scores to -inf where a mask is False, or add a mask of numbers to them."""
    if allowed.dtype == bool_:
        return scores.masked_fill(allowed.logical_not(), -math.inf)
    return scores + allowed
