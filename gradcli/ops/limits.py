"""How large one result may be: refused before it is made.

Invariant: sizes are counted from shapes and parameters alone. An entry of an array
counts 8 bytes in every number system; what a rule lists as numbers of Python's own
counts what those take.

    check_size((100_000, 100_000))      # LimitError: ... needs 80 GB
"""

from __future__ import annotations

from collections.abc import Sequence

from .checks import EngineError, count_of

BYTES_PER_ENTRY = 8

LISTED = 64
"""Bytes that a number, or a short range of them, takes in a list."""

PIECE = 512
"""Bytes that a tensor takes beside its entries."""


class LimitError(EngineError):
    """A result that would be larger than allowed; nothing was allocated."""


class Limit:
    """The largest result, in bytes and in entries; the one object that has it."""

    def __init__(self, size: int) -> None:
        self.set(size)

    def set(self, size: int) -> None:
        """Allow results of ``size`` bytes."""
        self.bytes = size
        self.entries = size // BYTES_PER_ENTRY


LIMIT = Limit(4 << 30)


def check_size(shape: Sequence[int], each: int = BYTES_PER_ENTRY) -> None:
    """Refuse a result of ``shape`` that is larger than allowed.

    Args:
        each: the bytes that one of its entries takes.

    Raises:
        LimitError: with the size that it would need.
    """
    size = count_of(shape) * each
    if size > LIMIT.bytes:
        raise LimitError(
            f"a result of shape {list(shape)} needs {size_text(size)}, "
            f"more than the {size_text(LIMIT.bytes)} allowed"
        )


def size_text(count: int) -> str:
    """Return bytes in words, as options take them: ``80 GB``."""
    for exponent, unit in ((12, "TB"), (9, "GB"), (6, "MB"), (3, "kB")):
        if count >= 10**exponent:
            amount = f"{count / 10**exponent:,.1f}".removesuffix(".0")
            return f"{amount} {unit}"
    return f"{count} bytes"
