"""What ``--times`` shows: a matrix of derivatives times a vector.

Invariant: everything is on the host, in plain numbers, large arrays as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ..views.numbers import Shown
from .gradients import OutputView


@dataclass(frozen=True, slots=True)
class PartView:
    """The part of a vector or of a product that belongs to an input or the output."""

    name: str
    shape: tuple[int, ...]
    value: Shown

    @property
    def count(self) -> int:
        """How many numbers it has."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True)
class ProductView:
    """A product with a Jacobian or a Hessian.

    vector   by input
    product  of a Hessian by input, of a Jacobian of the output
    """

    command: str
    program: str
    device: str
    dtype: str
    output: OutputView
    vector: tuple[PartView, ...]
    product: tuple[PartView, ...]
