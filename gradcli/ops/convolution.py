"""Convolutions over one, two or three dimensions, and their transposes.

Invariant: three rows are closed under differentiation: the convolution of an input and
a weight, its transpose in the input, and its transpose in the weight, which correlates
the input with the cotangent. The rules of each are the other two. An input has shape
(N, C, spatial...), a weight (O, C/groups, window...). im2col, which makes windows of
pictures columns of a matrix, and col2im, which adds such columns up to pictures, are
each other's transpose.

    conv2d(x, w, padding=1)         # ConvolutionBackward0
    im2col(x, 2)                    # Im2ColBackward0: (N, C, H, W) -> (N, 4 C, windows)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, NamedTuple

from .checks import (
    PIECE,
    ValueRangeError,
    check_size,
    demand_multiple,
    each_dim,
    refuse,
)
from .op import (
    LINEAR,
    MULTILINEAR,
    PACKED,
    Fixed,
    Rule,
    case,
    function,
    of_numbers,
    row,
)
from .types import Array, Caller, Namespace, Shape, Sizes

# fmt: off


class Windows(NamedTuple):
    """Windows that slide over a padded input; each field is a number per dimension."""

    kernel: Shape
    stride: Shape
    padding: Shape
    dilation: Shape

    def padded(self, size: Shape) -> Shape:
        return tuple([n + 2 * p for n, p in zip(size, self.padding, strict=True)])

    def reach(self) -> Shape:
        """Return the sizes of a window, with the gaps between its entries."""
        return tuple([d * (k - 1) + 1
                      for k, d in zip(self.kernel, self.dilation, strict=True)])

    def counts(self, size: Shape) -> Shape:
        """Return how many windows an input of this size holds, per dimension."""
        spans = zip(self.padded(size), self.reach(), self.stride, strict=True)
        return tuple([(n - r) // s + 1 for n, r, s in spans])

    def inner(self, size: Shape) -> tuple[slice, ...]:
        """Return the index of an input of this size in the padded one."""
        return (slice(None), slice(None), *[
            slice(p, p + n) for n, p in zip(size, self.padding, strict=True)])

    def slices(self, counts: Shape) -> tuple[tuple[slice, ...], ...]:
        """Return, per entry of the window, its index in the padded input for all
        windows, of which there are ``counts``."""
        return _slices(self, counts)


@lru_cache(maxsize=32)
def _slices(windows: Windows, counts: Shape) -> tuple[tuple[slice, ...], ...]:
    return tuple([
        (slice(None), slice(None), *[
            slice(d * j, d * j + s * (n - 1) + 1, s)
            for j, d, s, n in zip(at, windows.dilation, windows.stride, counts,
                                  strict=True)])
        for at in product(*map(range, windows.kernel))
    ])


# Chellapilla, Puri, Simard 2006, High performance convolutional neural networks for
# document processing: windows as columns of a matrix.
def entries(xp: Namespace, x: Array, windows: Windows, groups: int, counts: Shape
           ) -> Array:
    """Return the windows' entries as (items, groups, entries of a window, windows)."""
    padded = x
    if any(windows.padding):
        wide = (*x.shape[:2], *windows.padded(x.shape[2:]))
        padded = xp.put_view(wide, windows.inner(x.shape[2:]), x)
    cells = xp.cells(padded, windows, counts)
    rows = x.shape[1] // groups * prod(windows.kernel)
    return xp.reshape(cells, (x.shape[0], groups, rows, prod(counts)))


def in_windows(x: Array, windows: Windows, counts: Shape) -> int:
    """Return the number of entries that all windows over one item have together."""
    return int(x.shape[1]) * prod(windows.kernel) * prod(counts)


def overlaid(xp: Namespace, x: Array, size: Shape, windows: Windows, counts: Shape
            ) -> Array:
    """Return the transpose of `entries`: cells of ``x`` that overlap are added up."""
    wide = (*size[:2], *windows.padded(size[2:]))
    slices = windows.slices(counts)
    parts = xp.reshape(x, (*size[:2], len(slices), *counts))
    cells = [xp.getitem(parts, (slice(None), slice(None), i))
             for i in range(len(slices))]
    total = xp.put_views(wide, slices, cells)
    return xp.getitem(total, windows.inner(size[2:])) if any(windows.padding) else total


def by_group(xp: Namespace, weight: Array, groups: int) -> Array:
    """Return the weight as a matrix per group, with outputs as rows."""
    return xp.reshape(weight, (groups, weight.shape[0] // groups,
                               prod(weight.shape[1:])))


def outputs_by_group(xp: Namespace, g: Array, groups: int) -> Array:
    return xp.reshape(g, (g.shape[0], groups, g.shape[1] // groups, prod(g.shape[2:])))


def with_bias(xp: Namespace, y: Array, bias: Array | None) -> Array:
    if bias is None:
        return y
    return xp.plus(y, xp.reshape(bias, (y.shape[1],) + (1,) * (len(y.shape) - 2)))


def by_bias(xp: Namespace, g: Array) -> Array:
    return xp.sum(xp.sum(g, 0), tuple(range(1, len(g.shape) - 1)))


def windows_of(kernel: Shape, stride: Shape, padding: Shape, dilation: Shape
               ) -> Windows:
    return Windows(kernel[2:], tuple(stride), tuple(padding), tuple(dilation))


def at_windows(xp: Namespace, x: Array, weight: Array, counts: Shape, **how: object
              ) -> Array:
    """Return the convolution at the first ``counts`` windows of each dimension."""
    y: Array = xp.call("convolution.default", x, weight, None, **how)
    for dim, count in enumerate(counts, start=2):
        if y.shape[dim] != count:
            y = xp.narrow(y, dim, 0, count)
    return y


@of_numbers("convolution.default", always_saves=True,
    rule=Rule("ConvolutionBackwardBackward0", (0, 1), zeros=False), one_type=True,
    formula="y[o, p] = sum(weight[o, c, k]*x[c, p*stride + k*dilation - padding])",
    vjp=(lambda xp, g, y, x, weight, bias, **how:
         xp.call("convolution.transposed", g, weight, None, x.shape, **how),
         lambda xp, g, y, x, weight, bias, **how:
         xp.call("convolution.weight", g, x, weight.shape, **how),
         lambda xp, g, y, x, weight, bias, **how: by_bias(xp, g)),
    cases=[case((1, 1, 5), (2, 1, 3), (2,), stride=(1,), padding=(0,), dilation=(1,)),
           case((2, 2, 5), (2, 1, 2), Fixed(None), stride=(2,), padding=(1,),
                dilation=(2,), groups=2),
           case((1, 2, 3, 4), (1, 2, 2, 2), (1,), stride=(1, 2), padding=(1, 0),
                dilation=(1, 1))], saves="x weight")
def convolve(xp: Namespace, x: Array, weight: Array, bias: Array | None, stride: Shape,
             padding: Shape, dilation: Shape, groups: int = 1) -> Array:
    windows = windows_of(weight.shape, stride, padding, dilation)
    counts = windows.counts(x.shape[2:])
    matrices = by_group(xp, weight, groups)

    def items(x: Array) -> Array:
        y = xp.matmul(matrices, entries(xp, x, windows, groups, counts))
        return with_bias(
            xp, xp.reshape(y, (x.shape[0], weight.shape[0], *counts)), bias)

    return xp.in_parts(items, (x,), in_windows(x, windows, counts))


@of_numbers("convolution.transposed", always_saves=True,
    rule=Rule("ConvolutionBackwardBackward0", (0, 1), zeros=False), one_type=True,
    formula="y[c, p*stride + k*dilation - padding] += weight[o, c, k]*x[o, p]",
    vjp=(lambda xp, g, y, x, weight, bias, size, **how:
         at_windows(xp, g, weight, x.shape[2:], **how),
         lambda xp, g, y, x, weight, bias, size, **how:
         xp.call("convolution.weight", x, g, weight.shape, **how),
         lambda xp, g, y, x, weight, bias, **how: by_bias(xp, g)),
    cases=[case((1, 2, 3), (2, 1, 3), (1,), size=(1, 1, 5), stride=(1,), padding=(0,),
                dilation=(1,)),
           case((1, 2, 2), (2, 1, 2), Fixed(None), size=(1, 2, 5), stride=(2,),
                padding=(0,), dilation=(2,), groups=2),
           case((1, 1, 2), (1, 1, 2), (1,), size=(1, 1, 8), stride=(2,), padding=(0,),
                dilation=(3,))], saves="x weight")
def spread(xp: Namespace, x: Array, weight: Array, bias: Array | None, size: Shape,
           stride: Shape, padding: Shape, dilation: Shape, groups: int = 1) -> Array:
    """Return the transpose of `convolve` in its input, whose shape is ``size``."""
    windows = windows_of(weight.shape, stride, padding, dilation)
    matrices = xp.transpose(by_group(xp, weight, groups), -2, -1)
    counts = tuple(x.shape[2:])

    def lay(part: Array) -> Array:
        cells = xp.matmul(matrices, outputs_by_group(xp, part, groups))
        return overlaid(xp, cells, (part.shape[0], *size[1:]), windows, counts)

    made = size[1] * prod(windows.kernel) * prod(counts)
    y = xp.in_parts(lay, (x,), made)
    return with_bias(xp, y if xp.is_contiguous(y) else xp.clone(y), bias)


@row("convolution.weight", node="ConvolutionBackwardBackward0", jvp=MULTILINEAR,
    formula="y[o, c, k] = sum(g[o, p]*x[c, p*stride + k*dilation - padding])",
    vjp=(lambda xp, g, y, a, x, size, **how:
         at_windows(xp, x, g, a.shape[2:], **how),
         lambda xp, g, y, a, x, size, **how:
         xp.call("convolution.transposed", a, g, None, x.shape, **how)),
    cases=[case((1, 2, 3), (1, 1, 5), size=(2, 1, 3), stride=(1,), padding=(0,),
                dilation=(1,)),
           case((2, 2, 2), (2, 2, 4), size=(2, 1, 2), stride=(2,), padding=(1,),
                dilation=(2,), groups=2)], saves=("x", "g"))
def correlate(xp: Namespace, g: Array, x: Array, size: Shape, stride: Shape,
              padding: Shape, dilation: Shape, groups: int = 1) -> Array:
    """Return the transpose of `convolve` in its weight, whose shape is ``size``."""
    check_size(size)
    windows = windows_of(tuple(size), stride, padding, dilation)
    counts = tuple(g.shape[2:])

    def items(g: Array, x: Array) -> Array:
        cells = entries(xp, x, windows, groups, counts)
        return xp.matmul(cells, xp.transpose(outputs_by_group(xp, g, groups), -2, -1))

    each = xp.in_parts(items, (g, x), in_windows(x, windows, counts))
    return xp.packed(xp.reshape(xp.transpose(xp.sum(each, 0), -2, -1), tuple(size)))


def shown(sizes: Sequence[int]) -> str:
    return " x ".join(map(str, sizes))


def check_operands(x: Array, weight: Array, bias: Array | None, groups: int,
                   transposed: bool) -> None:
    wide, sizes = list(weight.shape), list(x.shape)
    refuse(len(sizes) != len(wide), "a weight of shape {} needs an input of {} "
           "dimensions, not one of shape {}", wide, len(wide), sizes)
    refuse(wide[0] % groups, "Given groups={}, expected weight to be divisible by {} "
           "at dimension 0, but got weight of size [{}] instead", groups, groups, wide)
    wanted = wide[0] if transposed else wide[1] * groups
    refuse(sizes[1] != wanted, "Given {}={}, weight of size {}, expected input{} to "
           "have {} channels, but got {} channels instead",
           "transposed" if transposed else "groups", groups, wide, sizes, wanted,
           sizes[1])
    outputs = wide[1] * groups if transposed else wide[0]
    given = [outputs] if bias is None else list(bias.shape)
    refuse(given != [outputs], "Given {}weight of size {}, expected bias to be "
           "1-dimensional with {} elements, but got bias of size {} instead",
           "transposed=1, " * transposed, wide, outputs, given)


def check_windows(windows: Windows, size: Shape) -> None:
    if min(windows.stride) < 1:
        raise ValueRangeError("non-positive stride is not supported")
    if min(windows.padding) < 0:
        raise ValueRangeError("negative padding is not supported")
    refuse(min(windows.dilation) < 1, "dilation should be greater than zero, but got "
           "{}", list(windows.dilation), kind=ValueRangeError)
    padded, reach = windows.padded(size), windows.reach()
    refuse(any(n < r for n, r in zip(padded, reach, strict=True)),
           "Calculated padded input size per channel: ({}). Kernel size: ({}). Kernel "
           "size can't be greater than actual input size", shown(padded), shown(reach))


@function("convolution", operands=("input", "weight"),
          formula="y[o, p] = sum(weight[o, c, k]*input[c, p + k])",
          doc="A convolution, or its transpose, over as many dimensions as the weight "
              "has beyond two.")
def convolution(call: Caller, input: Array, weight: Array, bias: Array | None,
                stride: Sizes, padding: Sizes, dilation: Sizes, transposed: bool,
                output_padding: Sizes, groups: int) -> Array:
    rank = len(weight.shape) - 2
    refuse(rank < 1, "weight should have at least three dimensions")
    refuse(groups < 1, "non-positive groups is not supported", kind=ValueRangeError)
    steps, edges, gaps, extra = (
        each_dim(name, value, rank) for name, value in (
            ("stride", stride), ("padding", padding), ("dilation", dilation),
            ("output_padding", output_padding)))
    for name, sizes in (("padding", edges), ("output_padding", extra)):
        if min(sizes) < 0:
            raise ValueRangeError(f"negative {name} is not supported")
    check_operands(input, weight, bias, groups, transposed)
    windows = Windows(tuple(weight.shape[2:]), steps, edges, gaps)
    if not transposed:
        check_windows(windows, tuple(input.shape[2:]))
    refuse(0 in input.shape[2:], "Only zero batch or zero channel inputs are "
           "supported, but got input shape: {}", list(input.shape))
    if not transposed:
        return call("convolution.default", input, weight, bias, steps, edges, gaps,
                    groups)
    refuse(any(e >= max(s, d) for e, s, d in zip(extra, steps, gaps, strict=True)),
           "output padding {} must be smaller than either stride {} or dilation {}",
           list(extra), list(steps), list(gaps), kind=ValueRangeError)
    spans = zip(input.shape[2:], steps, edges, windows.reach(), extra, strict=True)
    inner = [(n - 1) * s - 2 * p + r + e for n, s, p, r, e in spans]
    refuse(min(inner) < 1, "Given input size per channel: ({}). Calculated output size "
           "per channel: ({}). Output size is too small", shown(input.shape[2:]),
           shown(inner))
    size = (input.shape[0], weight.shape[1] * groups, *inner)
    return call("convolution.transposed", input, weight, bias, size, steps, edges,
                gaps, groups)


def in_batch(call: Caller, input: Array, rank: int, name: str,
             run: Callable[[Array], Array]) -> Array:
    """Return ``run(input)``; a single item is run as a batch of one."""
    refuse(len(input.shape) not in (rank + 1, rank + 2), "Expected {}D (unbatched) or "
           "{}D (batched) input to {}, but got input of size: {}", rank + 1, rank + 2,
           name, list(input.shape))
    if len(input.shape) == rank + 2:
        return run(input)
    return call("squeeze", run(call("unsqueeze", input, 0)), 0)


def same(call: Caller, input: Array, weight: Array, stride: Sizes, dilation: Sizes,
         rank: int) -> tuple[Array, Shape]:
    """Return the input and padding for an output of the input's size; where the padding
    differs between the sides, the input is padded by one at the end."""
    refuse(max(each_dim("stride", stride, rank)) > 1, "padding='same' is not supported "
           "for strided convolutions", kind=ValueRangeError)
    total = [d * (k - 1) for d, k in zip(each_dim("dilation", dilation, rank),
                                         weight.shape[2:], strict=True)]
    odd = [n % 2 for n in total]
    if any(odd):
        widths = tuple([n for o in reversed(odd) for n in (0, o)])
        input = call("constant_pad_nd", input, widths, 0)
    return input, tuple([n // 2 for n in total])


def enter(rank: int) -> None:
    """Enter the functions ``conv{rank}d`` and ``conv_transpose{rank}d``."""

    lengths = ("a sequence", "a picture", "a volume")[rank - 1]
    kernel, size = (2,) * rank, (5, 3, 2)[:rank]

    @function(f"conv{rank}d", operands=("input", "weight", "bias"),
              formula="y[o, p] = sum(weight[o, c, k]*input[c, p*stride + k])",
              doc=f"A weight's window slid over {lengths}, channel by channel.",
              cases=[case((1, 2, *size), (3, 2, *kernel), (3,)),
                     case((2, *size), (2, 1, *kernel), stride=2, padding=1, groups=2),
                     case((1, 1, *size), (1, 1, *kernel), padding="same")])
    def conv(call: Caller, input: Array, weight: Array, bias: Array | None = None,
             stride: Sizes = 1, padding: Sizes | str = 0, dilation: Sizes = 1,
             groups: int = 1) -> Array:
        def run(x: Array) -> Array:
            edges = padding
            if edges == "same":
                x, edges = same(call, x, weight, stride, dilation, rank)
            elif isinstance(edges, str):
                refuse(edges != "valid", "Invalid padding string: '{}'", edges,
                       kind=ValueRangeError)
                edges = 0
            return call("convolution", x, weight, bias, stride, edges, dilation, False,
                        0, groups)
        return in_batch(call, input, rank, f"conv{rank}d", run)

    @function(f"conv_transpose{rank}d", operands=("input", "weight", "bias"),
              formula="y[c, p*stride + k] += weight[o, c, k]*input[o, p]",
              doc=f"The transpose of conv{rank}d: windows laid over {lengths}.",
              cases=[case((1, 2, *size), (2, 1, *kernel), (1,)),
                     case((1, *size), (1, 2, *kernel), stride=2, padding=1)])
    def transposed(call: Caller, input: Array, weight: Array, bias: Array | None = None,
                   stride: Sizes = 1, padding: Sizes = 0, output_padding: Sizes = 0,
                   groups: int = 1, dilation: Sizes = 1) -> Array:
        return in_batch(call, input, rank, f"conv_transpose{rank}d", lambda x: call(
            "convolution", x, weight, bias, stride, padding, dilation, True,
            output_padding, groups))


for dims in (1, 2, 3):
    enter(dims)


# windows of pictures as columns of a matrix

FAMILY = "columns"

INTEGERS = " uint8 int8 int16 int32 int64"
RANK = 2


def as_batch(xp: Namespace, x: Array, rank: int, run: Callable[[Array], Array]
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


@row("im2col.default", jvp=LINEAR, memory=PACKED, refuses=INTEGERS,
    doc="Each window that slides over pictures as a column.",
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
    return as_batch(xp, x, 4, run)


@row("col2im.default", jvp=LINEAR, memory=PACKED, refuses=INTEGERS,
    doc="Columns added up where the windows lie that they are.",
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
    return as_batch(xp, x, 3, run)


def options(kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes
           ) -> list[Shape]:
    return [each_dim(name, value, RANK, least) for name, value, least in (
        ("kernel_size", kernel_size, 1), ("dilation", dilation, 1),
        ("padding", padding, 0), ("stride", stride, 1))]


def counted(size: Shape, kernel: Shape, dilation: Shape, padding: Shape, stride: Shape
            ) -> Shape:
    return Windows(kernel, stride, padding, dilation).counts(size)


@function("im2col", operands=("input",),
          cases=[case((1, 2, 3, 4), kernel_size=2),
                 case((2, 3, 4), kernel_size=(2, 3), padding=1, stride=2)])
def unfolded(call: Caller, input: Array, kernel_size: Sizes, dilation: Sizes = 1,
             padding: Sizes = 0, stride: Sizes = 1) -> Array:
    how = options(kernel_size, dilation, padding, stride)
    shape = tuple(input.shape)
    refuse(len(shape) not in (3, 4) or 0 in shape[-3:], "Expected 3D or 4D (batch "
           "mode) tensor with possibly 0 batch size and other non-zero dimensions for "
           "input, but got: {}", list(shape))
    counts = counted(shape[-2:], *how)
    refuse(min(counts) < 1, "im2col: no window of {} fits into a picture of {}", how[0],
           shape[-2:])
    return call("im2col.default", input, *how)


@function("col2im", operands=("input",), also=("fold",),
          cases=[case((1, 8, 6), output_size=(3, 4), kernel_size=2),
                 case((12, 4), output_size=(3, 4), kernel_size=(2, 3), padding=1,
                      stride=2)])
def folded(call: Caller, input: Array, output_size: Sizes, kernel_size: Sizes,
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
    have = shape[batch + 1]
    refuse(tall * wide != have, "col2im: {} columns for {} windows over a picture of "
           "{}", have, tall * wide, size)
    return call("col2im.default", input, size, *how)
