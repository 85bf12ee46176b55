"""Limits of the engine, with their units, and checks of what would exceed them.

Invariant: the sizes of broadcast results and products are computed from shapes before
anything is allocated; `gradcli.ops.limits` says how much is allowed.

    check_product((100_000, 1), (1, 100_000))      # LimitError: ... needs 80 GB
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ops.checks import broadcast_shape, count_of
from ..ops.limits import LIMIT, check_size
from .raw import Raw

MAX_NUMBER_OF_ALL_TYPES = 127
"""The largest number that every type of numbers holds."""

BYTES_OF_HALF_FLOAT = 2


def check_broadcast(operands: Sequence[Raw]) -> None:
    """Raise an error if the broadcast result of operands is larger than allowed."""
    most = 1
    for operand in operands:
        most *= getattr(operand, "size", 1)
    if most > LIMIT.entries:
        check_size(broadcast_shape(*[getattr(o, "shape", ()) for o in operands]))


def check_join(tensors: Sequence[Raw]) -> None:
    """Raise an error if tensors are larger together than allowed."""
    check_size((sum([t.size for t in tensors]),))


def check_product(a: Sequence[int], b: Sequence[int]) -> None:
    """Raise an error if the result of a matrix product is larger than allowed."""
    rows = a[-2:-1]
    columns = b[-1:] if len(b) > 1 else ()
    check_size((*broadcast_shape(a[:-2], b[:-2]), *rows, *columns))


def check_einsum(equation: str, shapes: Sequence[Sequence[int]]) -> None:
    """Raise an error if the result of an einsum is larger than allowed.

    Operands that do not fit the equation pass; the array module raises the error.
    """
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    once = [c for c in inputs if c.isalpha() and inputs.count(c) == 1]
    sizes: dict[str, int] = {}
    unnamed = 1
    for letters, shape in zip(inputs.split(","), shapes, strict=False):
        head, dots, tail = letters.partition("...")
        end = len(shape) - len(tail)
        sizes.update(zip(head, shape, strict=False))
        sizes.update(zip(tail, shape[end:], strict=False))
        if dots:
            unnamed = max(unnamed, count_of(shape[len(head) : end]))
    named = output.replace("...", "") if arrow else once
    check_size([unnamed, *[sizes.get(letter, 1) for letter in named]])
