"""Pooling: the largest entry, or the mean, of each window of the last two dimensions.

Invariant: a largest entry is the first of its equals, and the cotangent goes to it
alone; a mean is made of its window's entries and of no others, so that an infinity
beside a window does not reach it. In one dimension PyTorch pools a picture of one row,
and so do we.

    max_pool2d(x, 2)                # MaxPool2DWithIndicesBackward0
    adaptive_avg_pool2d(x, 3)       # AdaptiveAvgPool2DBackward0
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from .checks import ShapeError, ValueRangeError, as_sizes
from .limits import LISTED, check_size
from .op import (
    LINEAR,
    NARROW_WHOLES,
    PACKED,
    TRUTHS,
    WHOLE,
    Rule,
    case,
    function,
    no_kernel,
    row,
)
from .products import turned
from .types import (
    Array,
    ArrayRule,
    Call,
    Namespace,
    Operand,
    Outputs,
    Positions,
    Shape,
    Sizes,
    Tangents,
)

# fmt: off

Spots = Sequence[range]
"""For each window the positions that it covers along a dimension."""

Windows = Sequence[Spots]
"""Windows over the rows of a picture, and over its columns."""

Counts = list[list[int]] | float
"""What sums of windows are divided by: by row and by column, or one number."""


def sliding(n: int, kernel: int, stride: int, padding: int, dilation: int,
            ceil_mode: bool) -> Spots:
    """Windows over ``n`` positions; those in the padding are below 0 or from n on."""
    room = n + 2 * padding - dilation * (kernel - 1) - 1
    count = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
    if ceil_mode and (count - 1) * stride >= n + padding:
        count -= 1
    check_size((max(count, 0),), LISTED)
    starts = [i * stride - padding for i in range(count)]
    return [range(at, at + kernel * dilation, dilation) for at in starts]


def adaptive(n: int, count: int) -> Spots:
    """Windows of about equal length that cover ``n`` positions between them."""
    check_size((count,), LISTED)
    return [range(i * n // count, -(-(i + 1) * n // count)) for i in range(count)]


def inside(window: range, n: int) -> range:
    """The part of a window that is not in the padding."""
    if window and window[0] >= 0 and window[-1] < n:
        return window
    before, behind = (max(0, -((window.start - end) // window.step)) for end in (0, n))
    return window[before:behind]


def level(spots: Spots, n: int) -> list[list[int]]:
    """The windows without padding, of one length: short ones repeat their first
    position."""
    real = [inside(window, n) for window in spots]
    longest, shortest = (extreme(map(len, real)) for extreme in (max, min))
    if not shortest:
        raise ShapeError("a window lies in the padding alone")
    check_size((len(real), longest), LISTED)
    return [[*window, *[window[0]] * (longest - len(window))] for window in real]


# the largest


def largest(xp: Namespace, x: Array, rows: Spots, columns: Spots
           ) -> tuple[Array, Array]:
    """The largest entry of each window, and where it stands in its picture."""
    height, width = x.shape[-2:]
    shape = (*x.shape[:-2], len(rows), len(columns))
    if not rows or not columns:
        return xp.new_full(x, shape, 0), xp.as_index([]).reshape(shape)
    down, across = level(rows, height), level(columns, width)
    check_size((len(down), len(across), len(down[0]), len(across[0])), LISTED)
    bands = [xp.getitem(x, (..., line(xp, at), slice(None))) for at in turn(down)]
    cells = [xp.getitem(band, (..., line(xp, at)))
             for band in bands for at in turn(across)]
    best, number = xp.largest_of(cells)
    cell = xp.as_index(range(0, len(down) * len(across) * len(cells), len(cells)))
    tall = xp.as_index(down).reshape((len(down), 1, len(down[0]), 1)) * width
    wide = xp.as_index(across).reshape((1, len(across), 1, len(across[0])))
    at = cell.reshape(shape[-2:]) + number
    return best, xp.getitem((tall + wide).reshape((-1,)), (at,))


def turn(windows: list[list[int]]) -> list[tuple[int, ...]]:
    """For each place in a window its positions in all windows of one length."""
    return list(zip(*windows, strict=True))


def line(xp: Namespace, at: Sequence[int]) -> slice | Positions:
    """What reads these positions of a dimension: a slice where they are even."""
    step = at[1] - at[0] if len(at) > 1 else 1
    even = range(at[0], at[0] + len(at) * step, step) if step > 0 else range(0)
    return slice(even.start, even.stop, step) if (*even,) == at else xp.as_index(at)


def flattened(x: Array) -> Shape:
    return (*x.shape[:-2], prod(x.shape[-2:]))


def largest_by_x(xp: Namespace, g: Array, y: Outputs, x: Array, **how: object) -> Array:
    at = xp.reshape(y[1], flattened(y[1]))
    back = xp.call("gather.backward", xp.reshape(g, at.shape), at, flattened(x), -1)
    return xp.reshape(back, x.shape)


def largest_along(xp: Namespace, t: Tangents, y: Outputs, x: Array, **how: object
                 ) -> Array:
    at = xp.reshape(y[1], flattened(y[1]))
    return xp.reshape(xp.gather(xp.reshape(t[0], flattened(x)), -1, at), y[1].shape)


def max_pool(xp: Namespace, x: Array, kernel_size: Shape, stride: Shape, padding: Shape,
             dilation: Shape, ceil_mode: bool = False) -> tuple[Array, Array]:
    spots = [sliding(n, k, s, p, d, ceil_mode) for n, k, s, p, d in zip(
        x.shape[-2:], kernel_size, stride, padding, dilation, strict=True)]
    return largest(xp, x, *spots)


row("max_pool2d.indices", node="MaxPool2DWithIndicesBackward0", fwd=max_pool, returns=2,
    refuses=no_kernel("max_pool2d", TRUTHS),
    rule=Rule("MaxPool2DWithIndicesBackwardBackward0"),
    doc="The largest entry of each window, and where it stands.",
    formula="y[p] = max(x[p*stride + k])", kink="equal entries: the first of them",
    vjp=(largest_by_x,), jvp=largest_along,
    cases=[case((1, 4, 4), kernel_size=(2, 2), stride=(2, 2), padding=(0, 0),
                dilation=(1, 1), make="distinct"),
           case((2, 3, 4), kernel_size=(2, 3), stride=(1, 2), padding=(1, 1),
                dilation=(1, 1), make="distinct"),
           case((1, 5, 5), kernel_size=(2, 2), stride=(2, 2), padding=(0, 0),
                dilation=(2, 1), ceil_mode=True, make="distinct")], saves="x y")

row("adaptive_max_pool2d.indices", node="AdaptiveMaxPool2DBackward0", returns=2,
    refuses=no_kernel("adaptive_max_pool2d"),
    rule=Rule("AdaptiveMaxPool2DBackwardBackward0"),
    doc="The largest entry of each of a given number of windows, and where it stands.",
    formula="y[p] = max(x[window p])", kink="equal entries: the first of them",
    fwd=lambda xp, x, output_size: largest(
        xp, x, *map(adaptive, x.shape[-2:], output_size)),
    vjp=(largest_by_x,), jvp=largest_along,
    cases=[case((1, 4, 5), output_size=(2, 3), make="distinct")], saves="x y")


# the mean


def on_lines(xp: Namespace, run: ArrayRule, x: Array, windows: Windows, *sizes: int
            ) -> Array:
    """``run`` along the last dimension, then along the one before it."""
    rows, columns = windows
    done = run(xp, x, columns, *sizes[1:])
    return turned(xp, run(xp, turned(xp, done), rows, *sizes[:1]))


def spots_of(xp: Namespace, spots: Spots, n: int) -> tuple[Array, int]:
    """The windows' positions, and how many there are: short windows end in ``n``,
    which lies behind the last."""
    real = [inside(window, n) for window in spots]
    longest = max(map(len, real), default=0)
    check_size((len(real), longest), LISTED)
    short = any(len(window) < longest for window in real)
    filled = [[*window, *[n] * (longest - len(window))] for window in real]
    return xp.reshape(xp.as_index(filled), (len(real), longest)), n + short


def in_sums(xp: Namespace, x: Array, spots: Spots) -> Array:
    """The sum of each window along the last dimension; no window sees another's."""
    n = x.shape[-1]
    at, length = spots_of(xp, spots, n)
    if length > n:
        x = xp.cat([x, xp.new_full(x, (*x.shape[:-1], 1), 0)], -1)
    return xp.sum(xp.getitem(x, (..., at)), -1)


def out_of_sums(xp: Namespace, g: Array, spots: Spots, n: int) -> Array:
    """Each sum's cotangent at all positions of its window."""
    at, length = spots_of(xp, spots, n)
    wide = xp.expand(xp.unsqueeze(g, -1), (*g.shape[:-1], *at.shape))
    return xp.narrow(xp.put_add((*g.shape[:-1], length), (..., at), wide), -1, 0, n)


def averaged(xp: Namespace, x: Array, windows: Windows, counts: Counts) -> Array:
    return on_lines(xp, in_sums, x, windows) / as_divisor(xp, x, counts)


def scattered(xp: Namespace, g: Array, windows: Windows, counts: Counts, size: Shape
              ) -> Array:
    each = g / as_divisor(xp, g, counts)
    return on_lines(xp, out_of_sums, each, windows, *size[-2:])


def as_divisor(xp: Namespace, x: Array, counts: Counts) -> Operand:
    """What each window's sum is divided by: by row and by column, or one number."""
    if isinstance(counts, int | float):
        return counts
    tall, wide = counts
    check_size((len(tall), len(wide)), LISTED)
    return xp.as_type_of(xp.as_index([[a * b for b in wide] for a in tall]), x)


def in_windows(size: Shape, kernel_size: Shape, stride: Shape, padding: Shape,
               ceil_mode: bool, count_include_pad: bool, divisor_override: int | None
               ) -> tuple[Windows, Counts]:
    """The windows over pictures of a size, and what their sums are divided by."""
    windows, counts = [], []
    for n, k, s, p in zip(size[-2:], kernel_size, stride, padding, strict=True):
        spots = sliding(n, k, s, p, 1, ceil_mode)
        wide = p if count_include_pad else 0
        windows.append(spots)
        counts.append([len(range(max(w.start, -wide), min(w.stop, n + wide)))
                       for w in spots])
    return windows, counts if divisor_override is None else divisor_override


def in_parts(size: Shape, output_size: Shape) -> tuple[Windows, Counts]:
    windows = [adaptive(n, count) for n, count in zip(
        size[-2:], output_size, strict=True)]
    return windows, [list(map(len, spots)) for spots in windows]


row("avg_pool2d.default", node="AvgPool2DBackward0", jvp=LINEAR, result=WHOLE,
    refuses=no_kernel("avg_pool2d", TRUTHS) | no_kernel("avg_pool2d", NARROW_WHOLES),
    saves="x", always_saves=True, rule=Rule("AvgPool2DBackwardBackward0"),
    memory=PACKED,
    doc="The mean of each window.", formula="y[p] = mean(x[p*stride + k])",
    fwd=lambda xp, x, kernel_size, stride, padding, ceil_mode=False,
    count_include_pad=True, divisor_override=None: averaged(xp, x, *in_windows(
        x.shape, kernel_size, stride, padding, ceil_mode, count_include_pad,
        divisor_override)),
    vjp=(lambda xp, g, y, x, **how: xp.call("avg_pool2d.backward", g, x.shape, **how),),
    cases=[case((1, 4, 4), kernel_size=(2, 2), stride=(2, 2), padding=(0, 0)),
           case((2, 3, 4), kernel_size=(2, 3), stride=(1, 2), padding=(1, 1)),
           case((1, 3, 3), kernel_size=(2, 2), stride=(2, 2), padding=(1, 0),
                ceil_mode=True, count_include_pad=False),
           case((1, 3, 3), kernel_size=(2, 2), stride=(1, 2), padding=(0, 1),
                divisor_override=3)])

row("avg_pool2d.backward", node="AvgPool2DBackwardBackward0", jvp=LINEAR,
    memory=PACKED,
    doc="Each window's cotangent in equal shares where the window lies.",
    formula="y[p*stride + k] += g[p]/count(k)",
    fwd=lambda xp, x, input_sizes, kernel_size, stride, padding, ceil_mode=False,
    count_include_pad=True, divisor_override=None: scattered(xp, x, *in_windows(
        input_sizes, kernel_size, stride, padding, ceil_mode, count_include_pad,
        divisor_override), input_sizes),
    vjp=(lambda xp, g, y, x, input_sizes, **how:
         xp.call("avg_pool2d.default", g, **how),),
    cases=[case((1, 2, 2), input_sizes=(1, 4, 4), kernel_size=(2, 2), stride=(2, 2),
                padding=(0, 0)),
           case((2, 4, 2), input_sizes=(2, 3, 4), kernel_size=(2, 3), stride=(1, 2),
                padding=(1, 1))])

row("adaptive_avg_pool2d.default", node="AdaptiveAvgPool2DBackward0", jvp=LINEAR,
    refuses=no_kernel("adaptive_avg_pool2d"),
    saves="x", always_saves=True, rule=Rule("AdaptiveAvgPool2DBackwardBackward0"),
    memory=PACKED,
    doc="The mean of each of a given number of windows.",
    formula="y[p] = mean(x[window p])",
    fwd=lambda xp, x, output_size: averaged(
        xp, x, *in_parts(x.shape, output_size)),
    vjp=(lambda xp, g, y, x, output_size:
         xp.call("adaptive_avg_pool2d.backward", g, x.shape, output_size),),
    cases=[case((1, 4, 5), output_size=(2, 3)), case((2, 3, 2), output_size=(1, 2))])

row("adaptive_avg_pool2d.backward", node="AdaptiveAvgPool2DBackwardBackward0",
    memory=PACKED,
    doc="Each window's cotangent in equal shares where the window lies.",
    formula="y[window p] += g[p]/count(window p)", jvp=LINEAR,
    fwd=lambda xp, x, input_sizes, output_size: scattered(
        xp, x, *in_parts(input_sizes, output_size), input_sizes),
    vjp=(lambda xp, g, y, x, input_sizes, output_size:
         xp.call("adaptive_avg_pool2d.default", g, output_size),),
    cases=[case((1, 2, 3), input_sizes=(1, 4, 5), output_size=(2, 3))])


# public


def of_rank(value: Any, rank: int) -> Shape:
    """One number for all dimensions, or a list with one for each."""
    given = as_sizes(value) if isinstance(value, list | tuple) else (int(value),)
    if len(given) not in (1, rank):
        raise ShapeError(f"expected one number or {rank}, got {list(given)}")
    return given * rank if len(given) == 1 else given


def options(kernel_size: Sizes, stride: Sizes | None, padding: Sizes, dilation: Sizes,
            rank: int) -> tuple[Shape, Shape, Shape, Shape]:
    """Kernel, step, border and gap of windows over two dimensions."""
    kernel = of_rank(kernel_size, rank)
    given = kernel if stride is None or stride in ((), []) else of_rank(stride, rank)
    edges, gaps = of_rank(padding, rank), of_rank(dilation, rank)
    if rank == 1:
        kernel, given, edges, gaps = (
            (one, *values) for one, values in (
                (1, kernel), (1, given), (0, edges), (1, gaps)))
    for values, name in ((kernel, "kernel size"), (given, "stride"),
                         (gaps, "dilation")):
        if min(values) < 1:
            raise ValueRangeError(f"{name} should be greater than zero, but got "
                                  f"{list(values)}")
    for p, k, d in zip(edges, kernel, gaps, strict=True):
        if not 0 <= p <= (d * (k - 1) + 1) // 2:
            raise ValueRangeError(
                f"pad should be at most half of effective kernel size, but got pad={p}"
                f", kernel_size={k} and dilation={d}" if p >= 0 else
                f"pad must be non-negative, but got pad: {p}")
    return kernel, given, edges, gaps


def check_picture(input: Array, rank: int, name: str) -> None:
    if len(input.shape) in (rank + 1, rank + 2):
        return
    if rank == 1:
        raise ShapeError(f"{name}: Expected 2D or 3D (batch mode) tensor with optional "
                         f"0 dim batch size for input, but got:{list(input.shape)}")
    raise ShapeError(
        "non-empty 3D or 4D (batch mode) tensor expected for input")


def check_filled(input: Array, rank: int, name: str) -> None:
    """Refuse pictures without entries; a batch may have no pictures."""
    batch = len(input.shape) == rank + 2
    if 0 not in input.shape[batch:]:
        return
    shape = list(input.shape)
    lead, dims = f"{name}: ", "2D or 3D"
    if name != "max_pool1d":
        lead, dims = "", "3D or 4D"
        shape[-1:-1] = [1] * (2 - rank)
    raise ShapeError(f"{lead}Expected {dims} (batch mode) tensor with optional 0 dim "
                     f"batch size for input, but got:{shape}")


def check_something(input: Array, name: str) -> None:
    """Refuse items without entries; a batch may have no items."""
    empty = next((d for d, n in enumerate(input.shape) if d and not n), None)
    if empty is not None:
        raise ShapeError(f"{name}(): Expected input to have non-zero size for "
                         f"non-batch dimensions, but input has sizes "
                         f"{list(input.shape)} with dimension {empty} being empty")


def check_output(input: Array, spots: list[Spots]) -> None:
    counts = list(map(len, spots))
    if min(counts) < 1:
        shown = ["x".join(map(str, [input.shape[-3], *sizes]))
                 for sizes in (input.shape[-2:], counts)]
        raise ShapeError(f"Given input size: ({shown[0]}). Calculated output size: "
                         f"({shown[1]}). Output size is too small")


def as_picture(call: Call, input: Array, rank: int, run: Callable[[Array], Array]
              ) -> Array | Outputs:
    """``run`` on the input; a sequence is made a picture of one row and back."""
    if rank == 2:
        return run(input)
    found = run(call("unsqueeze", input, -2))
    if isinstance(found, tuple):
        return tuple([call("squeeze", part, -2) for part in found])
    return call("squeeze", found, -2)


def pictures(input: Array, kernel: Shape, stride: Shape, padding: Shape,
             dilation: Shape, ceil_mode: bool) -> list[Spots]:
    return [sliding(n, k, s, p, d, ceil_mode) for n, k, s, p, d in zip(
        input.shape[-2:], kernel, stride, padding, dilation, strict=True)]


def enter(rank: int) -> None:
    """The four kinds of pooling over this many dimensions."""
    def max_pool(call: Call, input: Array, kernel_size: Sizes,
                 stride: Sizes | None = None, padding: Sizes = 0, dilation: Sizes = 1,
                 ceil_mode: bool = False, return_indices: bool = False
                ) -> Array | Outputs:
        check_picture(input, rank, f"max_pool{rank}d")
        check_filled(input, rank, f"max_pool{rank}d")
        how = options(kernel_size, stride, padding, dilation, rank)

        def run(x: Array) -> Array:
            check_output(x, pictures(x, *how, ceil_mode))
            found = call("max_pool2d.indices", x, *how, ceil_mode)
            return found if return_indices else found[0]
        return as_picture(call, input, rank, run)

    def avg_pool(call: Call, input: Array, kernel_size: Sizes,
                 stride: Sizes | None = None, padding: Sizes = 0,
                 ceil_mode: bool = False, count_include_pad: bool = True,
                 divisor_override: int | None = None) -> Array | Outputs:
        check_picture(input, rank, f"avg_pool{rank}d")
        check_filled(input, rank, f"avg_pool{rank}d")
        if divisor_override == 0:
            raise ValueRangeError("divisor must be not zero")
        kernel, steps, edges, gaps = options(kernel_size, stride, padding, 1, rank)

        def run(x: Array) -> Array:
            check_output(x, pictures(x, kernel, steps, edges, gaps, ceil_mode))
            return call("avg_pool2d.default", x, kernel, steps, edges, ceil_mode,
                        count_include_pad, divisor_override)
        return as_picture(call, input, rank, run)

    def wanted(input: Array, output_size: Sizes) -> Shape:
        sizes = output_size if isinstance(output_size, list | tuple) else [
            output_size] * rank
        own = input.shape[len(input.shape) - rank:]
        found = tuple([n if size is None else int(size)
                       for size, n in zip(sizes, own, strict=True)])
        return found if rank == 2 else (1, *found)

    def adaptive_avg(call: Call, input: Array, output_size: Sizes) -> Array | Outputs:
        if rank == 2 and output_size == 1 and len(input.shape) == 2:
            return call("mean", input, (-1, -2), True)
        check_picture(input, rank, f"adaptive_avg_pool{rank}d")
        size = wanted(input, output_size)
        if size != (1, 1):
            check_something(input, f"adaptive_avg_pool{rank}d")
        if min(size) < 0:
            raise ShapeError("adaptive_avg_pool2d: elements of output_size must be "
                             "greater than or equal to 0 but received "
                             f"{{{', '.join(map(str, size))}}}")
        if size == (1, 1):
            return as_picture(call, input, rank,
                              lambda x: call("mean", x, (-1, -2), True))
        return as_picture(call, input, rank,
                          lambda x: call("adaptive_avg_pool2d.default", x, size))

    def adaptive_max(call: Call, input: Array, output_size: Sizes,
                     return_indices: bool = False) -> Array | Outputs:
        check_picture(input, rank, f"adaptive_max_pool{rank}d")
        check_something(input, f"adaptive_max_pool{rank}d")

        size = wanted(input, output_size)
        if min(size) < 0:
            shown = [*input.shape[:-rank], *size]
            raise ShapeError(
                f"Trying to create tensor with negative dimension {min(size)}: {shown}")

        def run(x: Array) -> Array:
            found = call("adaptive_max_pool2d.indices", x, size)
            return found if return_indices else found[0]
        return as_picture(call, input, rank, run)

    size = (4, 5)[:rank]
    function(f"max_pool{rank}d", max_pool, operands=("input",),
             cases=[case((1, 2, *size), kernel_size=2, make="distinct"),
                    case((2, *size), kernel_size=3, stride=1, padding=1,
                         ceil_mode=True, make="distinct")],
             formula="y[p] = max(input[p*stride + k])",
             kink="equal entries: the first of them",
             doc="The largest entry of each window that slides over the input.")
    function(f"avg_pool{rank}d", avg_pool, operands=("input",),
             cases=[case((1, 2, *size), kernel_size=2),
                    case((2, *size), kernel_size=3, stride=2, padding=1,
                         count_include_pad=False)],
             formula="y[p] = mean(input[p*stride + k])",
             doc="The mean of each window that slides over the input.")
    function(f"adaptive_avg_pool{rank}d", adaptive_avg, operands=("input",),
             cases=[case((1, 2, *size), output_size=2),
                    case((2, *size), output_size=1)],
             formula="y[p] = mean(input[window p])",
             doc="The mean of each of a given number of windows.")
    function(f"adaptive_max_pool{rank}d", adaptive_max, operands=("input",),
             cases=[case((1, 2, *size), output_size=2, make="distinct")],
             formula="y[p] = max(input[window p])",
             kink="equal entries: the first of them",
             doc="The largest entry of each of a given number of windows.")


for dims in (1, 2):
    enter(dims)
