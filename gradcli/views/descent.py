"""What `gradcli descend` shows: where the way down ended, and how it went.

Invariant: the values of the inputs are those that the loss was computed at.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

from ..lang.run import Input
from .numbers import Plain, plain


@dataclass(frozen=True, slots=True)
class ReachedView:
    """An input that was moved, and the value it was moved to."""

    name: str
    shape: tuple[int, ...]
    value: Plain


@dataclass(frozen=True, slots=True)
class DescentView:
    """The end of a descent; ``losses`` has that of each step on the way."""

    program: str
    device: str
    dtype: str
    seed: int
    optimizer: str
    lr: float
    output: str
    steps: int
    loss: float
    grad_norm: float
    stopped: str
    inputs: tuple[ReachedView, ...]
    losses: array[float]


def reached_views(inputs: Iterable[Input]) -> tuple[ReachedView, ...]:
    """The inputs in plain numbers, as they are now."""
    return tuple(
        ReachedView(i.name, tuple(i.tensor.shape), plain(i.tensor.raw)) for i in inputs
    )
