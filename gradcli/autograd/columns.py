"""Jacobian blocks from forward passes, one per entry of an input.

Invariant: the same blocks as `gradcli.autograd.rows` gives, by the other mode.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..engine.forward import jvp
from ..engine.tensor import Tensor
from .rows import assemble, units, zeros


def columns_of(
    outputs: Sequence[Tensor], x: Tensor, create_graph: bool = False
) -> list[Tensor]:
    """The block of each output by ``x``, recorded if ``create_graph``."""
    shapes = [(*y.shape, *x.shape) for y in outputs]
    if x.edge is None:
        return [zeros(x, shape) for shape in shapes]
    passes = [jvp(outputs, [x], [unit], create_graph) for unit in units(x)]
    return [
        assemble([column[nr] for column in passes], y, shape, tuple(y.shape), -1)
        for nr, (y, shape) in enumerate(zip(outputs, shapes, strict=True))
    ]
