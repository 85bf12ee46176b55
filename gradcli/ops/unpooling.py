"""Unpooling, which puts the largest entries back to where pooling found them.

Invariant: a position is the number of an entry in the flattened spatial dimensions, as
returned by `pooling`.

    y, at = max_pool2d(x, 2, return_indices=True)
    max_unpool2d(y, at, 2)          # MaxUnpool2DBackward0: y where it came from, else 0
"""

from __future__ import annotations

from math import prod

from .checks import (
    ShapeError,
    ValueRangeError,
    as_sizes,
    demand_shape,
    each_dim,
    refuse,
)
from .gather import surviving
from .index import check_positions
from .limits import check_size
from .op import LINEAR, PACKED, Fixed, case, function, of_floats
from .pooling import flattened
from .types import Array, Call, Namespace, Nested, Positions, Shape, Sizes

# fmt: off


def unpool(xp: Namespace, x: Array, indices: Array, output_size: Shape) -> Array:
    rank = len(output_size)
    lines = xp.reshape(x, (prod(x.shape[:-rank]), prod(x.shape[-rank:])))
    at = xp.as_index(indices).reshape(lines.shape)
    count = prod(output_size)
    check_size((lines.shape[0], count))
    if not count:
        return xp.new_full(x, (*x.shape[:-rank], *output_size), 0)
    check_positions(xp, count, 0, at, ShapeError, from_end=False, words=(
        "Found an invalid max index: {at} (output volumes are of size "
        f"{'x'.join(map(str, output_size))})"))
    plane = xp.as_index(range(lines.shape[0])).reshape((-1, 1))
    put = xp.put_view((lines.shape[0], count), (plane, at), lines)
    return xp.reshape(put, (*x.shape[:-rank], *output_size))


def unpool_by_x(xp: Namespace, g: Array, y: Array, x: Array, indices: Array,
                output_size: Shape) -> Array:
    at = xp.as_index(indices)

    def read(of: Array) -> Array:
        rank = len(output_size)
        places = at.reshape(flattened(at, rank))
        found = xp.gather(xp.reshape(of, flattened(of, rank)), -1, places)
        return xp.reshape(found, x.shape)

    if not repeats(at, len(output_size)):
        return read(g)
    name = f"max_unpool{len(output_size)}d.default"
    return surviving(
        xp, g, lambda to, order: xp.call(name, order, at, output_size), read)


def repeats(at: Positions, rank: int) -> bool:
    """Return whether a position occurs twice in a plane."""
    lines = at.reshape(flattened(at, rank)).reshape((-1, prod(at.shape[-rank:])))
    return any(len(set(line)) < len(line) for line in lines.tolist())


def row_of_unpooling(rank: int, indices: Nested, size: Shape) -> None:
    of_floats(f"max_unpool{rank}d.default", node=f"MaxUnpool{rank}DBackward0",
        jvp=LINEAR, memory=PACKED,
        formula="y[indices[p]] = x[p]",
        fwd=unpool, vjp=(unpool_by_x, None),
        cases=[case(size, Fixed(indices), output_size=(4, 3, 2)[:rank])])


row_of_unpooling(2, [[[0, 5], [10, 7]]], (1, 2, 2))
row_of_unpooling(3, [[[[0, 5]], [[10, 7]]]], (1, 2, 1, 2))


def size_asked(sizes: Shape, kernel: Shape, stride: Shape, padding: Shape,
               output_size: list[int] | tuple[int, ...] | None) -> Shape:
    """Return the spatial sizes of the result: ``output_size``, if pooling can have made
    ``sizes`` of it, or by default the sizes that the windows cover."""
    usual = [(n - 1) * s + k - 2 * p for n, k, s, p in zip(
        sizes, kernel, stride, padding, strict=True)]
    if output_size is None:
        return tuple(usual)
    rank, wanted = len(kernel), tuple(output_size)
    if len(wanted) == rank + 2:
        wanted = wanted[2:]
    refuse(len(wanted) != rank, "max_unpool{}d: output_size {} is not of {} dimensions",
           rank, wanted, rank, kind=ValueRangeError)
    for d, (n, least, s) in enumerate(zip(wanted, usual, stride, strict=True)):
        if not least - s < n < least + s:
            raise ValueRangeError(f'invalid output_size "{output_size}" (dim {d} must '
                                  f"be between {least - s} and {least + s})")
    return as_sizes(wanted)


def on_planes(call: Call, x: Array, at: Array, size: Shape) -> Array:
    rank, have = len(size), len(x.shape)
    refuse(have not in (rank + 1, rank + 2), "Input to max_unpooling{}d should be a "
           "{}d or {}d Tensor, but got a tensor with {} dimensions.", rank, rank + 1,
           rank + 2, have)
    demand_shape(f"max_unpool{rank}d: indices", at, tuple(x.shape))
    return call(f"max_unpool{rank}d.default", x, at, size)


def enter_unpooling(rank: int) -> None:
    """Enter ``max_unpool{rank}d``; a sequence is handled as a picture of one column."""

    places = ([0, 3], [[0, 3], [8, 10]], [[[0, 3]], [[24, 31]]])[rank - 1]
    size = ((2,), (2, 2), (2, 1, 2))[rank - 1]

    @function(f"max_unpool{rank}d", operands=("input", "indices"),
              formula="y[indices[p]] = input[p]",
              doc="Zeros with the largest entries where max_pool found them.",
              cases=[case((1, *size), Fixed([places]), kernel_size=2)])
    def unpooled(call: Call, input: Array, indices: Array, kernel_size: Sizes,
                 stride: Sizes | None = None, padding: Sizes = 0,
                 output_size: list[int] | tuple[int, ...] | None = None) -> Array:
        kernel = each_dim("kernel_size", kernel_size, rank)
        edges = each_dim("padding", padding, rank)
        steps = kernel if stride is None else each_dim("stride", stride, rank)
        size = size_asked(tuple(input.shape[-rank:]), kernel, steps, edges, output_size)
        if min(size) < 0:
            raise ValueRangeError(f"max_unpool{rank}d: negative output_size {size}")
        if rank > 1:
            return on_planes(call, input, indices, size)
        column, at = (call("unsqueeze", t, -1) for t in (input, indices))
        return call("squeeze", on_planes(call, column, at, (*size, 1)), -1)


for _rank in (1, 2, 3):
    enter_unpooling(_rank)
