"""Layouts of entries in memory: at fixed steps along each dimension.

Invariant: what is made like another tensor keeps the order of its dimensions in memory
and leaves no gaps, so that a copy of a transposed matrix is a transposed matrix.

    torch.zeros(2, layout=torch.strided).layout     # torch.strided
    inner_first((2, 3), (1, 2))                     # [0, 1]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ops import KEPT, PACKED, Formula, Op
from ..ops.checks import broadcast_shape
from ..ops.index import dims_read, entries_at
from ..ops.op import READ
from ..ops.types import Array
from .namespace import Namespace
from .raw import Raw


class layout:
    """A layout of entries in memory; ``strided`` is the only one."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


PRESERVING = (None, "preserve")
"""Memory formats that give a new tensor the layout of the one that it is like."""

strided = layout("strided")
"""Layout of entries at fixed steps along each dimension."""


def inner_first(shape: Sequence[int], *operands: Sequence[int]) -> list[int]:
    """Return the dimensions of a new tensor in the order in memory, the inner first.

    It is PyTorch's order for a tensor made like another, or from several of one shape:
    by the strides of the first operand, where they are equal by the sizes, then by the
    strides of the next operand. A dimension along which an operand repeats entries (its
    stride is 0) stays where it is.

    Args:
        operands: the strides of each operand.
    """
    order = list(reversed(range(len(shape))))
    for start in range(1, len(order)):
        at = start
        for inner in reversed(range(start)):
            verdict = _compared(order[inner], order[at], shape, operands)
            if verdict < 0:
                break
            if verdict:
                order[inner], order[at] = order[at], order[inner]
                at = inner
    return order


def _compared(
    a: int, b: int, shape: Sequence[int], operands: Sequence[Sequence[int]]
) -> int:
    """Return 1 if ``a`` is an outer dimension to ``b``, -1 if inner, 0 if either."""
    for strides in operands:
        if not strides[a] or not strides[b]:
            continue
        if strides[a] != strides[b]:
            return 1 if strides[a] > strides[b] else -1
        if shape[a] > shape[b]:
            return 1
    return 0


def order_read(x: Raw, strides: Sequence[int], at: Sequence[slice | Raw]) -> list[int]:
    """Return the dimensions of ``x[at]`` in PyTorch's order in memory, the inner first.

    The order is that of the dimensions read whole, then that of the positions.

    Args:
        strides: those of ``x``.
    """
    lists: list[tuple[Sequence[int], Sequence[int]]] = []
    whole: list[int] = []
    listed: list[int] = []
    for item in at:
        dim = len(whole) + len(listed)
        if isinstance(item, slice):
            whole.append(dim)
            continue
        listed += range(dim, dim + dims_read(item))
        mask = item.dtype.kind == "b"
        lists.append(((int(item.sum()),), (1,)) if mask else (item.shape, item.strides))
    whole += range(len(whole) + len(listed), x.ndim)
    # Positions in dimensions that lie apart come first.
    adjacent = listed[-1] - listed[0] < len(listed)
    before = [d for d in whole if adjacent and d < listed[0]]
    after = whole[len(before) :]
    common = broadcast_shape(*[shape for shape, _ in lists])
    sizes = [x.shape[d] for d in whole]
    sizes[len(before) : len(before)] = common
    read = [strides[d] for d in whole]
    read[len(before) : len(before)] = [0] * len(common)
    places = []
    for shape, steps in lists:
        missing = len(common) - len(shape)
        pairs = zip(shape, common[missing:], steps, strict=True)
        spread = [*[0] * missing, *[s if n == size else 0 for n, size, s in pairs]]
        # A dimension of one entry repeats nothing, so its step may be any number but 0.
        outer, inner = (common[0] * spread[0], spread[-1]) if common else (1, 1)
        left = [outer if x.shape[d] == 1 else 0 for d in before]
        right = [inner if x.shape[d] == 1 else 0 for d in after]
        places.append([*left, *spread, *right])
    return inner_first(sizes, read, *places)


def laid_out(raw: Raw, shape: Sequence[int], strides: Sequence[int]) -> Raw:
    """Return entries, given in the order of memory, as an array of such strides."""
    outer_first = inner_first(shape, strides)[::-1]
    turned = raw.reshape([shape[d] for d in outer_first])
    return turned.transpose([outer_first.index(d) for d in range(len(shape))])


def _as_read(xp: Any, y: Raw, x: Raw, indices: Sequence[object]) -> Any:
    """Return entries that were read at positions in PyTorch's layout, which differs
    where the operand or the positions are not contiguous."""
    arrays = [each for each in indices if hasattr(each, "flags")]
    if xp.is_contiguous(x) and all(each.flags.c_contiguous for each in arrays):
        return xp.packed(y)
    at: Any = entries_at(xp, indices)
    return xp.packed_in(y, order_read(x, xp.geometry(x)[0], at)[::-1])


_ARRANGED: dict[object, Callable[..., Array]] = {
    PACKED: lambda xp, y, x, **params: xp.packed(y),
    KEPT: lambda xp, y, x, **params: xp.in_order_of(y, x),
    READ: _as_read,
}


def placed(op: Op) -> Formula:
    """Return the row's formula, with results in the memory layout of the row."""
    fwd, arrange = _widened(op.fwd) if op.wide else op.fwd, _ARRANGED.get(op.memory)
    if arrange is None:
        return fwd

    def run(xp: Namespace, *inputs: object, **params: object) -> Any:
        y = fwd(xp, *inputs, **params)
        if isinstance(y, tuple):
            return tuple([arrange(xp, part, inputs[0], **params) for part in y])
        return arrange(xp, y, inputs[0], **params)

    return run


def _widened(fwd: Formula) -> Formula:
    """Return a formula that computes half-precision operands in single precision."""

    def run(xp: Namespace, x: Any, *others: Any, **params: object) -> Any:
        if xp.symbolic or x.dtype is not HALF:
            return fwd(xp, x, *others, **params)
        wide = [
            r.astype("float32") if getattr(r, "dtype", None) == HALF else r
            for r in (x, *others)
        ]
        return fwd(xp, *wide, **params).astype(HALF)

    def alone(xp: Namespace, x: Any) -> Any:
        return fwd(xp, x) if xp.symbolic or x.dtype is not HALF else run(xp, x)

    takes = fwd.__code__.co_argcount + fwd.__code__.co_kwonlyargcount
    return alone if takes == OPERANDS else run


HALF = np.dtype("float16")
OPERANDS = 2
"""Number of parameters of a formula of one operand: its namespace and the operand."""
