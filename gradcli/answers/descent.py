"""Answers of `gradcli descend`: the end of a descent, and each step's loss.

Invariant: the values of the inputs are those that the loss was computed at.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from shlex import quote
from typing import ClassVar

from ..lang.excerpt import printable
from ..lang.run import Input
from .fields import HIDDEN, Device, DType, Shape
from .line import BLANK, Layout, Line
from .numbers import ELLIPSIS, SHORTENED, Plain, inline, number, plain


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


MAX_BINDING_CHARACTERS = 600
"""Largest length of an input's value that a terminal shows, in characters."""

OUTCOMES = {
    "steps": "after {} steps",
    "tolerance": "after {} steps, within the tolerance",
    "interrupted": "interrupted after {} steps",
    "still": "the inputs no longer change after {} steps",
    "diverged": "after {} steps, the last with finite values",
}
"""Texts on how a descent ended, by what stopped it."""


def step_line(step: int, loss: float, grad_norm: float) -> Line:
    """Return the line of one step, in which every second word is a number."""
    return Line(
        (f"step {step}", "dim"),
        ("  loss ", "plain"),
        (number(loss), "number"),
        ("  grad_norm ", "dim"),
        (number(grad_norm), "number"),
    )


def end(view: DescentView, layout: Layout) -> Iterator[Line]:
    """Yield the loss that was reached and the values to paste; in a terminal the curve,
    too."""
    if layout.rows is not None and len(view.losses) > 1:
        from .curves import curve

        yield from curve(view.losses, printable(view.output), layout.width or 0)
        yield BLANK
    outcome = OUTCOMES[view.stopped].format(f"{view.steps:,}")
    if view.steps == 1:
        outcome = outcome.replace("steps", "step")
    yield Line(
        (printable(view.output), "name"),
        (" = ", "plain"),
        (number(view.loss), "number"),
        (f"  {outcome}", "dim"),
    )
    yield Line(("grad_norm", "name"), (f" = {number(view.grad_norm)}", "plain"))
    yield BLANK
    for given in view.inputs:
        text = quote(_binding(given))
        brief = layout.rows is not None or view.stopped == "interrupted"
        if brief and len(text) > MAX_BINDING_CHARACTERS:
            text = text[:MAX_BINDING_CHARACTERS] + ELLIPSIS
            layout.cut = True
        yield Line((text, "number"), hang="")
    if layout.cut:
        yield SHORTENED


def plain_values(view: DescentView) -> Iterator[Line]:
    """Yield the values alone, one a line, without blanks, so that a shell splits them.

    gradcli grad "$loss" $(gradcli descend -q "$loss" w=0 b=0)
    """
    for given in view.inputs:
        yield Line((_binding(given), "number"))


def _binding(given: ReachedView) -> str:
    """Return ``w=[1.0,2.0]``: an argument that gives the input this value again."""
    return f"{printable(given.name)}={inline(given.value).replace(' ', '')}"
