"""Pixel shuffles, affine grids and the sampling at their places.

Invariant: a pixel shuffle consists of reshapes and a permutation, and the transpose of
each row is a row. In sampling, along each dimension a place reads a few neighbours
(`taps`) with weights that depend on their distances; the weight of an entry is the
product over the dimensions. Coordinates run from -1 to 1, and begin with that of the
last dimension.

    pixel_shuffle(x, 2)         # PixelShuffleBackward0: (4 C, H, W) -> (C, 2 H, 2 W)
    grid_sample(x, grid, align_corners=False)       # GridSampler2DBackward0
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import reduce
from itertools import product
from math import prod
from operator import add, mul, truediv
from typing import Any, NamedTuple

from .checks import (
    KindError,
    ShapeError,
    ValueRangeError,
    as_sizes,
    check_size,
    demand_choice,
    demand_multiple,
    demand_rank,
    refuse,
)
from .exact import fraction
from .op import (
    LINEAR,
    PACKED,
    Formula,
    Rule,
    case,
    function,
    of_floats,
    of_numbers,
    row,
)
from .products import turned
from .types import Array, Call, Namespace, Positions, Shape, Sizes

# fmt: off


def check_factor(name: str, word: str, factor: int) -> None:
    refuse(factor < 1, "{} expects a positive {}scale_factor, but got {}", name, word,
           factor, kind=ValueRangeError)


# Shi et al. 2016, arXiv:1609.05158, section 3.1.
@row("pixel_shuffle", jvp=LINEAR, memory=PACKED,
    doc="Channels as the places of larger pictures.",
    formula="y[c, h*r + i, w*r + j] = x[c*r*r + i*r + j, h, w]",
    vjp=(lambda xp, g, y, x, upscale_factor:
         xp.call("pixel_unshuffle", g, upscale_factor),),
    cases=[case((1, 4, 2, 3), upscale_factor=2), case((9, 1, 2), upscale_factor=3)])
def shuffled(xp: Namespace, x: Array, upscale_factor: int) -> Array:
    r = upscale_factor
    demand_rank("pixel_shuffle", x, 3)
    check_factor("pixel_shuffle", "up", r)
    *lead, channels, height, width = x.shape
    demand_multiple("pixel_shuffle: the number of channels", channels, r * r)
    n, kept = len(lead), channels // (r * r)
    apart = xp.reshape(x, (*lead, kept, r, r, height, width))
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return xp.reshape(xp.permute(apart, order), (*lead, kept, height * r, width * r))


@row("pixel_unshuffle", jvp=LINEAR, memory=PACKED,
    doc="Places of pictures as channels of smaller ones.",
    formula="y[c*r*r + i*r + j, h, w] = x[c, h*r + i, w*r + j]",
    vjp=(lambda xp, g, y, x, downscale_factor:
         xp.call("pixel_shuffle", g, downscale_factor),),
    cases=[case((1, 1, 4, 2), downscale_factor=2), case((2, 3, 3), downscale_factor=3)])
def unshuffled(xp: Namespace, x: Array, downscale_factor: int) -> Array:
    r = downscale_factor
    demand_rank("pixel_unshuffle", x, 3)
    check_factor("pixel_unshuffle", "down", r)
    *lead, channels, height, width = x.shape
    for name, size in (("height", height), ("width", width)):
        demand_multiple(f"pixel_unshuffle: the {name}", size, r)
    n = len(lead)
    apart = xp.reshape(x, (*lead, channels, height // r, r, width // r, r))
    order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return xp.reshape(xp.permute(apart, order),
                      (*lead, channels * r * r, height // r, width // r))


# affine grids


def places(xp: Namespace, n: int, align_corners: bool) -> list[float]:
    """Return the places of ``n`` entries between -1 and 1: their centres, or, if
    ``align_corners``, with the first and the last at the ends."""
    whole = n - 1 if align_corners else n
    over = fraction if xp.symbolic else truediv
    return [over(2 * i - (n - 1), whole) if whole else 0.0 for i in range(n)]


def base_of(xp: Namespace, like: Array, size: Shape, align_corners: bool) -> Array:
    """Return a matrix with a row for each entry of a grid: its coordinates and a 1."""
    inner = size[2:]
    check_size((*inner, len(inner) + 1))
    columns = []
    for d in range(len(inner) - 1, -1, -1):
        alone = [1] * len(inner)
        alone[d] = inner[d]
        line = xp.reshape(xp.as_type_of(
            places(xp, inner[d], align_corners), like), alone)
        columns.append(xp.reshape(xp.expand(line, inner), (-1,)))
    return xp.stack([*columns, xp.new_full(like, columns[0].shape, 1)], -1)


def grid_of(xp: Namespace, theta: Array, size: Shape, align_corners: bool) -> Array:
    rank = len(size) - 1
    refuse(theta.shape[0] != size[0], "Expected size for first two dimensions of "
           "batch2 tensor to be: [{}, {}] but got: [{}, {}].", size[0], rank,
           theta.shape[0], rank)
    base = base_of(xp, theta, size, align_corners)
    return xp.reshape(xp.matmul(base, turned(xp, theta)),
                      (theta.shape[0], *size[2:], len(size) - 2))


def matrix_of(xp: Namespace, g: Array, size: Shape, align_corners: bool) -> Array:
    """Return the transpose of `grid_of` applied to ``g``: the cotangent of matrices."""
    base = base_of(xp, g, size, align_corners)
    flat = xp.reshape(g, (g.shape[0], base.shape[0], g.shape[-1]))
    return turned(xp, xp.matmul(turned(xp, base), flat))


of_numbers("affine_grid_generator", jvp=LINEAR,
    doc="The places of a grid's entries, turned and moved by matrices.",
    formula="y[h, w] = theta @ [x_w, y_h, 1]", memory=PACKED,
    fwd=lambda xp, theta, size, align_corners: grid_of(
        xp, theta, as_sizes(size), align_corners),
    vjp=(lambda xp, g, y, theta, size, align_corners: xp.call(
        "affine_grid_generator.backward", g, size, align_corners),),
    cases=[case((1, 2, 3), size=(1, 1, 2, 3), align_corners=False),
           case((2, 3, 4), size=(2, 1, 2, 1, 3), align_corners=True)])

row("affine_grid_generator.backward", jvp=LINEAR,
    node="AffineGridGeneratorBackwardBackward0",
    formula="y = sum(g[h, w] @ [x_w, y_h, 1])",
    fwd=lambda xp, x, size, align_corners: matrix_of(
        xp, x, as_sizes(size), align_corners),
    vjp=(lambda xp, g, y, x, size, align_corners:
         xp.call("affine_grid_generator", g, size, align_corners),),
    cases=[case((1, 2, 3, 2), size=(1, 1, 2, 3), align_corners=False)])

CHANGED = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False "
    "since 1.3.0. Please specify align_corners=True if the old behavior is desired. "
    "See the documentation of grid_sample for details.")


def aligned(align_corners: bool | None) -> bool:
    if align_corners is None:
        warnings.warn(CHANGED, stacklevel=4)
    return bool(align_corners)


@function("affine_grid", operands=("theta",),
          doc="The places of a grid's entries, turned and moved by matrices.",
          formula="y[h, w] = theta @ [x_w, y_h, 1]",
          cases=[case((1, 2, 3), size=(1, 1, 2, 3), align_corners=False)])
def affine_grid(call: Call, theta: Array, size: Sizes, align_corners: bool | None = None
               ) -> Array:
    corners, sizes = aligned(align_corners), as_sizes(size)
    rank = len(sizes) - 2
    if rank not in (2, 3):
        raise KindError(f"affine_grid makes grids of 2 and 3 dimensions, not of {size}")
    if len(theta.shape) != 3 or tuple(theta.shape[1:]) != (rank, rank + 1):
        raise ValueRangeError(f"affine_grid: theta of shape {list(theta.shape)} for "
                              f"a grid of {size}")
    if min(sizes) <= 0:
        raise ValueRangeError(f"Expected non-zero, positive output size. Got {size}")
    return call("affine_grid_generator", theta, sizes, corners)


# Krizhevsky, Sutskever, Hinton 2012, section 3.3.
@function("local_response_norm", operands=("input",), either="alpha beta k",
          doc="Each channel divided by a power of the mean square of its neighbours.",
          formula="input/(k + alpha*mean(input**2))**beta",
          cases=[case((1, 4, 3), size=2), case((1, 3, 2, 2), size=3, alpha=0.5)])
def local_response_norm(call: Call, input: Array, size: int, alpha: float = 1e-4,
                        beta: float = 0.75, k: float = 1.0) -> Array:
    rank = len(input.shape)
    refuse(rank < 3, "Expected 3D or higher dimensionality input (got {} dimensions)",
           rank, kind=ValueRangeError)
    if 0 in input.shape:
        return input
    refuse(size < 1, "size has to be positive, but got {}", size, kind=ValueRangeError)
    squares, edges = call("mul", input, input), (size // 2, (size - 1) // 2)
    if rank == 3:
        lines = call("constant_pad_nd", call("unsqueeze", squares, 1), (0, 0, *edges))
        means = call("squeeze", call("avg_pool2d", lines, (size, 1), 1), 1)
    else:
        items, channels, height = input.shape[:3]
        volumes = call("view", squares, (items, 1, channels, height, -1))
        volumes = call("constant_pad_nd", volumes, (0, 0, 0, 0, *edges))
        means = call("squeeze", call("avg_pool3d", volumes, (size, 1, 1), 1), 1)
        means = call("view", means, tuple(input.shape))
    scale = call("add", call("mul", means, alpha), k)
    return call("div", input, call("pow", scale, beta))


# sampling at the places of a grid

FAMILY = "sampling"


BILINEAR, NEAREST, BICUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)

CUBIC = -0.75
"""Slope, at distance 1, of the cubic filter of mode ``bicubic``."""


class Tap(NamedTuple):
    """A neighbour of each place along a dimension: its position (0 if it is outside the
    input), whether it is inside, its weight, and the weight's derivative by the place.
    """

    at: Array
    inside: Array
    weight: Array
    slope: Array


def unscaled(place: Array, n: int, align_corners: bool) -> tuple[Array, float]:
    """Return a place from -1 to 1 as a position among ``n``, and its derivative."""
    if align_corners:
        return (place + 1) * ((n - 1) / 2), (n - 1) / 2
    return ((place + 1) * n - 1) / 2, n / 2


def reflected(xp: Namespace, at: Array, n: int, align_corners: bool
             ) -> tuple[Array, Array]:
    """Return positions reflected into the input, and the derivatives, 1 or -1."""
    low, high = (0, 2 * (n - 1)) if align_corners else (-1, 2 * n - 1)
    if low == high:
        return xp.zeros_like(at), xp.zeros_like(at)
    least, span = low / 2, (high - low) / 2
    far = at - least
    ones = xp.ones_like(at)
    sign = xp.where(xp.lt(far, 0), -ones, ones)
    far = xp.abs(far)
    turns = xp.floor(far / span)
    rest = far - turns * span
    odd = xp.eq(turns - 2 * xp.floor(turns / 2), 1)
    return (xp.where(odd, span - rest, rest) + least, xp.where(odd, -sign, sign))


def kept_inside(xp: Namespace, at: Array, n: int, padding: int, align_corners: bool
               ) -> tuple[Array, Array]:
    """Return positions moved inside according to ``padding``, and the derivatives."""
    factor = xp.ones_like(at)
    if padding == ZEROS:
        return at, factor
    if padding == REFLECTION:
        at, factor = reflected(xp, at, n, align_corners)
    within = xp.logical_and(xp.gt(at, 0), xp.lt(at, n - 1))
    moved = xp.where(xp.gt(at, 0), at, xp.zeros_like(at))
    moved = xp.where(xp.lt(moved, n - 1), moved, xp.zeros_like(at) + (n - 1))
    return moved, xp.where(within, factor, xp.zeros_like(at))


def cubic(xp: Namespace, d: Array) -> tuple[Array, Array]:
    """Return the cubic filter's weight at distances below 2, and its derivative."""
    a, sign = xp.abs(d), xp.sign(d)
    near = (((CUBIC + 2) * a - (CUBIC + 3)) * a * a + 1,
            (3 * (CUBIC + 2) * a - 2 * (CUBIC + 3)) * a)
    far = ((((a - 5) * a + 8) * a - 4) * CUBIC, ((3 * a - 10) * a + 8) * CUBIC)
    inner = xp.lt(a, 1)
    return xp.where(inner, near[0], far[0]), xp.where(inner, near[1], far[1]) * sign


def tap(xp: Namespace, at: Array, n: int, weight: Array, slope: Array) -> Tap:
    inside = xp.logical_and(xp.ge(at, 0), xp.lt(at, n))
    return Tap(xp.where(inside, at, xp.zeros_like(at)), inside, weight, slope)


def taps(xp: Namespace, place: Array, n: int, mode: int, padding: int,
         align_corners: bool) -> list[Tap]:
    """Return the neighbours of each place along a dimension of ``n`` entries."""
    at, scale = unscaled(place, n, align_corners)
    if mode == BICUBIC:
        return four_taps(xp, at, n, scale, padding, align_corners)
    at, factor = kept_inside(xp, at, n, padding, align_corners)
    if mode == NEAREST:
        return [tap(xp, xp.round(at), n, xp.ones_like(at), xp.zeros_like(at))]
    first, slope = xp.floor(at), factor * scale
    on = at - first
    return [tap(xp, first, n, 1 - on, -slope), tap(xp, first + 1, n, on, slope)]


def four_taps(xp: Namespace, at: Array, n: int, scale: float, padding: int,
              align_corners: bool) -> list[Tap]:
    """Return the four neighbours of each place, weighted by the cubic filter."""
    first, found = xp.floor(at), []
    on = at - first
    for k in (-1, 0, 1, 2):
        weight, slope = cubic(xp, on - k)
        where = kept_inside(xp, first + k, n, padding, align_corners)[0]
        found.append(tap(xp, where, n, weight, slope * scale))
    return found


class Reading(NamedTuple):
    """One neighbour of every place: its number in the flattened plane, whether it is
    inside, its weight and the weight's derivatives by the coordinates, 0 outside."""

    at: Positions
    inside: Array
    weight: Array
    slopes: list[Array]


def readings(xp: Namespace, x: Array, grid: Array, mode: int, padding: int,
             align_corners: bool) -> list[Reading]:
    sizes = tuple(x.shape[2:])
    rank, items = len(sizes), x.shape[0]
    count = prod(grid.shape[1:-1])
    check_size((items, x.shape[1], count))
    flat = xp.reshape(grid, (items, 1, count, rank))
    lines = [taps(xp, xp.select(flat, -1, rank - 1 - d), sizes[d], mode, padding,
                  align_corners) for d in range(rank)]
    found = []
    every = items, x.shape[1], count
    for chosen in product(*lines):
        # Numbers of entries are computed as integers: floats do not hold large ones.
        at, inside = xp.as_index(xp.expand(chosen[0].at, every)), chosen[0].inside
        for n, each in zip(sizes[1:], chosen[1:], strict=True):
            at = at * n + xp.as_index(xp.expand(each.at, every))
            inside = xp.logical_and(inside, each.inside)
        slopes = [times(each.slope if d == e else each.weight
                        for e, each in enumerate(chosen)) for d in range(rank)]
        parts = [times(each.weight for each in chosen), *slopes]
        weight, *by_place = [xp.where(inside, p, xp.zeros_like(p)) for p in parts]
        found.append(Reading(at, inside, weight, by_place))
    return found


def entries(xp: Namespace, lines: Array, each: Reading) -> Array:
    """Return the input's entry at one neighbour of every place, 0 if it is outside."""
    return xp.where(each.inside, xp.gather(lines, -1, each.at), 0)


def times(factors: Iterable[Array]) -> Array:
    return reduce(mul, factors)


def planes(xp: Namespace, x: Array) -> Array:
    return xp.reshape(x, (*x.shape[:2], prod(x.shape[2:])))


def sampled(xp: Namespace, x: Array, grid: Array, **how: Any) -> Array:
    lines = planes(xp, x)
    y = reduce(add, (entries(xp, lines, each) * each.weight
                     for each in readings(xp, x, grid, **how)))
    return xp.reshape(y, (*x.shape[:2], *grid.shape[1:-1]))


def by_entries(xp: Namespace, g: Array, y: Array, x: Array, grid: Array,
               **how: Any) -> Array:
    lines, size = planes(xp, g), (*x.shape[:2], prod(x.shape[2:]))
    back = reduce(add, (
        xp.call("gather.backward", xp.where(each.inside, lines * each.weight, 0),
                each.at, size, -1)
        for each in readings(xp, x, grid, **how)))
    return xp.reshape(back, x.shape)


def by_places(xp: Namespace, g: Array, y: Array, x: Array, grid: Array,
              **how: Any) -> Array:
    lines, arrived = planes(xp, x), planes(xp, g)
    rank = len(x.shape) - 2
    totals: dict[int, Array] = {}
    for each in readings(xp, x, grid, **how):
        read = xp.sum(entries(xp, lines, each) * arrived, 1, True)
        for d, slope in enumerate(each.slopes):
            part = read * slope
            totals[d] = totals[d] + part if d in totals else part
    places = [totals[d] for d in reversed(range(rank))]
    return xp.reshape(xp.stack(places, -1), grid.shape)


def check_sampled(x: Shape, grid: Shape, mode: int, rank: int) -> None:
    """Raise `ShapeError` unless the shapes of input and grid fit each other and the
    row of ``rank`` dimensions."""
    sizes = f"input with sizes {list(x)} and grid with sizes {list(grid)}"
    refuse(x[:1] != grid[:1], "grid_sampler(): expected grid and input to have same "
           "batch size, but got {}", sizes)
    if not grid or grid[-1] != len(x) - 2:
        raise ShapeError(f"grid_sampler(): expected grid to have size {len(x) - 2} in "
                         f"last dimension, but got grid with sizes {list(grid)}")
    for d, n in enumerate(x[2:], start=2):
        refuse(not n, "grid_sampler(): expected input to have non-empty spatial "
               "dimensions, but input has sizes {} with dimension {} being empty",
               list(x), d)
    refuse(not len(x) == len(grid) == rank + 2, "grid_sampler(): expected {}D input "
           "and grid with same number of dimensions, but got {}", rank + 2, sizes)
    if mode == BICUBIC and rank == 3:
        raise ShapeError("grid_sampler(): bicubic interpolation only supports 4D input")


def row_of_sampling(rank: int) -> None:
    size, places = (1, 2, 3, 2, 2)[:rank + 2], (1, 2, 2, 1)[:rank + 1]

    def ruled(rule: Formula) -> Formula:
        return lambda xp, *given, interpolation_mode, padding_mode, align_corners: rule(
            xp, *given, mode=interpolation_mode, padding=padding_mode,
            align_corners=align_corners)

    modes = [(BILINEAR, ZEROS, False, 1.2), (BILINEAR, BORDER, True, 1.8),
             (BILINEAR, REFLECTION, False, 3.4), (BILINEAR, REFLECTION, True, 5.8),
             (NEAREST, ZEROS, False, 1.2)]
    modes += [(BICUBIC, ZEROS, True, 1.2)] if rank == 2 else []

    @of_floats(f"grid_sampler_{rank}d", saves="x grid", memory=PACKED, one_type=True,
        rule=Rule(f"GridSampler{rank}DBackwardBackward0", (0, 1), zeros=False),
        doc="Entries between those of pictures or volumes, at the places of a grid.",
        formula="y[p] = sum(w(grid[p], q)*x[q])",
        kink="at an entry's place the derivative is that of the places behind it",
        vjp=(ruled(by_entries), ruled(by_places)),
        cases=[case(size, (*places, rank), low=-far, high=far, interpolation_mode=mode,
                    padding_mode=padding, align_corners=corners)
               for mode, padding, corners, far in modes])
    def fwd(xp: Namespace, x: Array, grid: Array, interpolation_mode: int,
            padding_mode: int, align_corners: bool) -> Array:
        check_sampled(tuple(x.shape), tuple(grid.shape), interpolation_mode, rank)
        return sampled(xp, x, grid, mode=interpolation_mode, padding=padding_mode,
                       align_corners=align_corners)


row_of_sampling(2)
row_of_sampling(3)

MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")


@function("grid_sample", operands=("input", "grid"),
          doc="Entries between those of pictures or volumes, at the places of a grid.",
          formula="y[p] = sum(w(grid[p], q)*input[q])",
          kink="at an entry's place the derivative is that of the places behind it",
          cases=[case((1, 1, 2, 3), (1, 2, 1, 2), align_corners=False, low=-0.9,
                      high=0.9)])
def grid_sample(call: Call, input: Array, grid: Array, mode: str = "bilinear",
                padding_mode: str = "zeros", align_corners: bool | None = None
               ) -> Array:
    demand_choice("grid_sample: mode", mode, MODES)
    demand_choice("grid_sample: padding_mode", padding_mode, PADDINGS)
    corners = aligned(align_corners)
    rank = len(input.shape) - 2
    refuse(rank not in (2, 3) or len(grid.shape) != len(input.shape),
           "grid_sampler(): expected 4D or 5D input and grid with same number of "
           "dimensions, but got input with sizes {} and grid with sizes {}",
           list(input.shape), list(grid.shape))
    return call(f"grid_sampler_{rank}d", input, grid, MODES.index(mode),
                PADDINGS.index(padding_mode), corners)
