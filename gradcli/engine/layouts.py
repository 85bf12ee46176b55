"""How entries lie in memory: at steps, as every tensor's do here.

Invariant: what is made like another tensor keeps the order of its dimensions in memory
and leaves no gaps, so that a copy of a transposed matrix is a transposed matrix.

    torch.zeros(2, layout=torch.strided).layout     # torch.strided
    inner_first((2, 3), (1, 2))                     # [0, 1]
"""

from __future__ import annotations

from collections.abc import Sequence

from .raw import Raw


class layout:
    """A way to lie in memory; ``strided`` is the one there is."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


PRESERVING = (None, "preserve")
"""The memory formats with which a new tensor lies as the one that it is like."""

strided = layout("strided")
"""Entries at fixed steps along each dimension."""


def inner_first(shape: Sequence[int], strides: Sequence[int]) -> list[int]:
    """The dimensions in the order in which a tensor without gaps has them in memory.

    PyTorch's order for what it makes like a tensor: by strides, of equal ones by sizes;
    a dimension that repeats entries (its stride is 0) stays where it is.
    """
    order = list(reversed(range(len(shape))))
    for start in range(1, len(order)):
        at = start
        for inner in reversed(range(start)):
            verdict = _compared(order[inner], order[at], shape, strides)
            if verdict < 0:
                break
            if verdict:
                order[inner], order[at] = order[at], order[inner]
                at = inner
    return order


def _compared(a: int, b: int, shape: Sequence[int], strides: Sequence[int]) -> int:
    """Return 1 if dimension ``a`` lies outside of ``b``, -1 if inside; 0: unknown."""
    if not strides[a] or not strides[b]:
        return 0
    if strides[a] != strides[b]:
        return 1 if strides[a] > strides[b] else -1
    return int(shape[a] > shape[b])


def laid_out(raw: Raw, shape: Sequence[int], strides: Sequence[int]) -> Raw:
    """Arrange entries given in the order of memory as a tensor's dimensions lie."""
    outer_first = inner_first(shape, strides)[::-1]
    turned = raw.reshape([shape[d] for d in outer_first])
    return turned.transpose([outer_first.index(d) for d in range(len(shape))])
