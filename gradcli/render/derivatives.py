"""Jacobians and Hessians as text: a labelled block per input, or per pair of inputs.

dy/dx  (2, 3)  dense
  [[1.0, 2.0, 3.0],
   [4.0, 5.0, 6.0]]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..lang.excerpt import printable
from ..views.derivatives import BlockView, DerivativeView
from .arrays import SHORTENED
from .gradients import derivative_label, derived
from .line import BLANK, Layout, Line, Role
from .numbers import draw, inline
from .verdicts import VerificationLike


def block_label(view: DerivativeView, block: BlockView) -> str:
    """``dy/dx``, or ``d2L/dx dz`` in a Hessian."""
    if len(block.by) == 1:
        return derivative_label(view.output, block.by[0])
    by = " ".join(f"d{printable(name)}" for name in block.by)
    return f"d2{derived(view.output)}/{by}"


def row_label(view: DerivativeView, block: BlockView) -> str:
    """What the verdict on a block's first input is about: its row of blocks."""
    if len(block.by) == 1:
        return block_label(view, block)
    return f"d2{derived(view.output)}/d{printable(block.by[0])} d*"


def blocks(view: DerivativeView, layout: Layout) -> Iterator[Line]:
    """The blocks, and how they were computed."""
    cut = False
    for place, block in enumerate(view.blocks):
        if place:
            yield BLANK
        shape = "(" + ", ".join(map(str, block.shape)) + ")"
        yield Line(
            (
                (block_label(view, block), "name"),
                (f"  {shape}  {block.structure}", "dim"),
            )
        )
        room = None if layout.width is None else max(8, layout.width - 2)
        lines, shortened = draw(block.value, Layout(room, layout.rows))
        for text in lines:
            yield Line((("  " + text, "number"),))
        cut = cut or shortened
    if cut:
        yield SHORTENED
    yield BLANK
    kind = {"rev": "backward", "fwd": "forward"}[view.mode]
    passes = f"{view.passes} {kind} {'pass' if view.passes == 1 else 'passes'}"
    yield Line(((passes, "dim"),))


def formulas(
    verification: VerificationLike, labels: Mapping[str, str]
) -> Iterator[Line]:
    """The blocks as formulas, where the check found short ones."""
    yield BLANK
    for found in verification.inputs:
        label = labels.get(found.name, found.name)
        text = printable(found.closed_form or "no short formula was found")
        role: Role = "plain" if found.closed_form else "dim"
        yield Line(((label, "name"), (" = ", "plain"), (text, role)))


def bare(view: DerivativeView) -> Iterator[Line]:
    """The blocks alone, one a line."""
    for block in view.blocks:
        yield Line(((inline(block.value), "number"),))
