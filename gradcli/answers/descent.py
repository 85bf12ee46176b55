"""Answers of `gradcli descend`: the end of a descent, and each step's loss.

Invariant: the values of the inputs are those that the loss was computed at.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from ..lang.run import Input
from ..views.fields import HIDDEN, Device, DType, Shape
from ..views.numbers import Plain, plain


@dataclass(frozen=True, slots=True)
class ReachedView:
    """An input that was moved, and the value it was moved to."""

    name: str
    shape: Shape
    value: Plain


@dataclass(frozen=True, slots=True)
class StepLine:
    """One step of a descent, which is written on a line of its own.

    step       The number of steps taken.
    loss       The loss after these steps.
    grad_norm  The norm of the gradient of that loss.
    """

    line_of: ClassVar = "descend"

    step: int
    loss: float
    grad_norm: float


@dataclass(frozen=True, slots=True)
class DescentView:
    """Answer of `gradcli descend`: the end of a descent.

    program    The program's text.
    seed       The seed of random values.
    optimizer  The optimizer's name.
    lr         The learning rate of the optimizer.
    output     The name of the loss.
    steps      The number of steps taken.
    loss       The loss at the end.
    grad_norm  The norm of the gradient at the end.
    stopped    The reason for the end of the descent.
    inputs     The inputs that were moved.
    losses     the loss of each step, in order
    """

    command: ClassVar = "descend"

    program: str
    device: Device
    dtype: DType
    seed: int
    optimizer: str
    lr: float
    output: str
    steps: int
    loss: float
    grad_norm: float
    stopped: str
    inputs: tuple[ReachedView, ...]
    losses: array[float] = field(metadata=HIDDEN)


def reached_views(inputs: Iterable[Input]) -> tuple[ReachedView, ...]:
    """Return the inputs with their present values as plain numbers."""
    return tuple(
        ReachedView(i.name, tuple(i.tensor.shape), plain(i.tensor.raw)) for i in inputs
    )
