"""A descent as text: a line per step, then where it ended.

step 40  loss 2.1e-09  grad_norm 7.3e-05

loss = 2.1e-09
w=3.0
b=-1.0
"""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from ..answers.descent import DescentView, ReachedView
from ..lang.excerpt import printable
from .line import BLANK, Layout, Line
from .numbers import ELLIPSIS, SHORTENED, inline, number

MAX_BINDING_CHARACTERS = 600
"""Largest length of an input's value that a terminal shows, in characters."""

OUTCOMES = {
    "steps": "after {} steps",
    "tolerance": "after {} steps, within the tolerance",
    "interrupted": "interrupted after {} steps",
    "still": "it no longer moves after {} steps",
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
        from .dots import curve

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


def bare(view: DescentView) -> Iterator[Line]:
    """Yield the values alone, one a line, without blanks, so that a shell splits them.

    gradcli grad "$loss" $(gradcli descend -q "$loss" w=0 b=0)
    """
    for given in view.inputs:
        yield Line((_binding(given), "number"))


def _binding(given: ReachedView) -> str:
    """Return ``w=[1.0,2.0]``: an argument that gives the input this value again."""
    return f"{printable(given.name)}={inline(given.value).replace(' ', '')}"
