"""How large one result may be: checked before it is allocated.

Invariant: what broadcasting, products and constructors are about to make is counted
from shapes alone. One entry counts 8 bytes in every number system.

    check_size((100_000, 100_000))      # LimitError: ... needs 74.5 GiB
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ops.checks import broadcast_shape, count_of
from .errors import LimitError

BYTES_PER_ENTRY = 8


class Limit:
    """The largest result, in bytes and in entries; the one place that holds it."""

    def __init__(self, size: int) -> None:
        self.set(size)

    def set(self, size: int) -> None:
        """Allow results of ``size`` bytes."""
        self.bytes = size
        self.entries = size // BYTES_PER_ENTRY


LIMIT = Limit(4 << 30)


def check_size(shape: Sequence[int]) -> None:
    """Refuse a result of ``shape`` that is larger than allowed.

    Raises:
        LimitError: with the size that it would need.
    """
    count = count_of(shape)
    if count > LIMIT.entries:
        needed = count * BYTES_PER_ENTRY / (1 << 30)
        raise LimitError(
            f"a result of shape {list(shape)} needs {needed:,.1f} GiB, "
            f"more than the {LIMIT.bytes / (1 << 30):.3g} GiB allowed"
        )


def check_broadcast(operands: Sequence[Any]) -> None:
    """Refuse operands whose broadcast result is larger than allowed."""
    most = 1
    for operand in operands:
        most *= getattr(operand, "size", 1)
    if most > LIMIT.entries:
        check_size(broadcast_shape(*[getattr(o, "shape", ()) for o in operands]))


def check_product(a: Sequence[int], b: Sequence[int]) -> None:
    """Refuse a matrix product whose result is larger than allowed."""
    rows = a[-2:-1]
    columns = b[-1:] if len(b) > 1 else ()
    check_size((*broadcast_shape(a[:-2], b[:-2]), *rows, *columns))


def check_einsum(equation: str, shapes: Sequence[Sequence[int]]) -> None:
    """Refuse an einsum whose result is larger than allowed.

    What does not fit its equation is left for the array module to word.
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
