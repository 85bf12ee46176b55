"""Resampling of sequences, pictures and volumes to another size.

Invariant: every resampling is linear along each dimension. A `Line` gives, for each
entry of the result, the positions that it reads and their weights, which add up to 1.

    interpolate(x, scale_factor=2, mode="linear")       # UpsampleLinear1DBackward0
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial
from math import floor, isfinite
from typing import Any, NamedTuple

from .checks import KindError, ShapeError, ValueRangeError, as_sizes
from .exact import fraction
from .limits import LISTED, check_size
from .lines import Line, gathered, spread
from .op import LINEAR, NOT_WIDE, PACKED, WHOLES, Case, case, function, row
from .types import Array, Call, Namespace, Shape, Sizes

# fmt: off

RESAMPLED = {
    **{f"upsample_nearest{rank}d.vec": "nearest" for rank in (1, 2, 3)},
    **{f"_upsample_nearest_exact{rank}d.vec": "nearest-exact" for rank in (1, 2, 3)},
    "upsample_linear1d.vec": "linear", "upsample_bilinear2d.vec": "bilinear",
    "upsample_trilinear3d.vec": "trilinear", "upsample_bicubic2d.vec": "bicubic",
    "_upsample_bilinear2d_aa.vec": "bilinear", "_upsample_bicubic2d_aa.vec": "bicubic",
}  # fmt: skip
"""Modes by the row."""

CUBIC = -0.75
"""Slope, at distance 1, of the cubic filter of ``bicubic`` without antialias."""

CUBIC_OF_MEANS = -0.5
"""Slope, at distance 1, of the cubic filter of ``bicubic`` with antialias."""


class Way(NamedTuple):
    """The resampling of one dimension from ``n`` entries to ``made``.

    scale    the given factor, from which the distance of entries is computed; None: it
             is computed from the sizes
    corners  the centres of the outermost entries stay in place, rather than their edges
    exact    weights are exact numbers; a scale is then a fraction
    """

    n: int
    made: int
    scale: float | Fraction | None
    corners: bool
    exact: bool = False

    def quotient(self, p: int, q: int) -> float:
        """Return ``p / q``, as an exact number if ``exact``."""
        return fraction(p, q) if self.exact else p / q

    def step(self) -> Fraction:
        """Return the distance of neighbours in the result, in entries of the input."""
        if self.corners:
            return Fraction(self.n - 1, self.made - 1) if self.made > 1 else (
                Fraction(0))
        return 1 / Fraction(self.scale) if self.scale else Fraction(self.n, self.made)

    def places(self) -> list[tuple[int, float]]:
        """Return each entry's place in the input, as a position and a fraction."""
        step = self.step()
        p, q = step.numerator, step.denominator
        first, last = (0, q) if self.corners else (p - q, 2 * q)
        return [(at // last, self.quotient(at % last, last)) for at in (
            first + i * (p if self.corners else 2 * p) for i in range(self.made))]


def single(number: float) -> float:
    """Return the single float nearest to a number."""
    return float(struct.unpack("f", struct.pack("f", number))[0])


def nearest(way: Way, middle: float) -> Line:
    """Return a line with one position per entry, found in single precision as in
    PyTorch; ``middle`` is the place within an entry, 0 or 0.5, that is looked up."""
    if way.n == way.made:
        return Line([(i,) for i in range(way.n)])
    step = single(float(1 / way.scale if way.scale else way.n / way.made))
    if not middle and way.made == 2 * way.n:
        return Line([(i // 2,) for i in range(way.made)])
    return Line([(min(floor(single((i + middle) * step)), way.n - 1),)
                 for i in range(way.made)])


def linear(way: Way) -> Line:
    """Return a line with two neighbours per entry, weighted by how near they are."""
    if way.n == way.made:
        return Line([(i,) for i in range(way.n)])
    spots, weights = [], []
    for at, on in way.places():
        if at < 0:
            at, on = 0, 0.0
        spots.append((min(at, way.n - 1), min(at + 1, way.n - 1)))
        weights.append((1 - on, on))
    return Line(spots, weights)


# Keys 1981, doi:10.1109/TASSP.1981.1163711, equation 4 with any slope.
def cubic(distance: float, slope: float) -> float:
    d = abs(distance)
    if d < 1:
        return ((slope + 2) * d - (slope + 3)) * d * d + 1
    return (((d - 5) * d + 8) * d - 4) * slope if d < 2 else 0.0


def bicubic(way: Way) -> Line:
    """Return a line with four neighbours per entry; outside, the edge is repeated."""
    spots, weights = [], []
    for at, on in way.places():
        spots.append([min(max(at + k, 0), way.n - 1) for k in (-1, 0, 1, 2)])
        weights.append([cubic(on - k, CUBIC) for k in (-1, 0, 1, 2)])
    return Line(spots, weights)


# Pillow's resize: a filter as wide as the distance of the result's entries, at least 1.
def smoothed(way: Way, filter_of: Callable[[float], float], reach: int) -> Line:
    """Return a line of the positions that a widened filter covers, weighted by it."""
    step = way.quotient(*way.step().as_integer_ratio())
    wide = max(step, 1.0)
    spots, weights = [], []
    for i in range(way.made):
        middle = step * (i + 0.5)
        begin = max(int(middle - reach * wide + 0.5), 0)
        end = min(int(middle + reach * wide + 0.5), way.n)
        found = [filter_of((at - middle + 0.5) / wide)
                 for at in range(begin, end)]
        total = sum(found)
        spots.append(range(begin, end))
        weights.append([w / total for w in found] if total else found)
    return Line(spots, weights)


Filter = Callable[[Way], Line]

FILTERS: dict[str, Filter] = {
    "nearest": partial(nearest, middle=0.0),
    "nearest-exact": partial(nearest, middle=0.5),
    "linear": linear, "bilinear": linear, "trilinear": linear,
    "bicubic": bicubic,
    "bilinear_aa": partial(
        smoothed, filter_of=lambda d: max(0.0, 1 - abs(d)), reach=1),
    "bicubic_aa": partial(
        smoothed, filter_of=lambda d: cubic(d, CUBIC_OF_MEANS), reach=2),
}

line_of = lru_cache(64)(lambda name, way: FILTERS[name](way))
"""Function from a name of `FILTERS` and a `Way` to the `Line`; results are cached."""

Wanted = Sequence[int] | None
"""Sizes of the result, one per spatial dimension; None: they follow from factors."""

Factors = Sequence[float] | None
"""Factors by which spatial dimensions grow; None: they follow from sizes."""

Factor = float | list[float] | tuple[float, ...]
"""Factors of growth as a caller gives them: one for all dimensions, or one for each."""


def sizes_of(size: Shape, output_size: Wanted, scale_factors: Factors) -> Shape:
    """Return the sizes of the result: ``output_size``, or sizes times factors."""
    if output_size is not None:
        return tuple(output_size)
    return tuple([int(n * factor) if isfinite(factor) else -1
                  for n, factor in zip(size, scale_factors or (), strict=True)])


def lines_of(name: str, xp: Namespace, size: Shape, output_size: Wanted,
             scale_factors: Factors, align_corners: bool = False
             ) -> list[Line]:
    inner = size[2:]
    counts = sizes_of(inner, output_size, scale_factors)
    factors: Sequence[float | None] = scale_factors or [None] * len(inner)
    lines = []
    for n, count, factor in zip(inner, counts, factors, strict=True):
        check_size((max(n, count), 8), LISTED)
        scale = Fraction(repr(float(factor))) if factor and xp.symbolic else factor
        way = Way(n, count, scale, bool(align_corners), xp.symbolic)
        lines.append(line_of(name, way))
    return lines


def rows_of_filter(name: str, rank: int, line: str) -> None:
    """Enter a row of resampling by the filter ``line``, and its transpose."""
    title = f"{name.title().replace('_', '')}Backward"
    shape, grown = (1, 1, 2, 3, 2)[:rank + 2], (3, 5, 4)[:rank]
    aligns, lines = "nearest" not in name, partial(lines_of, line)

    def cornered(made: Case, corners: bool) -> Case:
        """Return a case with ``align_corners``, if the row has that parameter."""
        params = made.params | {"align_corners": corners}
        return replace(made, params=params) if aligns else made

    row(f"{name}.vec", node=f"{title}0", jvp=LINEAR, memory=PACKED,
        fwd=(lambda xp, x, output_size, align_corners=False, scale_factors=None:
             gathered(xp, x, lines(xp, x.shape, output_size, scale_factors,
                                   align_corners)))
        if aligns else (
            lambda xp, x, output_size, scale_factors=None:
            gathered(xp, x, lines(xp, x.shape, output_size, scale_factors))),
        refuses=NOT_WIDE if "_aa" in line else WHOLES if aligns else NEAREST,
        formula="y[p] = sum(w[p, q]*x[q])",
        vjp=(lambda xp, g, y, x, **how:
             xp.call(f"{name}.backward", g, x.shape, **how),),
        cases=[case(shape, output_size=grown),
               cornered(case(shape, output_size=None, scale_factors=(2.6,) * rank),
                        False),
               cornered(case((1, 1, *(4,) * rank), output_size=(2,) * rank), True)])
    row(f"{name}.backward", node=f"{title}Backward0", jvp=LINEAR, memory=PACKED,
        fwd=(lambda xp, x, input_sizes, output_size, align_corners=False,
             scale_factors=None: spread(xp, x, lines(
                 xp, input_sizes, output_size, scale_factors, align_corners),
                                        input_sizes))
        if aligns else (
            lambda xp, x, input_sizes, output_size, scale_factors=None:
            spread(xp, x, lines(xp, input_sizes, output_size, scale_factors),
                   input_sizes)),
        formula="y[q] = sum(w[p, q]*g[p])",
        vjp=(lambda xp, g, y, x, input_sizes, **how: xp.call(f"{name}.vec", g, **how),),
        cases=[case((*shape[:2], *grown), input_sizes=shape, output_size=grown)])


NEAREST = " bool int8 int16 int32 int64"
"""Types that take no part in resampling by the nearest entry."""

ROWS: dict[tuple[str, int, bool], str] = {}
"""Names of rows, by the mode, the number of spatial dimensions, and antialias."""

for _name, _mode in RESAMPLED.items():
    _base, _smooth = _name.partition(".")[0], "_aa" in _name
    _rank = next(n for n in (1, 2, 3) if f"{n}d" in _base)
    ROWS[_mode, _rank, _smooth] = _name
    rows_of_filter(_base, _rank, f"{_mode}_aa" if _smooth else _mode)

UNALIGNED = ("nearest", "area", "nearest-exact")
SMOOTH = ("bilinear", "bicubic")


def asked(input: Array, rank: int, size: Sizes | None, scale_factor: Factor | None
         ) -> tuple[Shape | None, tuple[float, ...] | None]:
    """Return sizes and None, or None and factors, with a number per dimension."""
    if (size is None) is (scale_factor is None):
        raise ValueRangeError("interpolate: give either size or scale_factor")
    given = scale_factor if size is None else size
    each: Any = given if isinstance(given, list | tuple) else [given] * rank
    if len(each) != rank:
        raise ValueRangeError(f"interpolate: {given} for an input with spatial "
                              f"dimensions of {list(input.shape[2:])}")
    return (None, tuple(map(float, each))) if size is None else (as_sizes(each), None)


@function("interpolate", operands=("input",), formula="y[p] = sum(w[p, q]*input[q])",
          doc="Sequences, pictures or volumes at another size.",
          also=("upsample", "resize"),
          cases=[case((1, 2, 3), size=5),
                 case((1, 1, 2, 3), scale_factor=2, mode="bilinear"),
                 case((1, 1, 3, 3), size=(2, 4), mode="bicubic", align_corners=True),
                 case((1, 1, 2, 2, 2), size=3, mode="trilinear"),
                 case((1, 2, 4), size=2, mode="area"),
                 case((1, 1, 5, 4), size=(2, 3), mode="bilinear", antialias=True)])
def interpolate(call: Call, input: Array, size: Sizes | None = None,
                scale_factor: Factor | None = None, mode: str = "nearest",
                align_corners: bool | None = None,
                recompute_scale_factor: bool | None = None, antialias: bool = False
               ) -> Array:  # fmt: skip
    if mode in UNALIGNED and align_corners is not None:
        raise ValueRangeError(f"interpolate: mode {mode!r} has no align_corners")
    rank = len(input.shape) - 2
    sizes, factors = asked(input, rank, size, scale_factor)
    if recompute_scale_factor and size is not None:
        raise ValueRangeError(
            "recompute_scale_factor is not meaningful with an explicit size.")
    if recompute_scale_factor or mode == "area":
        sizes, factors = sizes_of(input.shape[2:], sizes, factors), None
    if antialias and not (mode in SMOOTH and rank == 2):
        raise ValueRangeError("interpolate: antialias is part of bilinear and bicubic "
                              "pictures alone")
    if mode == "area" and rank in (1, 2, 3):
        return call(f"adaptive_avg_pool{rank}d", input, sizes)
    name = ROWS.get((mode, rank, bool(antialias)))
    if name is None:
        raise KindError(f"interpolate: mode {mode!r} of an input of {rank + 2} "
                        "dimensions; there are linear (3), bilinear and bicubic (4), "
                        "trilinear (5), nearest, nearest-exact and area (3 to 5)")
    made = sizes_of(input.shape[2:], sizes, factors)
    if min((*input.shape[1:], *made)) < 1:
        raise ShapeError(f"interpolate: input {list(input.shape)} cannot become "
                         f"{list(made)}: sizes should be greater than 0")
    if mode in UNALIGNED:
        return call(name, input, sizes, factors)
    return call(name, input, sizes, bool(align_corners), factors)
