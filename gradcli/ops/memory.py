"""Rows that in-place changes, views by strides, and copies between types record.

Invariant: positions are those of the flattened tensor. ``copy_slices`` writes at the
positions that ``as_strided`` reads, and the rules of each are made of the other.

    y[1:] = x          # CopySlices(y before, x)
    y[:2].mul_(3)      # CopySlices(y before, the product); y[:2] is then read from it
"""

from __future__ import annotations

from itertools import accumulate
from math import prod
from typing import Any, cast

from .checks import as_sizes, refuse
from .gather import put_over, surviving
from .limits import BYTES_PER_ENTRY, LISTED, check_size
from .op import GIVEN, LINEAR, VIEW, case, function, row
from .shape import sum_to
from .types import Array, Call, Geometry, Namespace, Positions, Shape, Sizes, Tangents

# fmt: off


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


def seen(xp: Namespace, shape: Shape, size: Shape, stride: Shape, start: int,
         geometry: Geometry | None = None) -> tuple[Positions, Array | None]:
    """Return the positions of a view's entries in a flattened tensor, and a mask of the
    entries that are the tensor's, or None if all are."""
    at, count = places(size, stride, start), prod(shape)
    if geometry is not None:
        own = {place: i for i, place in enumerate(places(shape, *geometry))}
        at = [own.get(place, -1) for place in at]
    inside = [0 <= i < count for i in at]
    found = xp.as_index([i if i_in else 0 for i, i_in in zip(at, inside, strict=True)])
    if all(inside):
        return found.reshape(size), None
    return found.reshape(size), xp.ne(xp.as_index([*map(int, inside)]).reshape(size), 0)


def _into_view(xp: Namespace, g: Array, y: Array, x: Array, **how: Any) -> Array:
    at, inside = seen(xp, x.shape, **how)
    g = g if inside is None else xp.where(inside, g, 0)
    return xp.call("as_strided.backward", g, at, x.shape)


def _along_view(xp: Namespace, t: Tangents, y: Array, x: Array, **how: Any) -> Array:
    at, inside = seen(xp, x.shape, **how)
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
          doc="What lies at given places of a tensor's memory, as a view of it. No "
              "gradient reaches what lies beside the tensor itself.",
          cases=[case((3, 4), size=(2, 2), stride=(4, 1)),
                 case((5,), size=(2, 2), stride=(1, 2), storage_offset=1)])
def _as_strided(call: Call, x: Array, size: Sizes, stride: Sizes,
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
