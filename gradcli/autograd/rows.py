"""Jacobian blocks from reverse passes, one per entry of an output.

Invariant: a block's shape is the output's followed by the input's; an input that the
output does not depend on has a block of zeros.

    (block,) = blocks_of(y, [x], create_graph=False)     # y.shape + x.shape
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..engine.backward import grad
from ..engine.record import call
from ..engine.tensor import Tensor


def units(like: Tensor) -> list[Tensor]:
    """The tensors of a shape that are one at one entry and zero elsewhere."""
    made = []
    for place in range(like.numel()):
        flat = like.xp.zeros_like(like.raw).reshape(-1)
        flat[place] = 1
        made.append(Tensor(flat.reshape(tuple(like.shape)), like.xp))
    return made


def zeros(like: Tensor, shape: Sequence[int]) -> Tensor:
    """Zeros of a shape, of the tensor's kind."""
    return Tensor(like.xp.new_full(like.raw, tuple(shape), 0), like.xp)


def rows_of(
    output: Tensor, inputs: Sequence[Tensor], create_graph: bool
) -> list[list[Tensor | None]]:
    """Per entry of ``output`` its gradient by each input; the graph is retained."""
    return [
        grad([output], inputs, [unit], retain_graph=True, create_graph=create_graph)
        for unit in units(output)
    ]


def blocks_of(
    output: Tensor, inputs: Sequence[Tensor], create_graph: bool = False
) -> list[Tensor]:
    """A block per input, recorded if ``create_graph``."""
    shapes = [(*output.shape, *x.shape) for x in inputs]
    if output.edge is None:
        return [zeros(x, shape) for x, shape in zip(inputs, shapes, strict=True)]
    rows = rows_of(output, inputs, create_graph)
    return [
        assemble([row[place] for row in rows], x, shapes[place], tuple(x.shape), 0)
        for place, x in enumerate(inputs)
    ]


def assemble(
    parts: Sequence[Tensor | None],
    like: Tensor,
    shape: tuple[int, ...],
    part_shape: tuple[int, ...],
    dim: int,
) -> Tensor:
    """One block of its rows (``dim`` 0) or columns (-1); a missing one is zeros."""
    if not prod(shape) or all(part is None for part in parts):
        return zeros(like, shape)
    empty = zeros(like, part_shape)
    full = [empty if part is None else part for part in parts]
    stacked: Tensor = call("stack", full, dim)
    found: Tensor = call("reshape", stacked, shape)
    return found
