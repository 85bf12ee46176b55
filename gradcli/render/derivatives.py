"""Jacobians and Hessians as text: a labelled block per input, or per pair of inputs.

dy/dx  (2, 3)  dense
  [[1.0, 2.0, 3.0],
   [4.0, 5.0, 6.0]]
"""

from __future__ import annotations

from collections.abc import Iterator

from ..lang.excerpt import printable
from ..views.derivatives import BlockView, DerivativeView
from .arrays import SHORTENED, array_lines
from .gradients import derivative_label, derived
from .line import BLANK, Layout, Line
from .numbers import inline


def block_label(view: DerivativeView, block: BlockView) -> str:
    """``dy/dx``, or ``d2L/dx dz`` in a Hessian."""
    if len(block.by) == 1:
        return derivative_label(view.output, block.by[0])
    by = " ".join(f"d{printable(name)}" for name in block.by)
    return f"d2{derived(view.output)}/{by}"


def verdict_label(view: DerivativeView, block: BlockView) -> str:
    """What the verdict on a block's last input is about: its column of blocks."""
    if len(block.by) == 1:
        return block_label(view, block)
    return f"d2{derived(view.output)}/d* d{printable(block.by[-1])}"


def blocks(view: DerivativeView, layout: Layout) -> Iterator[Line]:
    """The blocks, and how they were computed."""
    cut = False
    for nr, block in enumerate(view.blocks):
        if nr:
            yield BLANK
        shape = "(" + ", ".join(map(str, block.shape)) + ")"
        yield Line(
            (
                (block_label(view, block), "name"),
                (f"  {shape}  {block.structure}", "dim"),
            )
        )
        shortened = yield from array_lines(block.value, "  ", layout)
        cut = cut or shortened
    if cut:
        yield SHORTENED
    yield BLANK
    kind = {"rev": "backward", "fwd": "forward"}[view.mode]
    passes = f"{view.passes} {kind} {'pass' if view.passes == 1 else 'passes'}"
    yield Line(((passes, "dim"),))


def bare(view: DerivativeView) -> Iterator[Line]:
    """The blocks alone, one a line."""
    for block in view.blocks:
        yield Line(((inline(block.value), "number"),))
