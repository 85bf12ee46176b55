"""Pooling: the largest entry, or the mean, of each window of the last dimensions.

Invariant: of equal largest entries the first counts, and only it gets the cotangent; a
mean depends only on its window's entries (see `Sums`). Rows exist for pictures and
volumes; as in PyTorch, a sequence is pooled as a picture of one row. A position is the
number of an entry in the flattened spatial dimensions.

    y, at = max_pool2d(x, 2, return_indices=True)   # MaxPool2DWithIndicesBackward0
    adaptive_avg_pool2d(x, 3)       # AdaptiveAvgPool2DBackward0
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from .checks import (
    LISTED,
    ValueRangeError,
    check_size,
    each_dim,
    refuse,
)
from .op import (
    HALF,
    LINEAR,
    PACKED,
    TRUTHS,
    WHOLE,
    Rule,
    case,
    function,
    of_floats,
    of_numbers,
    row,
)
from .resampling import Sums, evenly, gathered, spread
from .types import (
    Array,
    Caller,
    Namespace,
    Operand,
    Outputs,
    Positions,
    Result,
    Shape,
    Sizes,
    Vjp,
)

# fmt: off


Spots = Sequence[range]
"""The windows along a dimension, each as the range of the positions that it covers."""


def sliding(n: int, kernel: int, stride: int, padding: int, dilation: int,
            ceil_mode: bool) -> Spots:
    """Return windows over positions 0 to n - 1; others that they cover are padding."""
    room = n + 2 * padding - dilation * (kernel - 1) - 1
    count = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
    if ceil_mode and (count - 1) * stride >= n + padding:
        count -= 1
    check_size((max(count, 0),), LISTED)
    starts = [i * stride - padding for i in range(count)]
    return [range(at, at + kernel * dilation, dilation) for at in starts]


def adaptive(n: int, count: int) -> Spots:
    """Return ``count`` windows of about equal length that cover all n positions."""
    check_size((count,), LISTED)
    return [range(i * n // count, -(-(i + 1) * n // count)) for i in range(count)]


def inside(window: range, n: int) -> range:
    """Return the part of a window within positions 0 to n - 1, outside the padding."""
    if window and window[0] >= 0 and window[-1] < n:
        return window
    before, behind = (max(0, -((window.start - end) // window.step)) for end in (0, n))
    return window[before:behind]


def level(spots: Spots, n: int) -> list[list[int]]:
    """Return the windows without padding, all of one length: short ones repeat their
    first position."""
    real = [inside(window, n) for window in spots]
    longest, shortest = (extreme(map(len, real)) for extreme in (max, min))
    refuse(not shortest, "a window lies completely in the padding")
    check_size((len(real), longest), LISTED)
    return [[*window, *[window[0]] * (longest - len(window))] for window in real]


# largest entries


def largest(xp: Namespace, x: Array, windows: Sequence[Spots]) -> tuple[Array, Array]:
    """Return the largest entry of each window over the last dimensions, and its number
    among the entries of these dimensions flattened."""
    rank = len(windows)
    sizes, counts = x.shape[-rank:], tuple(map(len, windows))
    shape = (*x.shape[:-rank], *counts)
    if not all(counts):
        return xp.new_full(x, shape, 0), xp.as_index([]).reshape(shape)
    levels = [level(spots, n) for spots, n in zip(windows, sizes, strict=True)]
    kernel = [len(each[0]) for each in levels]
    check_size((*counts, *kernel))
    cells = [x]
    for d, each in enumerate(levels, start=1):
        rest = [slice(None)] * (rank - d)
        cells = [xp.getitem(cell, (..., evenly(xp, at), *rest))
                 for cell in cells for at in zip(*each, strict=True)]
    best, number = xp.largest_of(cells)
    lines = []
    for d, each in enumerate(levels):
        alone = [1] * (2 * rank)
        alone[d], alone[rank + d] = counts[d], kernel[d]
        lines.append(xp.as_index(each).reshape(alone))
    places = numbered(lines, sizes)
    first = xp.as_index(range(0, prod(counts) * len(cells), len(cells)))
    return best, xp.getitem(places.reshape((-1,)), (first.reshape(counts) + number,))


def numbered(places: Sequence[Any], sizes: Sequence[int]) -> Any:
    """Return the numbers, in the flattened dimensions, of positions along each one."""
    number = places[0]
    for at, n in zip(places[1:], sizes[1:], strict=True):
        number = number * n + at
    return number


def flattened(x: Array, rank: int) -> Shape:
    return (*x.shape[:-rank], prod(x.shape[-rank:]))


def largest_by_x(rank: int) -> Vjp:
    def pulled(xp: Namespace, g: Array, y: tuple[Array, Positions], x: Array,
               **how: object) -> Array:
        at = y[1].reshape(flattened(y[1], rank))
        back = xp.call("gather.backward", xp.reshape(g, at.shape), at,
                       flattened(x, rank), -1)
        return xp.reshape(back, x.shape)
    return pulled


def over(x: Array, kernel: Shape, stride: Shape, padding: Shape, dilation: Shape,
         ceil_mode: bool) -> list[Spots]:
    """Return, for each of the last dimensions of ``x``, the windows sliding over it."""
    return [sliding(n, k, s, p, d, ceil_mode) for n, k, s, p, d in zip(
        x.shape[-len(kernel):], kernel, stride, padding, dilation, strict=True)]


# means


def averaged(xp: Namespace, x: Array, lines: Sequence[Sums], counts: Counts) -> Array:
    return gathered(xp, x, lines) / as_divisor(xp, x, counts)


def scattered(xp: Namespace, g: Array, lines: Sequence[Sums], counts: Counts,
              size: Shape) -> Array:
    return spread(xp, g / as_divisor(xp, g, counts), lines, size)


def as_divisor(xp: Namespace, x: Array, counts: Counts) -> Operand:
    """Return the divisor of each window's sum: the product of its sizes along all
    dimensions, or one number for all windows."""
    if isinstance(counts, int | float):
        return counts
    check_size(tuple(map(len, counts)))
    total: Operand = 1
    for d, each in enumerate(counts, start=1):
        total = total * xp.reshape(xp.as_index(each), (-1, *(1,) * (len(counts) - d)))
    return xp.as_type_of(total, x)


Counts = list[list[int]] | int
"""Sizes of the windows along each dimension, or one divisor for all windows."""

Means = tuple[list[Sums], Counts]
"""The windows that are summed, as a `Sums` per dimension, and the divisors of sums."""


def in_windows(size: Shape, kernel_size: Shape, stride: Shape, padding: Shape,
               ceil_mode: bool = False, count_include_pad: bool = True,
               divisor_override: int | None = None) -> Means:
    """Return the windows of a mean that slide over an input of a size, and divisors."""
    lines, counts = [], []
    for n, k, s, p in zip(size[-len(kernel_size):], kernel_size, stride, padding,
                          strict=True):
        spots = sliding(n, k, s, p, 1, ceil_mode)
        wide = p if count_include_pad else 0
        lines.append(Sums([inside(window, n) for window in spots]))
        counts.append([len(range(max(w.start, -wide), min(w.stop, n + wide)))
                       for w in spots])
    return lines, counts if divisor_override is None else divisor_override


def in_parts(size: Shape, output_size: Shape) -> Means:
    sizes = size[-len(output_size):]
    windows = [adaptive(n, count) for n, count in zip(sizes, output_size, strict=True)]
    return [Sums(spots) for spots in windows], [
        list(map(len, spots)) for spots in windows]


def rows_of_rank(rank: int, refused: str) -> None:
    """Enter the four rows of pooling for ``rank`` dimensions, and the transposes of the
    means; the mean of sliding windows refuses the dtypes ``refused``."""
    dims, title = f"{rank}d", f"{rank}D"
    by_x = (largest_by_x(rank),)
    two, one, none = ((n,) * rank for n in (2, 1, 0))

    of_numbers(f"max_pool{dims}.indices", node=f"MaxPool{title}WithIndicesBackward0",
        fwd=lambda xp, x, kernel_size, stride, padding, dilation, ceil_mode=False:
        largest(xp, x, over(x, kernel_size, stride, padding, dilation, ceil_mode)),
        returns=2, rule=Rule(f"MaxPool{title}WithIndicesBackwardBackward0"),
        formula="y[p] = max(x[p*stride + k])", kink="equal entries: the first of them",
        vjp=by_x, saves="x y",
        cases=[case((1, *(4,) * rank), kernel_size=two, stride=two, padding=none,
                    dilation=one, make="distinct"),
               case((2, 3, 4, 3)[:rank + 1], kernel_size=(2, 3, 2)[:rank],
                    stride=(1, 2, 2)[:rank], padding=one, dilation=one,
                    make="distinct"),
               case((1, 5, 5, 3)[:rank + 1], kernel_size=two, stride=two, padding=none,
                    dilation=(2, 1, 1)[:rank], ceil_mode=True, make="distinct")])

    of_floats(f"adaptive_max_pool{dims}.indices",
        node=f"AdaptiveMaxPool{title}Backward0", returns=2,
        rule=Rule(f"AdaptiveMaxPool{title}BackwardBackward0"),
        fwd=lambda xp, x, output_size: largest(
            xp, x, [*map(adaptive, x.shape[-len(output_size):], output_size)]),
        formula="y[p] = max(x[window p])", kink="equal entries: the first of them",
        vjp=by_x, saves="x y",
        cases=[case((1, 4, 5, 2)[:rank + 1], output_size=(2, 3, 1)[:rank],
                    make="distinct")])

    mean, parts = f"avg_pool{dims}", f"adaptive_avg_pool{dims}"
    row(f"{mean}.default", jvp=LINEAR, result=WHOLE, refuses=refused,
        saves="x", always_saves=True, memory=PACKED,
        rule=Rule(f"AvgPool{title}BackwardBackward0"), wide=True,
        formula="y[p] = mean(x[p*stride + k])",
        fwd=lambda xp, x, kernel_size, stride, padding, ceil_mode=False,
        count_include_pad=True, divisor_override=None: averaged(xp, x, *in_windows(
            x.shape, kernel_size, stride, padding, ceil_mode, count_include_pad,
            divisor_override)),
        vjp=(lambda xp, g, y, x, **how: xp.call(f"{mean}.backward", g, x.shape,
                                                **how),),
        cases=[case((1, *(4,) * rank), kernel_size=two, stride=two, padding=none),
               case((2, 3, 4, 3)[:rank + 1], kernel_size=(2, 3, 2)[:rank],
                    stride=(1, 2, 2)[:rank], padding=one),
               case((1, 3, 3, 2)[:rank + 1], kernel_size=two, stride=two,
                    padding=(1, 0, 1)[:rank], ceil_mode=True, count_include_pad=False),
               case((1, 3, 3, 2)[:rank + 1], kernel_size=two, stride=(1, 2, 1)[:rank],
                    padding=(0, 1, 0)[:rank], divisor_override=3)])

    row(f"{mean}.backward", node=f"AvgPool{title}BackwardBackward0", jvp=LINEAR,
        memory=PACKED,
        formula="y[p*stride + k] += g[p]/count(k)",
        fwd=lambda xp, x, input_sizes, kernel_size, stride, padding, ceil_mode=False,
        count_include_pad=True, divisor_override=None: scattered(xp, x, *in_windows(
            input_sizes, kernel_size, stride, padding, ceil_mode, count_include_pad,
            divisor_override), input_sizes),
        vjp=(lambda xp, g, y, x, input_sizes, **how:
             xp.call(f"{mean}.default", g, **how),),
        cases=[case((1, *two), input_sizes=(1, *(4,) * rank), kernel_size=two,
                    stride=two, padding=none),
               case((2, 4, 2, 2)[:rank + 1], input_sizes=(2, 3, 4, 3)[:rank + 1],
                    kernel_size=(2, 3, 2)[:rank], stride=(1, 2, 2)[:rank],
                    padding=one)])

    of_floats(f"{parts}.default", jvp=LINEAR, memory=PACKED, saves="x",
        always_saves=True,
        rule=Rule(f"AdaptiveAvgPool{title}BackwardBackward0"), wide=True,
        doc="The mean of each of a given number of windows.",
        formula="y[p] = mean(x[window p])",
        fwd=lambda xp, x, output_size: averaged(xp, x, *in_parts(x.shape, output_size)),
        vjp=(lambda xp, g, y, x, output_size:
             xp.call(f"{parts}.backward", g, x.shape, output_size),),
        cases=[case((1, 4, 5, 2)[:rank + 1], output_size=(2, 3, 1)[:rank]),
               case((2, 3, 2, 3)[:rank + 1], output_size=(1, 2, 2)[:rank])])

    row(f"{parts}.backward", node=f"AdaptiveAvgPool{title}BackwardBackward0",
        memory=PACKED, jvp=LINEAR,
        formula="y[window p] += g[p]/count(window p)",
        fwd=lambda xp, x, input_sizes, output_size: scattered(
            xp, x, *in_parts(input_sizes, output_size), input_sizes),
        vjp=(lambda xp, g, y, x, input_sizes, output_size:
             xp.call(f"{parts}.default", g, output_size),),
        cases=[case((1, 2, 3, 1)[:rank + 1], input_sizes=(1, 4, 5, 2)[:rank + 1],
                    output_size=(2, 3, 1)[:rank])])


rows_of_rank(2, f"{TRUTHS} uint8 int8 int16 int32")
rows_of_rank(3, f"{TRUTHS} uint8 int8 int16 int32{HALF}")


# public functions


def options(kernel_size: Sizes, stride: Sizes | None, padding: Sizes, dilation: Sizes,
            rank: int) -> tuple[Shape, Shape, Shape, Shape]:
    """Return the windows' kernel, stride, padding and dilation, after checks; for a
    sequence, those over a picture of one row."""
    kernel = each_dim("kernel_size", kernel_size, rank, 1)
    steps = kernel if stride in (None, (), []) else each_dim("stride", stride, rank, 1)
    edges = each_dim("padding", padding, rank, 0)
    gaps = each_dim("dilation", dilation, rank, 1)
    if rank == 1:
        kernel, steps, edges, gaps = (1, *kernel), (1, *steps), (0, *edges), (1, *gaps)
    for p, k, d in zip(edges, kernel, gaps, strict=True):
        refuse(p > (d * (k - 1) + 1) // 2, "pad should be at most half of effective "
               "kernel size, but got pad={}, kernel_size={} and dilation={}", p, k, d,
               kind=ValueRangeError)
    return kernel, steps, edges, gaps


def check_output(input: Array, spots: list[Spots]) -> None:
    counts = list(map(len, spots))
    lead, inner = input.shape[-len(counts) - 1], input.shape[-len(counts):]
    shown = ["x".join(map(str, (lead, *sizes))) for sizes in (inner, counts)]
    refuse(min(counts) < 1, "Given input size: ({}). Calculated output size: ({}). "
           "Output size is too small", *shown)


Wanted = int | list[int | None] | tuple[int | None, ...] | None
"""A result's size, or a list of one per dimension; None keeps the input's size."""


def as_picture(call: Caller, input: Array, rank: int, run: Callable[[Array], Result],
               filled: bool = False) -> Result | Outputs:
    """Return ``run(input)``; a sequence is pooled as a picture of one row.

    Raises:
        ShapeError: there are too many or too few dimensions; or, if it has to be
            ``filled``, a dimension other than the batch has size 0.
    """
    lead = len(input.shape) - rank
    refuse(lead not in (1, 2), "non-empty {}D or {}D (batch mode) tensor expected for "
           "input", rank + 1, rank + 2)
    x = input if rank > 1 else call("unsqueeze", input, -2)
    wide = max(rank, 2)
    refuse(filled and 0 in x.shape[lead - 1:], "Expected {}D or {}D (batch mode) "
           "tensor with optional 0 dim batch size for input, but got:{}", wide + 1,
           wide + 2, list(x.shape))
    found = run(x)
    if rank > 1:
        return found
    if isinstance(found, tuple):
        return tuple([call("squeeze", part, -2) for part in found])
    return call("squeeze", found, -2)


def enter(rank: int) -> None:
    """Enter the four public functions of pooling over ``rank`` dimensions."""
    dims, size = f"{max(rank, 2)}d", (4, 5, 4)[:rank]
    everywhere = tuple(range(-1, -max(rank, 2) - 1, -1))

    @function(f"max_pool{rank}d", operands=("input",),
              cases=[case((1, 2, *size), kernel_size=2, make="distinct"),
                     case((2, *size), kernel_size=3, stride=1, padding=1,
                          ceil_mode=True, make="distinct")],
              formula="y[p] = max(input[p*stride + k])",
              kink="equal entries: the first of them",
              doc="The largest entry of each window that slides over the input.")
    def max_pool(call: Caller, input: Array, kernel_size: Sizes,
                 stride: Sizes | None = None, padding: Sizes = 0, dilation: Sizes = 1,
                 ceil_mode: bool = False, return_indices: bool = False
                 ) -> Result | Outputs:
        def run(x: Array) -> Result:
            how = options(kernel_size, stride, padding, dilation, rank)
            check_output(x, over(x, *how, ceil_mode))
            found = call(f"max_pool{dims}.indices", x, *how, ceil_mode)
            return found if return_indices else found[0]
        return as_picture(call, input, rank, run, True)

    @function(f"avg_pool{rank}d", operands=("input",),
              cases=[case((1, 2, *size), kernel_size=2),
                     case((2, *size), kernel_size=3, stride=2, padding=1,
                          count_include_pad=False)],
              formula="y[p] = mean(input[p*stride + k])",
              doc="The mean of each window that slides over the input.")
    def avg_pool(call: Caller, input: Array, kernel_size: Sizes,
                 stride: Sizes | None = None, padding: Sizes = 0,
                 ceil_mode: bool = False, count_include_pad: bool = True,
                 divisor_override: int | None = None) -> Result | Outputs:
        refuse(divisor_override == 0, "divisor must be not zero", kind=ValueRangeError)

        def run(x: Array) -> Result:
            kernel, steps, edges, gaps = options(kernel_size, stride, padding, 1, rank)
            inner = x.shape[-len(kernel):]
            refuse(rank == 3 and any(map(int.__lt__, inner, kernel)), "avg_pool3d: "
                   "volumes of {} are smaller than windows of {}", inner, kernel)
            check_output(x, over(x, kernel, steps, edges, gaps, ceil_mode))
            return call(f"avg_pool{dims}.default", x, kernel, steps, edges, ceil_mode,
                        count_include_pad, divisor_override)
        return as_picture(call, input, rank, run, True)

    def wanted(x: Array, output_size: Wanted, name: str) -> Shape:
        """Return the sizes of the result for a picture; raise if the picture is empty,
        unless a single mean of all its entries is wanted."""
        sizes = output_size if isinstance(output_size, list | tuple) else [
            output_size] * rank
        own = x.shape[-rank:]
        found = (*(1,) * (rank == 1), *[n if size is None else int(size) for size, n in
                                        zip(sizes, own, strict=True)])
        empty = next((d for d, n in enumerate(x.shape) if d and not n), None)
        refuse(empty is not None and ("max" in name or set(found) != {1}),
               "{}{}d(): Expected input to have non-zero size for non-batch "
               "dimensions, but input has sizes {} with dimension {} being empty", name,
               rank, list(x.shape), empty)
        return found

    @function(f"adaptive_avg_pool{rank}d", operands=("input",),
              cases=[case((1, 2, *size), output_size=2),
                     case((2, *size), output_size=1)],
              formula="y[p] = mean(input[window p])",
              doc="The mean of each of a given number of windows.")
    def adaptive_avg(call: Caller, input: Array, output_size: Wanted
                     ) -> Result | Outputs:
        if rank > 1 and output_size == 1 and len(input.shape) == rank:
            return call("mean", input, everywhere, True)

        def run(x: Array) -> Result:
            size = wanted(x, output_size, "adaptive_avg_pool")
            refuse(min(size) < 0, "adaptive_avg_pool{}: elements of output_size must "
                   "be greater than or equal to 0 but received {{{}}}", dims,
                   ", ".join(map(str, size)))
            if set(size) == {1}:
                return call("mean", x, everywhere, True)
            return call(f"adaptive_avg_pool{dims}.default", x, size)
        return as_picture(call, input, rank, run)

    @function(f"adaptive_max_pool{rank}d", operands=("input",),
              cases=[case((1, 2, *size), output_size=2, make="distinct")],
              formula="y[p] = max(input[window p])",
              kink="equal entries: the first of them",
              doc="The largest entry of each of a given number of windows.")
    def adaptive_max(call: Caller, input: Array, output_size: Wanted,
                     return_indices: bool = False) -> Result | Outputs:
        def run(x: Array) -> Result:
            size = wanted(x, output_size, "adaptive_max_pool")
            refuse(min(size) < 0, "Trying to create tensor with negative dimension {}: "
                   "{}", min(size), [*x.shape[:-len(size)], *size])
            found = call(f"adaptive_max_pool{dims}.indices", x, size)
            return found if return_indices else found[0]
        return as_picture(call, input, rank, run)


for rank in (1, 2, 3):
    enter(rank)
