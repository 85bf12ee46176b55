"""Jacobians and Hessians as text: a labelled block per input, or per pair of inputs;
and their products with a vector.

dy/dx  (2, 3)  dense
  [[1.0, 2.0, 3.0],
   [4.0, 5.0, 6.0]]

Hv[x] = [12.0, 0.0]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..answers.derivatives import BlockView, Derivative
from ..answers.products import Product
from ..lang.excerpt import printable
from ..views.numbers import plain, without_signs
from .dots import spy
from .gradients import derivative_label, derived, size_of
from .line import BLANK, Layout, Line, dim
from .line import plain as plain_line
from .numbers import SHORTENED, array_lines, bare_line, number, value_lines

MAX_TERMINAL_ENTRIES = 12
"""Number of entries of a sparse block that a terminal shows."""


def block_label(view: Derivative, block: BlockView) -> str:
    """Return a block's label: ``dy/dx``, or ``d2L/dx dz`` in a Hessian."""
    if len(block.by) == 1:
        return derivative_label(view.output, block.by[0])
    by = " ".join(f"d{printable(name)}" for name in block.by)
    return f"d2{derived(view.output)}/{by}"


def verdict_label(view: Derivative, block: BlockView) -> str:
    """Return the label of the verdict on a block; in a Hessian there is one verdict on
    all blocks with the same last input."""
    if len(block.by) == 1:
        return block_label(view, block)
    return f"d2{derived(view.output)}/d* d{printable(block.by[-1])}"


def blocks(view: Derivative, layout: Layout) -> Iterator[Line]:
    """Yield the blocks, and how they were computed."""
    for nr, block in enumerate(view.blocks):
        if nr:
            yield BLANK
        shape = f"  {size_of(block.shape)}  {block.structure}"
        yield Line((block_label(view, block), "name"), (shape, "dim"))
        if block.is_sparse:
            yield dim(f"  {_summary(block)}")
        if block.colours is not None:
            yield from spy(block.pattern, block.colours, layout, "  ")
        if block.file is not None:
            yield plain_line(f"  written to {printable(block.file)}")
        elif block.colours is None:
            yield from _entries(block, layout)
    if layout.cut:
        yield SHORTENED
    yield BLANK
    kind = {"rev": "backward", "fwd": "forward"}[view.mode]
    if not any(block.is_sparse for block in view.blocks):
        passes = "pass" if view.passes == 1 else "passes"
        yield dim(f"{view.passes} {kind} {passes}")
        return
    lines = "rows" if view.mode == "rev" else "columns"
    count = view.passes - (view.command == "hessian")
    yield dim(f"one {kind} pass" + (f" for all {count:,} {lines}" if count > 1 else ""))


def _summary(block: BlockView) -> str:
    """Return text on how many entries are stored, and how far from the diagonal."""
    pattern = block.pattern
    share = 100 * pattern.stored / max(1, pattern.entries)
    part = "100" if share == 100 else f"{share:.2g}"
    said = f"{pattern.stored:,} of {pattern.entries:,} entries stored ({part}%)"
    if block.structure == "block diagonal":
        height, width = (side // pattern.blocks for side in pattern.shape)
        return f"{said}, {pattern.blocks:,} blocks of {height} × {width}"
    if block.structure != "banded":
        return said
    return f"{said}, from {_beside(-pattern.below)} to {_beside(pattern.above)}"


def _beside(columns: int) -> str:
    """Return text on where a diagonal lies, relative to the main one."""
    if not columns:
        return "the diagonal"
    return f"{abs(columns)} {'above' if columns > 0 else 'below'}"


def _entries(block: BlockView, layout: Layout) -> Iterator[Line]:
    """Yield the numbers of a block."""
    pattern = block.pattern
    if block.value is not None:
        value = without_signs(block.value, *pattern.shape)
        yield from array_lines(value, "  ", layout)
    elif block.structure == "diagonal":
        along = np.zeros(pattern.shape[0], pattern.values.dtype)
        along[pattern.rows] = pattern.values
        yield from value_lines("  diagonal", plain(along), layout)
    elif block.structure == "block diagonal" and layout.rows is not None:
        height, width = (side // pattern.blocks for side in pattern.shape)
        inside = pattern.rows < height
        first = np.zeros((height, width), pattern.values.dtype)
        first[pattern.rows[inside], pattern.columns[inside]] = pattern.values[inside]
        yield from value_lines("  the first", plain(first), layout)
        layout.cut = True
    elif block.structure not in ("zero", "identity"):
        yield from _coordinates(block, layout)


def _coordinates(block: BlockView, layout: Layout) -> Iterator[Line]:
    """Yield a line per stored entry, with its index in the block's shape."""
    pattern = block.pattern
    most = pattern.stored if layout.rows is None else MAX_TERMINAL_ENTRIES
    places = pattern.rows[:most] * pattern.shape[1] + pattern.columns[:most]
    values: Any = plain(pattern.values[:most])
    # A derivative of a number by a number has one entry, whose index is empty.
    axes = np.unravel_index(places, block.shape) if block.shape else ()
    indices = zip(*map(np.ndarray.tolist, axes), strict=True) if axes else [()]
    for index, value in zip(indices, values, strict=False):
        label = ", ".join(map(str, index))
        yield Line((f"  [{label}] = ", "name"), (number(value), "number"))
    layout.cut = layout.cut or most < pattern.stored


def bare(view: Derivative) -> Iterator[Line]:
    """Yield each block on one line, without a label: its numbers or, if it is sparse,
    its rows, columns and values; where ``--spy`` is given, a picture instead."""
    for block in view.blocks:
        stored = block.stored
        if block.colours is not None:
            yield from spy(block.pattern, block.colours, Layout())
        elif stored is not None:
            lists = [stored.rows, stored.columns, stored.values]
            yield Line((repr(lists), "number"))
        elif block.file is None:
            yield bare_line(block.value)


def product_labels(view: Product) -> dict[str, str]:
    """Return the label of each part: ``Hv[x]`` for an input, or ``Jv``."""
    if view.command == "jacobian":
        return {part.name: "Jv" for part in view.products}
    return {part.name: f"Hv[{printable(part.name)}]" for part in view.products}


def products(view: Product, layout: Layout) -> Iterator[Line]:
    """Yield the product, and how it was computed; the verdicts come later."""
    called = product_labels(view)
    pad = max(map(len, called.values()))
    for part in view.products:
        yield from value_lines(called[part.name], part.value, layout, pad=pad)
    if layout.cut:
        yield SHORTENED
    yield BLANK
    through = "backward pass through the gradient"
    yield dim(f"one {'forward pass' if view.command == 'jacobian' else through}")


def bare_products(view: Product) -> Iterator[Line]:
    """Yield the product alone, a line for each part."""
    for part in view.products:
        yield bare_line(part.value)
