"""Operations that read entries by integers, slices, lists of positions, or masks.

Each row that reads has a transpose, ``name.backward``: zeros with the cotangent
written, or added, at the positions read. The two are each other's reverse rules, so
every order of derivative exists.

    x[0, 1:]        # SliceBackward0(SelectBackward0(x))
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TypeVar

from .checks import broadcast_shape, count_of, dim_of, refuse
from .limits import LIMIT, check_size
from .op import LINEAR, READ, VIEW, Fixed, case, function, row
from .types import Array, Entries, Namespace, Place, Positions, Shape

# fmt: off

P = TypeVar("P")


def along(dim: int, item: P) -> tuple[slice | P, ...]:
    """Return an index with ``item`` for dimension ``dim`` and slices of all before."""
    return (*[slice(None)] * dim, item)


def as_view(index: tuple[Place, ...]) -> tuple[Place, ...]:
    """Return an index that reads a lone entry as an array of shape (), not a number."""
    return (*index, ...)


def select_at(shape: Shape, dim: int, index: int) -> tuple[Place, ...]:
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d = dim_of(shape, dim)
    if not -shape[d] <= index < shape[d]:
        raise IndexError(f"select(): index {index} out of range for tensor of size "
                         f"{list(shape)} at dimension {d}")
    return along(d, int(index))


def slice_at(
    shape: Shape, dim: int, start: int | None, end: int | None, step: int
) -> tuple[Place, ...]:
    if step <= 0:
        raise ValueError("step must be greater than zero")
    return along(dim_of(shape, dim), slice(start, end, step))


OUTSIDE = "index {at} is out of bounds for dimension {dim} with size {size}"


def check_positions(
    xp: Namespace, size: int, dim: int, at: Positions,
    kind: type[Exception] = IndexError, words: str = OUTSIDE, from_end: bool = True,
) -> None:  # fmt: skip
    """Raise ``kind`` for an index array with a position outside a dimension.

    Index arrays are always checked, because GPU libraries wrap positions around; on a
    GPU the error is raised when values are next read.

    Args:
        words: the message, with fields ``at``, ``dim`` and ``size``.
        from_end: whether negative positions count from the end.
    """
    if not at.size:
        return
    extremes = xp.extremes(at)

    def check() -> None:
        for extreme in map(int, extremes):
            if not (-size if from_end else 0) <= extreme < size:
                raise kind(words.format(at=extreme, dim=dim, size=size))

    xp.later(check)


def is_mask(item: object) -> bool:
    return hasattr(item, "dtype") and bool(item.dtype.kind == "b")


BYTES_ARE_MASKS = (
    "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool "
    "instead."
)


def byte_as_mask(xp: Namespace, item: Array) -> Array:
    """Return an index of dtype uint8 as a mask of bools, with PyTorch's warning that
    this use is deprecated; return any other index unchanged."""
    if not hasattr(item, "dtype") or item.dtype.kind != "u" or item.dtype.itemsize > 1:
        return item
    warnings.warn(BYTES_ARE_MASKS, UserWarning, stacklevel=2)
    return xp.ne(item, 0)


def check_mask(shape: Shape, dim: int, mask: Array, named: int) -> None:
    """Raise unless a mask has the sizes of the dimensions from ``dim`` on.

    Args:
        named: the dimension that the message names.
    """
    if tuple(mask.shape) != shape[dim : dim + mask.ndim]:
        raise IndexError(
            f"The shape of the mask {list(mask.shape)} at index {named} does not "
            f"match the shape of the indexed tensor {list(shape)} at index {named}")


def entries_at(xp: Namespace, indices: Sequence[object]) -> Entries:
    """Return lists and masks as arrays, and None as a slice of the whole dimension."""
    return tuple([slice(None) if i is None else xp.as_index(i) for i in indices])


def dims_read(item: slice | Positions) -> int:
    """Return how many dimensions an item of an index reads: a mask has several."""
    return 1 if isinstance(item, slice) or not is_mask(item) else item.ndim


def checked_entries(xp: Namespace, shape: Shape, indices: Sequence[object]) -> Entries:
    """Return ``entries_at(xp, indices)``; raise if an index does not fit ``shape``."""
    at = entries_at(xp, indices)
    counts = [dims_read(i) for i in at]
    if sum(counts) > len(shape):
        raise IndexError(f"too many indices for tensor of dimension {len(shape)} "
                         f"(got {sum(counts)})")
    dim = 0
    for i, count in zip(at, counts, strict=True):
        if isinstance(i, slice):
            pass
        elif is_mask(i):
            check_mask(shape, dim, i, dim)
        else:
            check_positions(xp, shape[dim], dim, i)
        dim += count
    return at


def checked_size(shape: Shape, at: Entries) -> Entries:
    """Return ``at``; raise if it reads more entries of ``shape`` than allowed."""
    arrays = [i for i in at if not isinstance(i, slice)]
    if count_of([*shape, *[i.size for i in arrays]]) > LIMIT.entries:
        marked = [dims_read(i) for i in at]
        sizes = [n for i, n in zip(at, shape, strict=False) if isinstance(i, slice)]
        common = broadcast_shape(*[
            (int(i.sum()),) if is_mask(i) else i.shape for i in arrays])
        check_size((*common, *sizes, *shape[sum(marked):]))
    return at


row("select", doc="One entry of a dimension, which is dropped.",
    formula="y[..., ...] = x[..., index, ...]", jvp=LINEAR, memory=VIEW,
    fwd=lambda xp, x, dim, index:
    xp.getitem(x, as_view(select_at(x.shape, dim, index))),
    vjp=(lambda xp, g, y, x, **at: xp.call("select.backward", g, x.shape, **at),),
    cases=[case((3, 4), dim=0, index=1), case((3, 4), dim=-1, index=-2),
           case((3,), dim=0, index=2), case((2, 3, 4), dim=1, index=0)])

row("select.backward", node="SelectBackwardBackward0", jvp=LINEAR,
    formula="y[..., index, ...] = g",
    fwd=lambda xp, x, input_sizes, dim, index:
    xp.put_view(input_sizes, select_at(input_sizes, dim, index), x),
    vjp=(lambda xp, g, y, x, input_sizes, **at: xp.select(g, **at),),
    cases=[case((4,), input_sizes=(3, 4), dim=0, index=1),
           case((), input_sizes=(3,), dim=-1, index=-1)])

row("slice.Tensor", jvp=LINEAR, memory=VIEW,
    formula="y[..., i, ...] = x[..., start + i*step, ...]",
    fwd=lambda xp, x, dim=0, start=None, end=None, step=1:
    xp.getitem(x, slice_at(x.shape, dim, start, end, step)),
    vjp=(lambda xp, g, y, x, **at: xp.call("slice.backward", g, x.shape, **at),),
    cases=[case((5, 3), start=1), case((5, 3), dim=-1, end=-1),
           case((7,), start=1, end=6, step=2), case((4, 3), start=-2),
           case((4,), start=3, end=1), case((2, 6), dim=1, step=3)])

row("slice.backward", node="SliceBackwardBackward0", jvp=LINEAR,
    formula="y[..., start:end:step, ...] = g",
    fwd=lambda xp, x, input_sizes, dim=0, start=None, end=None, step=1:
    xp.put_view(input_sizes, slice_at(input_sizes, dim, start, end, step), x),
    vjp=(lambda xp, g, y, x, input_sizes, **at: xp.call("slice.Tensor", g, **at),),
    cases=[case((4, 3), input_sizes=(5, 3), dim=0, start=1, end=None, step=1),
           case((3,), input_sizes=(7,), dim=-1, start=1, end=6, step=2)])

row("index.Tensor", jvp=LINEAR, always_saves=True, memory=READ,
    formula="y[k] = x[i[k], j[k], ...]",
    fwd=lambda xp, x, indices:
    xp.getitem(x, checked_size(x.shape, entries_at(xp, indices))),
    vjp=(lambda xp, g, y, x, indices: xp.call("index.backward", g, x.shape, indices),),
    cases=[case((4, 3), indices=([0, 2, 0],)), case((4, 3), indices=(None, [1, 1])),
           case((4, 3), indices=([0, -1], [1, 2])),
           case((4,), indices=([[0, 1], [3, 1]],)),
           case((3, 2), indices=([True, False, True],)),
           case((2, 2), indices=([[True, False], [True, True]],)),
           case((3, 2, 4), indices=([0, 2], None, [1, 1])),
           case((2, 3, 2), indices=([1, 0],)),
           case((2, 3, 2), indices=(None, None, [0, 1])),
           case((2, 2, 3, 2), indices=(None, [[1, 0]], None, [[0], [1]]))])

row("index.backward", node="IndexPutImplBackward0", jvp=LINEAR, always_saves=True,
    onto_zeros=True, formula="y[i[k], j[k], ...] += g[k]",
    fwd=lambda xp, x, input_sizes, indices:
    xp.put_add(input_sizes, entries_at(xp, indices), x),
    vjp=(lambda xp, g, y, x, input_sizes, indices:
         xp.call("index.Tensor", g, indices),),
    cases=[case((3, 3), input_sizes=(4, 3), indices=([0, 2, 0],)),
           case((2,), input_sizes=(3,), indices=([True, False, True],))])


row("as_entries", query=True, doc="Positions, or a mask, to index with.", formula="x",
    fwd=lambda xp, x: xp.as_index(byte_as_mask(xp, x)),
    cases=[case(Fixed([2, 0])), case(Fixed([True, False]))], internal=True)


def narrow_at(x: Array, dim: int, start: int, length: int) -> tuple[int, int, int]:
    """Return the dimension, start and end of a slice, after checks."""
    refuse(not x.shape, "narrow() cannot be applied to a 0-dim tensor.")
    size = x.shape[dim_of(x.shape, dim)]
    refuse(length < 0, "narrow(): length must be non-negative.")
    if not -size <= start <= size:
        raise IndexError(f"start out of range (expected to be in range of [{-size}, "
                         f"{size}], but got {start})")
    begin = start + size if start < 0 else start
    refuse(begin + length > size,
           "start ({}) + length ({}) exceeds dimension size ({}).", begin, length, size)
    return dim, begin, begin + length


function("narrow", lambda call, x, dim, start, length:
         call("slice.Tensor", x, *narrow_at(x, dim, start, length)), operands=("x",),
         formula="y[..., i, ...] = x[..., start + i, ...]",
         doc="A stretch of a dimension.",
         cases=[case((5, 3), dim=0, start=1, length=2),
                case((5, 3), dim=-1, start=-2, length=2)])
