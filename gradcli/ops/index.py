"""Entries read by integers, slices, positions or masks; views of a memory by strides.

Each row that reads has a transpose, ``name.backward``: zeros with the cotangent
written, or added, at the positions read. The two are each other's reverse rules, so
every order of derivative exists. Then the rows that in-place changes and copies between
types record, whose positions are those of the flattened tensor.

    x[0, 1:]           # SliceBackward0(SelectBackward0(x))
    y[1:] = x          # CopySlices(y before, x)
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import accumulate
from math import prod
from typing import Any, TypeVar, cast

from .checks import (
    BYTES_PER_ENTRY,
    LIMIT,
    LISTED,
    as_sizes,
    broadcast_shape,
    check_size,
    count_of,
    dim_of,
    refuse,
)
from .op import GIVEN, LINEAR, PACKED, VIEW, Fixed, Formula, case, function, row
from .shape import sum_to
from .types import (
    Array,
    Caller,
    Entries,
    Geometry,
    Index,
    Namespace,
    Place,
    Positions,
    Shape,
    Sizes,
    Tangents,
)

# fmt: off

FAMILY = "index"


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
    refuse(step <= 0, "step must be greater than zero", kind=ValueError)
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
    refuse(tuple(mask.shape) != shape[dim : dim + mask.ndim], "The shape of the mask "
           "{} at index {} does not match the shape of the indexed tensor {} at index "
           "{}", list(mask.shape), named, list(shape), named, kind=IndexError)


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

row("index.Tensor", jvp=LINEAR, always_saves=True, memory=PACKED,
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


def put_over(xp: Namespace, x: Array, at: Index, src: Array, accumulate: bool = False
            ) -> Array:
    """Return ``x`` with ``src`` written at an index or, to ``accumulate``, added; for a
    position that occurs twice the last entry counts, or both are added."""
    if accumulate:
        return x + xp.put_add(x.shape, at, src)
    mark = xp.put_view(x.shape, at, xp.new_full(src, src.shape, 1))
    return xp.where(xp.ne(mark, 0), xp.put_view(x.shape, at, src), x)


def grown(xp: Namespace, g: Array, shape: Shape) -> Array:
    """Return ``g`` padded with zeros at the ends of its dimensions to ``shape``."""
    if g.shape == shape:
        return g
    missing = [n - m for n, m in zip(shape, g.shape, strict=True)]
    return xp.constant_pad_nd(g, [w for n in reversed(missing) for w in (0, n)])


def surviving(xp: Namespace, g: Array, write: Formula, read: Formula,
              all_survive: bool = False) -> Array:
    """Return ``read(g)``, with 0 for entries overwritten by a later one.

    Args:
        write: returns its first argument with the second's entries written into it.
        read: returns the entries at the positions where ``write`` writes.
        all_survive: whether entries are added, or no two share a position.
    """
    picked: Array = read(g)
    if all_survive:
        return picked
    # Entries are numbered in doubles: narrower floats do not hold every number.
    ones = xp.to_copy(xp.new_full(g, (prod(picked.shape),), 1), "float64", None)
    order = xp.reshape(xp.cumsum(ones, 0), picked.shape)
    last = read(write(xp.new_full(order, g.shape, 0), order))
    return xp.where(xp.eq(last, order), picked, xp.zeros_like(picked))

# views of a memory by strides, in-place changes and copies

FAMILY = "memory"


def written(xp: Namespace, x: Array, src: Array, at: Array | list[int]) -> Array:
    """Return ``x`` with ``src``, broadcast, written at positions; the last one wins."""
    at, flat = xp.as_index(at), xp.reshape(x, (prod(x.shape),))
    put = put_over(xp, flat, (at,), xp.expand(src, at.shape))
    return xp.reshape(put, x.shape)


def writing(name: str, node: str, overlapping: bool = True) -> None:
    def write(xp: Namespace, x: Array, src: Array, at: list[int]) -> Array:
        return xp.call("copy_slices.positions", x, src, at)

    row(name, node=node, formula="y[at] = src", jvp=LINEAR, always_saves=True,
        fwd=lambda xp, x, src, at: written(xp, x, src, at),
        vjp=(lambda xp, g, y, x, src, at: write(xp, g, xp.new_full(g, (), 0), at),
             lambda xp, g, y, x, src, at: sum_to(xp, surviving(
                 xp, g, lambda to, order: write(xp, to, order, at),
                 lambda of: xp.call("as_strided.positions", of, at), not overlapping),
                 src.shape)),
        cases=[case((2, 3), (2,), at=[1, 5]), case((2, 3), (), at=[[0, 1], [3, 4]]),
               case((3,), (1,), at=[2, 0])])


writing("copy_slices.positions", "CopySlices", False)
writing("copy_slices.overlapping", "CopySlices")
writing("index_put.positions", "IndexPutBackward0")

row("as_strided.positions", jvp=LINEAR, formula="y[i, j] = x[at[i, j]]",
    fwd=lambda xp, x, at:
    xp.getitem(xp.reshape(x, (prod(x.shape),)), (xp.as_index(at),)),
    vjp=(lambda xp, g, y, x, at: xp.call("as_strided.backward", g, at, x.shape),),
    cases=[case((2, 3), at=[1, 5]), case((3,), at=[[2], [0]])])


@row("as_strided.backward", node="AsStridedBackwardBackward0", jvp=LINEAR,
    formula="y[at] += g",
    vjp=(lambda xp, g, y, x, at, input_sizes:
         xp.call("as_strided.positions", g, at),),
    cases=[case((2,), at=[1, 5], input_sizes=(2, 3))])
def added(xp: Namespace, x: Array, at: Array, input_sizes: Shape) -> Array:
    flat = xp.put_add((prod(input_sizes),), (xp.as_index(at),), x)
    return xp.reshape(flat, input_sizes)


# -- views of a memory by strides -----------------------------------------------------


def contiguous_strides(shape: Shape) -> Shape:
    """Return the strides, in entries, of a contiguous tensor of a shape."""
    steps = accumulate(reversed(shape[1:]), lambda step, n: step * max(n, 1), initial=1)
    return tuple(steps)[::-1] if shape else ()


def places(size: Shape, stride: Shape, start: int) -> list[int]:
    """Return the places in memory of a view's entries, in the order of the indices."""
    check_size(size, LISTED)
    found = [start]
    for n, step in zip(size, stride, strict=True):
        found = [at + i * step for at in found for i in range(n)]
    return found


def strided(xp: Namespace, x: Array, size: Shape, stride: Shape, start: int) -> Array:
    """Return a copy of a view by strides of a contiguous tensor."""
    count = prod(x.shape)
    check_bounds(count, BYTES_PER_ENTRY, size, stride, start)
    at = xp.as_index(places(size, stride, start))
    return xp.reshape(xp.getitem(xp.reshape(x, (count,)), (at,)), size)


def check_bounds(
    count: int, each: int, size: Shape, stride: Shape, start: int
) -> None:
    """Refuse a view beyond a memory of ``count`` entries of ``each`` bytes."""
    refuse(start < 0, "Tensor: invalid storage offset {}", start)
    last = start + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    refuse(prod(size) and last >= count, "setStorage: sizes {}, strides {}, storage "
           "offset {}, and itemsize {} requiring a storage size of {} are out of "
           "bounds for storage of size {}", list(size), list(stride), start, each,
           (last + 1) * each, count * each)


def seen(xp: Namespace, g: Array, shape: Shape, size: Shape, stride: Shape, start: int,
         geometry: Geometry | None = None) -> tuple[Positions, Array | None]:
    """Return the positions of a view's entries in a flattened tensor, and a mask of the
    entries that are the tensor's, on the device of ``g``, or None if all are."""
    at, count = places(size, stride, start), prod(shape)
    if geometry is not None:
        own = {place: i for i, place in enumerate(places(shape, *geometry))}
        at = [own.get(place, -1) for place in at]
    inside = [0 <= i < count for i in at]
    found = xp.as_index([i if i_in else 0 for i, i_in in zip(at, inside, strict=True)])
    if all(inside):
        return found.reshape(size), None
    ones = cast("Positions", xp.call("as_index.beside", g, [*map(int, inside)]))
    return found.reshape(size), xp.ne(ones.reshape(size), 0)


def _into_view(xp: Namespace, g: Array, y: Array, x: Array, **how: Any) -> Array:
    at, inside = seen(xp, g, x.shape, **how)
    g = g if inside is None else xp.where(inside, g, 0)
    return xp.call("as_strided.backward", g, at, x.shape)


def _along_view(xp: Namespace, t: Tangents, y: Array, x: Array, **how: Any) -> Array:
    at, inside = seen(xp, t[0], x.shape, **how)
    moved = xp.call("as_strided.positions", t[0], at)
    return moved if inside is None else xp.where(inside, moved, 0)


row("as_strided.default", turned="AsStridedBackward1", memory=VIEW, saves="",
    slope="that of the operand's entries; others of its memory get none, as in PyTorch",
    formula="y[i, j] = memory[start + i stride[0] + j stride[1]]",
    fwd=lambda xp, x, size, stride, start, geometry=None:
    xp.strided(x, size, stride, start), vjp=(_into_view,), jvp=_along_view,
    cases=[case((3, 4), size=(2, 2), stride=(4, 1), start=1),
           case((5,), size=(3, 2), stride=(1, 1), start=1),
           case((2, 3), size=(), stride=(), start=4),
           case((4,), size=(2, 3), stride=(0, 1), start=0)])

row("view.geometry", query=True, fwd=lambda xp, x: xp.geometry(x),
    formula="geometry(x)", cases=[case((3, 4)), case(())])


@function("as_strided", operands=("x",),
          formula="y[i, j] = memory[start + i stride[0] + j stride[1]]",
          doc="The entries at given places of a tensor's memory, as a view of it. No "
              "gradient reaches what lies beside the tensor itself.",
          cases=[case((3, 4), size=(2, 2), stride=(4, 1)),
                 case((5,), size=(2, 2), stride=(1, 2), storage_offset=1)])
def _as_strided(call: Caller, x: Array, size: Sizes, stride: Sizes,
                storage_offset: int | None = None) -> Array:
    sizes, steps = as_sizes(size), as_sizes(stride)
    refuse(len(sizes) != len(steps), "mismatch in length of strides and shape")
    refuse(any(step < 0 for step in steps), "as_strided: Negative strides are not "
           "supported at the moment, got strides: {}", list(steps))
    mine = cast("Geometry", call("view.geometry", x))
    start = mine[1] if storage_offset is None else storage_offset
    plain = mine == (contiguous_strides(tuple(x.shape)), 0)
    return call("as_strided.default", x, sizes, steps, start, None if plain else mine)


# -- entire tensors -------------------------------------------------------------------

row("copy_.default", node="CopyBackwards", jvp=LINEAR, formula="y = src",
    fwd=lambda xp, x, src: xp.expand(xp.as_type_of(src, x), x.shape),
    vjp=(lambda xp, g, y, x, src: xp.zeros_like(g),
         lambda xp, g, y, x, src: sum_to(xp, g, src.shape)),
    cases=[case((2, 3), (2, 3)), case((2, 3), (3,)), case((), ())])


def overwriting(name: str, node: str, *values: float) -> None:
    row(name, node=node, formula="y = value", saves="",
        fwd=lambda xp, x, value: xp.new_full(x, x.shape, value),
        vjp=(lambda xp, g, y, x, value: xp.zeros_like(g),),
        jvp=lambda xp, t, y, x, value: xp.zeros_like(t[0]),
        cases=[case((2, 3), value=value) for value in values])


overwriting("zero_.default", "ZeroBackward0", 0.0)
overwriting("fill_.Scalar", "FillBackward2", 0.0, 1.5)

row("fill_.Tensor", node="FillBackward3", jvp=LINEAR, formula="y = value",
    fwd=lambda xp, x, value: xp.expand(xp.as_type_of(value, x), x.shape),
    vjp=(lambda xp, g, y, x, value: xp.zeros_like(g),
         lambda xp, g, y, x, value: xp.sum(g)), cases=[case((2, 3), ()), case((), ())])

row("to_copy.default", jvp=LINEAR, result=GIVEN, formula="y = x",
    fwd=lambda xp, x, dtype, device, back: xp.to_copy(x, dtype, device),
    vjp=(lambda xp, g, y, x, dtype, device, back:
         xp.to_copy(g, *back, (dtype, device)),),
    cases=[case((2, 3), dtype=None, device=None, back=(None, None)),
           case((), dtype=None, device=None, back=(None, None))])
