"""Jacobians and Hessians of a recorded output.

Invariant: a block's shape is the output's followed by the input's, as in PyTorch; both
modes give the same numbers by different rules, reverse mode from `vjp`, forward mode
from `jvp` and the partials.

    result = jacobian(y, [x])            # y of shape (2,), x of shape (3,)
    result.blocks[0].shape               # (2, 3)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..engine import Tensor, grad, no_grad
from ..engine.errors import NOT_SCALAR, EngineError, GradError
from .columns import columns_of
from .rows import blocks_of, zeros

Mode: TypeAlias = Literal["auto", "rev", "fwd"]

ENTRIES_LIMIT = 1 << 27
"""Most entries of all blocks together: 1 GiB in float64."""


class TooManyEntries(EngineError):
    """The blocks would not fit into memory; said before they are computed."""


@dataclass(frozen=True, slots=True)
class Jacobian:
    """One block per input, how they were computed and in how many passes."""

    blocks: tuple[Tensor, ...]
    mode: Literal["rev", "fwd"]
    passes: int


def jacobian(output: Tensor, inputs: Sequence[Tensor], mode: Mode = "auto") -> Jacobian:
    """The derivative of every entry of ``output`` by every entry of ``inputs``.

    Args:
        output: a recorded tensor of any shape.
        inputs: leaves of its graph, or others, whose blocks are zero.
        mode: ``rev`` takes a backward pass per entry of the output, ``fwd`` a forward
            pass per entry of the inputs; ``auto`` takes whichever is fewer.

    Raises:
        TooManyEntries: the blocks together are larger than `ENTRIES_LIMIT`.
    """
    rows, columns = output.numel(), sum(x.numel() for x in inputs)
    _check_size(rows * columns)
    forward = mode == "fwd" or (mode == "auto" and columns < rows)
    with no_grad():
        if forward:
            blocks = [columns_of([output], x)[0] for x in inputs]
            return Jacobian(tuple(blocks), "fwd", columns)
        return Jacobian(tuple(blocks_of(output, inputs)), "rev", rows)


def hessian(output: Tensor, inputs: Sequence[Tensor]) -> list[list[Tensor]]:
    """The second derivatives of a scalar: a block per pair of inputs.

    Raises:
        GradError: the output has more than one entry.
        TooManyEntries: the blocks together are larger than `ENTRIES_LIMIT`.
    """
    if output.numel() != 1:
        raise GradError(NOT_SCALAR)
    _check_size(sum(x.numel() for x in inputs) ** 2)
    seed = Tensor(output.xp.ones_like(output.raw), output.xp)
    first = grad([output], inputs, [seed], retain_graph=True, create_graph=True)
    return [
        [zeros(output, (*x.shape, *z.shape)) for z in inputs]
        if gradient is None
        else blocks_of(gradient, inputs)
        for x, gradient in zip(inputs, first, strict=True)
    ]


def _check_size(entries: int) -> None:
    if entries > ENTRIES_LIMIT:
        raise TooManyEntries(
            f"{entries:,} entries are more than the limit of {ENTRIES_LIMIT:,}"
        )
