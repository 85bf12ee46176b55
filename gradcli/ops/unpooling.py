"""What belongs to pooling beside it: its partial inverse, windows drawn at random, and
windows by a norm.

Invariant: a position is the number of an entry in its plane, the last dimensions
together, as `pooling` gives it.

    y, at = max_pool2d(x, 2, return_indices=True)
    max_unpool2d(y, at, 2)          # MaxUnpool2DBackward0: y where it came from, else 0
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import inf, prod
from typing import Protocol

from .checks import ShapeError, ValueRangeError, as_sizes
from .exact import reciprocal
from .gather import surviving
from .index import check_positions
from .limits import LISTED, check_size
from .op import (
    LINEAR,
    PACKED,
    WHOLES,
    Fixed,
    Rule,
    case,
    function,
    no_kernel,
    row,
)
from .pooling import flattened, largest_along, largest_by_x, numbered, of_rank
from .types import Array, Call, Namespace, Nested, Positions, Shape, Sizes

# fmt: off


def planes(xp: Namespace, x: Array, rank: int) -> Array:
    """Each plane as one line."""
    return xp.reshape(x, (prod(x.shape[:-rank]), prod(x.shape[-rank:])))


def unpool(xp: Namespace, x: Array, indices: Array, output_size: Shape) -> Array:
    rank = len(output_size)
    lines = planes(xp, x, rank)
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
    """Whether a position stands twice in a plane."""
    lines = at.reshape(flattened(at, rank)).reshape((-1, prod(at.shape[-rank:])))
    return any(len(set(line)) < len(line) for line in lines.tolist())


def row_of_unpooling(rank: int, indices: Nested, size: Shape) -> None:
    row(f"max_unpool{rank}d.default", node=f"MaxUnpool{rank}DBackward0", jvp=LINEAR,
        refuses=no_kernel(f"max_unpool{rank}d"), memory=PACKED,
        doc="Zeros with entries at the positions that they were found at; of those "
            "that share one the last.", formula="y[indices[p]] = x[p]",
        fwd=unpool, vjp=(unpool_by_x, None),
        cases=[case(size, Fixed(indices), output_size=(4, 3, 2)[:rank])])


row_of_unpooling(2, [[[0, 5], [10, 7]]], (1, 2, 2))
row_of_unpooling(3, [[[[0, 5]], [[10, 7]]]], (1, 2, 1, 2))


def size_asked(sizes: Shape, kernel: Shape, stride: Shape, padding: Shape,
               output_size: list[int] | tuple[int, ...] | None) -> Shape:
    """The size that was pooled: as asked for, within what it can have been."""
    usual = [(n - 1) * s + k - 2 * p for n, k, s, p in zip(
        sizes, kernel, stride, padding, strict=True)]
    if output_size is None:
        return tuple(usual)
    rank, wanted = len(kernel), tuple(output_size)
    if len(wanted) == rank + 2:
        wanted = wanted[2:]
    if len(wanted) != rank:
        raise ValueRangeError(
            f"output_size should be a sequence containing {rank} or {rank + 2} "
            f"elements, but it has a length of '{len(wanted)}'")
    for d, (n, least, s) in enumerate(zip(wanted, usual, stride, strict=True)):
        if not least - s < n < least + s:
            raise ValueRangeError(f'invalid output_size "{output_size}" (dim {d} must '
                                  f"be between {least - s} and {least + s})")
    return as_sizes(wanted)


def on_planes(call: Call, x: Array, at: Array, size: Shape) -> Array:
    rank, have = len(size), len(x.shape)
    if have not in (rank + 1, rank + 2):
        raise ShapeError(
            f"Input to max_unpooling{rank}d should be a {rank + 1}d or {rank + 2}d "
            f"Tensor, but got a tensor with {have} dimensions.")
    if tuple(at.shape) != tuple(x.shape):
        raise ShapeError(
            "Expected shape of indices to be same as that of the input tensor "
            f"({list(x.shape)}) but got indices tensor with shape: {list(at.shape)}")
    return call(f"max_unpool{rank}d.default", x, at, size)


def enter_unpooling(rank: int) -> None:
    """``max_unpool{rank}d``; a sequence is made a picture of one column and back."""
    def unpooled(call: Call, input: Array, indices: Array, kernel_size: Sizes,
                 stride: Sizes | None = None, padding: Sizes = 0,
                 output_size: list[int] | tuple[int, ...] | None = None) -> Array:
        kernel, edges = of_rank(kernel_size, rank), of_rank(padding, rank)
        steps = kernel if stride is None else of_rank(stride, rank)
        size = size_asked(tuple(input.shape[-rank:]), kernel, steps, edges, output_size)
        if min(size) < 0:
            raise ValueRangeError(
                "max_unpooling: output_size must contain non-negative spatial "
                f"dimensions, but got {list(size)}")
        if rank > 1:
            return on_planes(call, input, indices, size)
        column, at = (call("unsqueeze", t, -1) for t in (input, indices))
        return call("squeeze", on_planes(call, column, at, (*size, 1)), -1)

    places = ([0, 3], [[0, 3], [8, 10]], [[[0, 3]], [[24, 31]]])[rank - 1]
    size = ((2,), (2, 2), (2, 1, 2))[rank - 1]
    function(f"max_unpool{rank}d", unpooled, operands=("input", "indices"),
             formula="y[indices[p]] = input[p]",
             doc="Zeros with the largest entries where max_pool found them.",
             cases=[case((1, *size), Fixed([places]), kernel_size=2)])


# windows drawn at random

Samples = list[list[list[float]]] | tuple[tuple[tuple[float, ...], ...], ...]
"""By item, plane and dimension a number from 0 to 1."""

Ratio = float | list[float] | tuple[float, ...]
"""How much shorter dimensions become: all of them, or each."""


class Listed(Array, Protocol):
    """A tensor of samples."""

    def tolist(self) -> list[list[list[float]]]: ...


# Graham 2014, arXiv:1412.6071, section 2.1: pseudorandom sequences.
def starts(n: int, count: int, kernel: int, sample: float) -> list[int]:
    """Where ``count`` windows begin that cover ``n`` positions; the last at the end."""
    step = (n - kernel) / (count - 1) if count > 1 else 0.0
    begun = [int((i + sample) * step) - int(sample * step) for i in range(count - 1)]
    return [*begun, n - kernel]


def fractional(xp: Namespace, x: Array, kernel_size: Shape, output_size: Shape,
               random_samples: Samples) -> tuple[Array, Array]:
    """The largest entries of windows that begin where each plane's samples say."""
    rank = len(kernel_size)
    sizes, lines = x.shape[-rank:], planes(xp, x, rank)
    check_size((lines.shape[0], *output_size, *kernel_size), LISTED)
    drawn = [each for item in random_samples for each in item]
    firsts = []
    for d, (n, count, k) in enumerate(
            zip(sizes, output_size, kernel_size, strict=True)):
        # A picture's samples are those of its columns, then of its rows.
        nr = rank - 1 - d if rank == 2 else d
        begun = xp.as_index([starts(n, count, k, each[nr]) for each in drawn])
        alone = [count if d == other else 1 for other in range(rank)]
        firsts.append(begun.reshape((-1, *alone)))
    corner = numbered(firsts, sizes)
    offsets = [number_of(at, sizes) for at in product(*map(range, kernel_size))]
    plane = xp.as_index(range(lines.shape[0])).reshape((-1, *(1,) * rank))
    cells = [xp.getitem(lines, (plane, corner + offset)) for offset in offsets]
    best, number = xp.largest_of(cells)
    shape = (*x.shape[:-rank], *output_size)
    at = corner + xp.getitem(xp.as_index(offsets), (number,))
    return xp.reshape(best, shape), at.reshape(shape)


def number_of(at: Sequence[int], sizes: Sequence[int]) -> int:
    """A place's number in the flattened plane."""
    number = 0
    for i, n in zip(at, sizes, strict=True):
        number = number * n + i
    return number


def row_of_fractions(rank: int) -> None:
    size, samples = (5, 6, 4)[:rank], [[[0.3, 0.8, 0.1][:rank], [0.7, 0.2, 0.9][:rank]]]
    row(f"fractional_max_pool{rank}d.indices",
        node=f"FractionalMaxPool{rank}DBackward0",
        returns=2, refuses=no_kernel(f"fractional_max_pool{rank}d_out_frame", WHOLES),
        rule=Rule(f"FractionalMaxPool{rank}DBackwardBackward0"),
        doc="The largest entry of each window, and where it stands; windows begin "
            "where samples say.", formula="y[p] = max(x[start(p) + k])",
        kink="equal entries: the first of them", fwd=fractional,
        vjp=(largest_by_x(rank),), jvp=largest_along(rank), saves="x y",
        cases=[case((2, *size), kernel_size=(2,) * rank, output_size=(2, 3, 2)[:rank],
                    random_samples=samples, make="distinct")])


row_of_fractions(2)
row_of_fractions(3)

AXES = ("time", "height", "width")


def enter_fractions(rank: int) -> None:
    """``fractional_max_pool{rank}d``."""
    name = f"fractional_max_pool{rank}d"
    said = f"{name}()" if rank == 2 else f"{name}_out()"

    def pooled(call: Call, input: Array, kernel_size: Sizes,
               output_size: Sizes | None = None, output_ratio: Ratio | None = None,
               return_indices: bool = False,
               _random_samples: Samples | Listed | None = None) -> Array:
        sizes = tuple(input.shape[-rank:])
        if output_size is None:
            if output_ratio is None:
                raise ValueRangeError(f"{name} requires specifying either an "
                                      "output_size or an output_ratio")
            given = output_ratio if isinstance(output_ratio, list | tuple) else (
                output_ratio,) * rank
            output_size = [int(n * r) for n, r in zip(sizes, given, strict=True)]
        kernel, counts = of_rank(kernel_size, rank), of_rank(output_size, rank)
        if len(input.shape) not in (rank + 1, rank + 2):
            raise ShapeError(f"{said}: Expected {rank + 1}D or {rank + 2}D tensor, but "
                             f"got: {list(input.shape)}")
        if min(kernel) < 1:
            raise ValueRangeError(f"{name}: kernel size should be greater than zero, "
                                  f"but got {list(kernel)}")
        batch = len(input.shape) - rank - 1
        for d, n in enumerate(input.shape[batch:], start=batch):
            if not n:
                raise ShapeError(
                    f"{said}: Expected input to have non-zero size for non-batch "
                    f"dimensions, but got{list(input.shape)} with dimension {d} being "
                    "empty.")
        for axis, n, count, k in zip(AXES[-rank:], sizes, counts, kernel, strict=True):
            if count + k - 1 > n:
                raise ShapeError(f"{said}: pool {axis} {k} too large relative to input "
                                 f"{axis} {n}")
        items = input.shape[0] if batch else 1
        samples = as_samples(name, _random_samples, (items, input.shape[batch], rank))
        found = call(f"{name}.indices", input, kernel, counts, samples)
        return found if return_indices else found[0]

    samples = [[[0.3, 0.8, 0.1][:rank], [0.7, 0.2, 0.9][:rank]]]
    function(name, pooled, operands=("input",),
             formula="y[p] = max(input[start(p) + k])",
             kink="equal entries: the first of them",
             doc="The largest entry of each window, of windows that overlap at random.",
             cases=[case((2, *(5, 6, 4)[:rank]), kernel_size=2,
                         output_size=(2, 3, 2)[:rank], _random_samples=samples,
                         make="distinct")])


def as_samples(name: str, samples: Samples | Listed | None, shape: Shape) -> Samples:
    """The samples as numbers."""
    if samples is None:
        raise ValueRangeError(f"{name} needs _random_samples: numbers from 0 to 1 of "
                              f"the shape {list(shape)}")
    have = shape_of(samples)
    if len(have) != len(shape) or have[0] < shape[0]:
        raise ShapeError("Expect _random_samples to be of the shape (items, channels, "
                         f"{shape[-1]}); got {list(have)}.")
    if have[1] != shape[1]:
        raise ShapeError("Expect _random_samples.size(1) equals to input channel size.")
    if have[2] != shape[2]:
        raise ShapeError(f"Expect _random_samples.size(2) equals to {shape[2]}; got "
                         f"{have[2]}.")
    return samples if isinstance(samples, list | tuple) else samples.tolist()


def shape_of(samples: Samples | Listed) -> Shape:
    """The sizes of nested lists, as far as their first entries go."""
    if not isinstance(samples, list | tuple):
        return tuple(samples.shape)
    sizes: list[int] = []
    inner: object = samples
    while isinstance(inner, list | tuple):
        sizes.append(len(inner))
        inner = inner[0] if inner else None
    return tuple(sizes)


# windows by a norm


def enter_norm(rank: int) -> None:
    """``lp_pool{rank}d``."""
    def pooled(call: Call, input: Array, norm_type: float, kernel_size: Sizes,
               stride: Sizes | None = None, ceil_mode: bool = False) -> Array:
        sizes = (kernel_size, stride, 0)
        if norm_type in (inf, -inf):
            x = call("abs", input)
            x = x if norm_type > 0 else call("neg", x)
            y = call(f"max_pool{rank}d", x, *sizes, 1, ceil_mode)
            return y if norm_type > 0 else call("neg", y)
        powers = call("pow", input, norm_type)
        mean = call(f"avg_pool{rank}d", powers, *sizes, ceil_mode)
        held = call("mul", call("sign", mean), call("relu", call("abs", mean)))
        total = call("mul", held, prod(of_rank(kernel_size, rank)))
        return call("pow", total, reciprocal(total, norm_type))

    size = (4, 5, 4)[:rank]
    function(f"lp_pool{rank}d", pooled, operands=("input",), either="norm_type",
             formula="y[p] = sum(input[p*stride + k]**norm_type)**(1/norm_type)",
             doc="The norm of each window that slides over the input.",
             cases=[case((1, 2, *size), norm_type=2.0, kernel_size=2),
                    case((2, *size), norm_type=3, kernel_size=2, stride=1, low=0.5)])


for _rank in (1, 2, 3):
    enter_unpooling(_rank)
    enter_norm(_rank)
enter_fractions(2)
enter_fractions(3)
