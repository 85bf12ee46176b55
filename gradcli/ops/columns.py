"""im2col, which makes windows of pictures columns of a matrix, and col2im, which adds
such columns up to pictures.

Invariant: the two rows are each other's transpose; `convolution` defines the windows.

    im2col(x, 2)            # Im2ColBackward0: (N, C, H, W) -> (N, 4 C, windows)
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from .checks import (
    ShapeError,
    demand_multiple,
    each_dim,
    refuse,
)
from .convolution import Windows, entries, overlaid
from .limits import PIECE, check_size
from .op import LINEAR, PACKED, case, function, row
from .types import Array, Call, Namespace, Shape, Sizes

# fmt: off

INTEGERS = " uint8 int8 int16 int32 int64"
RANK = 2


def in_batch(xp: Namespace, x: Array, rank: int, run: Callable[[Array], Array]
            ) -> Array:
    """Return ``run(x)``; if ``x`` is a single item, it is run as a batch of one."""
    if len(x.shape) == rank:
        return run(x)
    y = run(xp.unsqueeze(x, 0))
    return xp.reshape(y, y.shape[1:])


HOW: list[dict[str, Any]] = [
    {"kernel_size": (2, 2), "dilation": (1, 1), "padding": (0, 0), "stride": (1, 1)},
    {"kernel_size": (2, 1), "dilation": (1, 2), "padding": (1, 0), "stride": (2, 1)},
]


@row("im2col.default", node="Im2ColBackward0", jvp=LINEAR, memory=PACKED,
    refuses=INTEGERS, doc="Each window that slides over pictures as a column.",
    formula="y[c*k, p] = x[c, p*stride + k*dilation - padding]",
    vjp=(lambda xp, g, y, x, **how: xp.call("col2im.default", g, x.shape[-2:], **how),),
    cases=[case((1, 2, 3, 4), **HOW[0]), case((1, 3, 4), **HOW[1])])
def to_columns(xp: Namespace, x: Array, kernel_size: Shape, dilation: Shape,
               padding: Shape, stride: Shape) -> Array:
    check_size(kernel_size, PIECE)
    windows = Windows(kernel_size, stride, padding, dilation)

    def run(batch: Array) -> Array:
        counts = windows.counts(batch.shape[2:])
        check_size((*batch.shape[:2], prod(kernel_size), prod(counts)))
        rows = entries(xp, batch, windows, 1, counts)
        return xp.reshape(rows, (batch.shape[0], *rows.shape[2:]))
    return in_batch(xp, x, 4, run)


@row("col2im.default", node="Col2ImBackward0", jvp=LINEAR, memory=PACKED,
    refuses=INTEGERS, doc="Columns added up where the windows lie that they are.",
    formula="y[c, p*stride + k*dilation - padding] += x[c*k, p]",
    vjp=(lambda xp, g, y, x, output_size, **how: xp.call("im2col.default", g, **how),),
    cases=[case((1, 8, 6), output_size=(3, 4), **HOW[0]),
           case((2, 8), output_size=(3, 4), **HOW[1])])
def to_picture(xp: Namespace, x: Array, output_size: Shape, kernel_size: Shape,
               dilation: Shape, padding: Shape, stride: Shape) -> Array:
    check_size(kernel_size, PIECE)
    windows = Windows(kernel_size, stride, padding, dilation)

    def run(batch: Array) -> Array:
        size = (batch.shape[0], batch.shape[1] // prod(kernel_size), *output_size)
        check_size((*size[:2], *windows.padded(output_size)))
        return overlaid(xp, batch, size, windows, windows.counts(output_size))
    return in_batch(xp, x, 3, run)


def options(kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes
           ) -> list[Shape]:
    given = []
    for name, value, word, least in (
            ("kernel size", kernel_size, "kernel", 1),
            ("dilation", dilation, "dilation", 1), ("padding", padding, "pad", 0),
            ("stride", stride, "stride", 1)):
        sizes = each_dim(name.replace(" ", "_"), value, RANK)
        if min(sizes) < least:
            wanted = "greater than zero" if least else "non-negative"
            raise ShapeError(f"{name} should be {wanted}, but got {word}_height: "
                             f"{sizes[0]} {word}_width: {sizes[1]}")
        given.append(sizes)
    return given


def counted(size: Shape, kernel: Shape, dilation: Shape, padding: Shape, stride: Shape
            ) -> Shape:
    return Windows(kernel, stride, padding, dilation).counts(size)


@function("im2col", operands=("input",),
          cases=[case((1, 2, 3, 4), kernel_size=2),
                 case((2, 3, 4), kernel_size=(2, 3), padding=1, stride=2)])
def unfolded(call: Call, input: Array, kernel_size: Sizes, dilation: Sizes = 1,
             padding: Sizes = 0, stride: Sizes = 1) -> Array:
    how = options(kernel_size, dilation, padding, stride)
    shape = tuple(input.shape)
    refuse(len(shape) not in (3, 4) or 0 in shape[-3:], "Expected 3D or 4D (batch "
           "mode) tensor with possibly 0 batch size and other non-zero dimensions for "
           "input, but got: {}", list(shape))
    counts = counted(shape[-2:], *how)
    if min(counts) < 1:
        kernel, gaps, edges, _ = how
        raise ShapeError(
            f"Given input with spatial size {shape[-2:]}, kernel_size={kernel}, "
            f"dilation={gaps}, padding={edges}, calculated shape of the array of "
            f"sliding blocks as {tuple([max(n, 0) for n in counts])}, but its "
            "components must be at least one.")
    return call("im2col.default", input, *how)


@function("col2im", operands=("input",), also=("fold",),
          cases=[case((1, 8, 6), output_size=(3, 4), kernel_size=2),
                 case((12, 4), output_size=(3, 4), kernel_size=(2, 3), padding=1,
                      stride=2)])
def folded(call: Call, input: Array, output_size: Sizes, kernel_size: Sizes,
           dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1) -> Array:
    size = each_dim("output_size", output_size, RANK)
    how = options(kernel_size, dilation, padding, stride)
    shape, kernel = tuple(input.shape), how[0]
    refuse(len(shape) not in (2, 3) or 0 in shape[-2:], "Expected 2D or 3D (batch "
           "mode) tensor for input with possibly 0 batch size and non-zero dimensions "
           "for input, but got: {}", list(shape))
    batch = len(shape) - RANK
    demand_multiple(f"Size of input's dimension {batch}", shape[batch], prod(kernel))
    tall, wide = (max(n, 0) for n in counted(size, *how))
    if tall * wide != shape[batch + 1]:
        _, gaps, edges, steps = how
        raise ShapeError(
            f"Given output_size={size}, kernel_size={kernel}, dilation={gaps}, "
            f"padding={edges}, stride={steps}, expected size of input's dimension "
            f"{batch + 1} to match the calculated number of sliding blocks {tall} * "
            f"{wide} = {tall * wide}, but got input.size({batch + 1})="
            f"{shape[batch + 1]}.")
    return call("col2im.default", input, size, *how)
