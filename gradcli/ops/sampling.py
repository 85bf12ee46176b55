"""Sampling of pictures and volumes at the places of a grid.

Invariant: along each dimension a place reads a few neighbours (`taps`) with weights
that depend on their distances; the weight of an entry is the product over the
dimensions. Coordinates run from -1 to 1, and begin with that of the last dimension.

    grid_sample(x, grid, align_corners=False)       # GridSampler2DBackward0
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from itertools import product
from math import prod
from operator import add, mul
from typing import Any, NamedTuple

from .checks import (
    ShapeError,
    demand_choice,
    refuse,
)
from .limits import check_size
from .op import PACKED, Formula, Rule, case, function, of_floats
from .shuffling import aligned
from .types import Array, Call, Namespace, Positions, Shape, Tangents

# fmt: off

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


def along(xp: Namespace, t: Tangents, y: Array, x: Array, grid: Array,
          **how: Any) -> Array:
    lines, rank = planes(xp, x), len(x.shape) - 2
    moved = xp.reshape(t[1], (grid.shape[0], 1, prod(grid.shape[1:-1]), rank))
    total = reduce(add, (
        entries(xp, lines, each) * reduce(add, (
            slope * xp.select(moved, -1, rank - 1 - d)
            for d, slope in enumerate(each.slopes)))
        for each in readings(xp, x, grid, **how)))
    return sampled(xp, t[0], grid, **how) + xp.reshape(total, y.shape)


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

    @of_floats(f"grid_sampler_{rank}d", node=f"GridSampler{rank}DBackward0",
        saves="x grid", memory=PACKED, one_type=True,
        rule=Rule(f"GridSampler{rank}DBackwardBackward0", (0, 1), zeros=False),
        doc="Entries between those of pictures or volumes, at the places of a grid.",
        formula="y[p] = sum(w(grid[p], q)*x[q])",
        kink="at an entry's place the derivative is that of the places behind it",
        vjp=(ruled(by_entries), ruled(by_places)), jvp=ruled(along),
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
