"""Padding, resampling and pixel shuffles of pictures.

Invariant: a result's entry depends on the positions that a `Sums` lists for it, so that
an infinity at another position does not reach it; `gathered` and `spread` are each
other's transpose. In padding that reflects or repeats, each entry reads one; circular
padding is written slice by slice, as in PyTorch. Resampling is linear along each
dimension, with weights that add up to 1.

    gathered(xp, x, [Line([[0, 1], [2]])])      # [x[..., 0] + x[..., 1], x[..., 2]]
    pad(x, (1, 1), mode="reflect")              # ReflectionPad1DBackward0
    interpolate(x, scale_factor=2, mode="linear")       # UpsampleLinear1DBackward0
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from math import floor, isfinite
from typing import Any, NamedTuple

from .arrange import pad_pairs
from .checks import (
    LISTED,
    KindError,
    ShapeError,
    ValueRangeError,
    as_sizes,
    check_size,
    count_of,
    demand_multiple,
    demand_rank,
    refuse,
)
from .exact import fraction
from .op import LINEAR, PACKED, WHOLES, Rule, case, function, of_numbers, row
from .types import Array, Caller, Namespace, Positions, Shape, Sizes

# fmt: off

class Sums(NamedTuple):
    """The sums that make up one dimension of a result.

    spots     for each entry of the result, the positions of the operand that it sums
    weights   the factors of the summands, in the same order; None: all are 1
    """

    spots: Sequence[Sequence[int]]
    weights: Sequence[Sequence[float]] | None = None


def gathered(xp: Namespace, x: Array, lines: Sequence[Sums]) -> Array:
    """Return sums of entries along the last dimensions, with a `Sums` for each."""
    for d, line in zip(range(-1, -len(lines) - 1, -1), reversed(lines), strict=True):
        x = last(xp, _read(xp, last(xp, x, d), line), d)
    return x


def spread(xp: Namespace, g: Array, lines: Sequence[Sums], size: Sequence[int]
          ) -> Array:
    """Return the cotangents of sums added at all positions that each sum reads.

    Args:
        size: the shape of the operand that was read.
    """
    for d, line in zip(range(-1, -len(lines) - 1, -1), reversed(lines), strict=True):
        g = last(xp, _add(xp, last(xp, g, d), line, size[d]), d)
    return g


def last(xp: Namespace, x: Array, d: int) -> Array:
    """Return ``x`` with dimension ``d`` exchanged with the last."""
    return x if d == -1 else xp.transpose(x, d, -1)


def _read(xp: Namespace, x: Array, line: Sums) -> Array:
    lone = _single_reads(line)
    if lone is not None:
        return xp.getitem(x, (..., evenly(xp, lone)))
    at, length = _table(xp, line.spots, x.shape[-1])
    if length > x.shape[-1]:
        x = xp.cat([x, xp.new_full(x, (*x.shape[:-1], 1), 0)], -1)
    found = xp.getitem(x, (..., at))
    return xp.sum(found if line.weights is None else found * _factors(xp, x, line), -1)


def _add(xp: Namespace, g: Array, line: Sums, n: int) -> Array:
    lone = _single_reads(line)
    if lone is not None:
        return xp.put_add((*g.shape[:-1], n), (..., xp.as_index(lone)), g)
    at, length = _table(xp, line.spots, n)
    wide = xp.expand(xp.unsqueeze(g, -1), (*g.shape[:-1], *at.shape))
    if line.weights is not None:
        wide = wide * _factors(xp, g, line)
    return xp.narrow(xp.put_add((*g.shape[:-1], length), (..., at), wide), -1, 0, n)


def _single_reads(line: Sums) -> list[int] | None:
    """Return the positions that entries read, if each reads one without a weight, else
    None."""
    if line.weights is not None or any(len(spots) != 1 for spots in line.spots):
        return None
    return [spots[0] for spots in line.spots]


def _table(xp: Namespace, spots: Sequence[Sequence[int]], n: int) -> tuple[Array, int]:
    """Return the positions as a matrix whose short rows are filled up with ``n``, and
    the number of positions: n, or n + 1 if any row is short."""
    longest = max(map(len, spots), default=0)
    check_size((len(spots), longest), LISTED)
    short = any(len(each) < longest for each in spots)
    filled = [[*each, *[n] * (longest - len(each))] for each in spots]
    return xp.reshape(xp.as_index(filled), (len(spots), longest)), n + short


def _factors(xp: Namespace, x: Array, line: Sums) -> Array:
    """Return the weights as a matrix, whose short rows are filled up with 0."""
    weights = line.weights or ()
    longest = max(map(len, weights), default=0)
    filled = [[*each, *[0] * (longest - len(each))] for each in weights]
    return xp.as_type_of(filled, x)


def evenly(xp: Namespace, at: Sequence[int]) -> slice | Positions:
    """Return an index of positions: a slice if they are equally spaced and rising."""
    step = at[1] - at[0] if len(at) > 1 else 1
    even = range(at[0], at[0] + len(at) * step, step) if at and step > 0 else range(0)
    same = bool(at) and (*even,) == (*at,)
    return slice(even.start, even.stop, step) if same else xp.as_index(at)

# padding

FAMILY = "borders"


def bordered(shape: Shape, padding: Shape, inner: Callable[[int, int], int]
            ) -> list[Sums]:
    """Return, for each padded dimension, a `Sums` of the positions that entries of the
    result read; ``inner(at, n)`` maps a position to one from 0 to n - 1."""
    pairs = pad_pairs(shape, padding)[len(shape) - len(padding) // 2:]
    lines = []
    for n, (before, after) in zip(shape[len(shape) - len(pairs):], pairs, strict=True):
        check_size((n + before + after,), LISTED)
        lines.append(Sums([(inner(at, n),) for at in range(-before, n + after)]))
    return lines


def rows_of_border(name: str, title: str, inner: Callable[[int, int], int], formula: str
                  ) -> None:
    """Enter a padding's rows, with transposes, for one, two and three dimensions."""
    for rank in (1, 2, 3):
        dims, node = f"{name}_pad{rank}d", f"{title}Pad{rank}DBackward"
        size, wide = (2, 4, 3, 3)[:rank + 1], (1, 2, 2, 0, 1, 1)[:2 * rank]
        grown = tuple([n + before + after
                       for n, (before, after) in zip(size, pad_pairs(size, wide),
                                                     strict=True)])
        of_numbers(f"{dims}.default", jvp=LINEAR, memory=PACKED, saves="x",
            always_saves=True, rule=Rule(f"{node}Backward0"), formula=formula,
            fwd=lambda xp, x, padding: gathered(
                xp, x, bordered(x.shape, padding, inner)),
            vjp=(lambda xp, g, y, x, padding, dims=dims:
                 xp.call(f"{dims}.backward", g, x.shape, padding),),
            cases=[case(size, padding=wide),
                   case((1, *size), padding=(1, -1, *wide[2:]))])
        row(f"{dims}.backward", node=f"{node}Backward0", jvp=LINEAR, memory=PACKED,
            formula="y[i] = sum(g[j] made of x[i])",
            fwd=lambda xp, x, input_sizes, padding: spread(
                xp, x, bordered(input_sizes, padding, inner), input_sizes),
            vjp=(lambda xp, g, y, x, input_sizes, padding, dims=dims:
                 xp.call(f"{dims}.default", g, padding),),
            cases=[case(grown, input_sizes=size, padding=wide)])


rows_of_border("reflection", "Reflection",
               lambda at, n: n - 1 - abs(n - 1 - abs(at)), "[x1, x0, x1, ..., x1]")
rows_of_border("replication", "Replication",
               lambda at, n: min(max(at, 0), n - 1), "[x0, x0, x1, ...]")

Border = Callable[[Caller, Array, Shape], Array]
"""A function that pads a tensor by the given widths."""


def by_line(name: str, mirrored: bool) -> Border:
    def border(call: Caller, x: Array, padding: Shape) -> Array:
        rank = len(padding) // 2
        refuse(0 in x.shape[len(x.shape) - rank - 1:], "Expected {}D or {}D (batch "
               "mode) tensor with possibly 0 batch size and other non-zero dimensions "
               "for input, but got: {}", rank + 1, rank + 2, list(x.shape))
        sizes = x.shape[-rank:]
        for d, n in enumerate(reversed(sizes), start=1):
            before, after = padding[2 * d - 2:2 * d]
            refuse(mirrored and max(before, after) >= n, "pad: a dimension of size {} "
                   "does not mirror into ({}, {})", n, before, after)
        grown = [n + padding[-2 * d - 2] + padding[-2 * d - 1]
                 for d, n in enumerate(sizes)]
        if min(grown) < 1:
            was, made = (", ".join(f"{letter}: {n}" for letter, n in zip(
                "DHW"[-rank:], each, strict=True)) for each in (sizes, grown))
            raise ShapeError(f"input ({was}) is too small. Calculated output "
                             f"{made.replace(',', '')}")
        return call(f"{name}_pad{rank}d.default", x, padding)
    return border


def circular(call: Caller, x: Array, padding: Shape) -> Array:
    """Return ``x`` with each side padded by entries of the opposite side. Dimensions
    are padded in turn, so that corners are written twice."""
    pairs = [*enumerate(zip(padding[::2], padding[1::2], strict=True), start=1)]
    shape, inside = list(x.shape), [slice(None)] * len(x.shape)
    part = x
    for d, (before, after) in pairs:
        n = x.shape[-d]
        if before > n or after > n:
            raise ShapeError("Padding value causes wrapping around more than once.")
        refuse(n + before + after < 0,
               "Negative padding value is resulting in an empty dimension")
        shape[-d] += before + after
        inside[-d] = slice(max(before, 0), shape[-d] - max(after, 0))
        part = call("slice.Tensor", part, -d, max(-before, 0), n - max(-after, 0))
    check_size(tuple(shape), LISTED)
    at = call("as_index", range(count_of(shape))).reshape(shape)
    y = call("new_full", x, tuple(shape), 0)
    y = call("copy_slices.positions", y, part, at[tuple(inside)])
    for d, (before, after) in pairs:
        n, rest = shape[-d], (slice(None),) * (d - 1)
        begin, end = max(before, 0), n - max(after, 0)
        if before > 0:
            far = call("slice.Tensor", y, -d, end - before, end)
            y = call("copy_slices.positions", y, far, at[(..., slice(before), *rest)])
        if after > 0:
            far = call("slice.Tensor", y, -d, begin, begin + after)
            y = call("copy_slices.positions", y, far,
                     at[(..., slice(n - after, n), *rest)])
    return y


BORDERS: dict[str, Border] = {
    "reflect": by_line("reflection", True),
    "replicate": by_line("replication", False),
    "circular": circular,
}


@function("pad", operands=("x",), formula="[v, x, v]",
          doc="A border; widths in pairs, the last dimension's first.",
          cases=[case((3, 4), pad=(1, 2)), case((2, 3, 4), pad=(1, 2, 2, 0),
                                                mode="reflect"),
                 case((2, 3), pad=(1, 2), mode="replicate"),
                 case((1, 3, 2), pad=(1, 2, -1, 2), mode="circular")])
def pad(call: Caller, x: Array, pad: Sizes, mode: str = "constant",
        value: float | None = None) -> Array:
    widths = as_sizes(pad)
    if mode == "constant":
        return call("constant_pad_nd", x, widths, 0 if value is None else value)
    refuse(len(widths) % 2, "Padding length must be divisible by 2")
    refuse(value, "Padding mode \"{}\" doesn't take in value argument", mode)
    rank, dims = len(widths) // 2, len(x.shape)
    refuse(mode not in BORDERS, "Unrecognised padding mode {}", mode, kind=KindError)
    refuse(rank not in (1, 2, 3) or dims not in (rank + 1, rank + 2),
           "Padding size {} is not supported for {}D input tensor: modes other than "
           "constant pad the last one, two or three dimensions behind the channels",
           len(widths), dims, kind=KindError)
    return BORDERS[mode](call, x, widths)

# resampling

FAMILY = "resampling"


RESAMPLED = {
    **{f"upsample_nearest{rank}d.vec": "nearest" for rank in (1, 2, 3)},
    "upsample_linear1d.vec": "linear", "upsample_bilinear2d.vec": "bilinear",
    "upsample_trilinear3d.vec": "trilinear", "upsample_bicubic2d.vec": "bicubic",
}  # fmt: skip
"""Modes by the row."""

CUBIC = -0.75
"""Slope, at distance 1, of the cubic filter of ``bicubic``."""


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


def nearest(way: Way) -> Sums:
    """Return a line with one position per entry, found in single precision as in
    PyTorch."""
    if way.n == way.made:
        return Sums([(i,) for i in range(way.n)])
    step = single(float(1 / way.scale if way.scale else way.n / way.made))
    if way.made == 2 * way.n:
        return Sums([(i // 2,) for i in range(way.made)])
    return Sums([(min(floor(single(i * step)), way.n - 1),) for i in range(way.made)])


def linear(way: Way) -> Sums:
    """Return a line with two neighbours per entry, weighted by how near they are."""
    if way.n == way.made:
        return Sums([(i,) for i in range(way.n)])
    spots, weights = [], []
    for at, on in way.places():
        if at < 0:
            at, on = 0, 0.0
        spots.append((min(at, way.n - 1), min(at + 1, way.n - 1)))
        weights.append((1 - on, on))
    return Sums(spots, weights)


# Keys 1981, doi:10.1109/TASSP.1981.1163711, equation 4.
def cubic(distance: float) -> float:
    d = abs(distance)
    if d < 1:
        return ((CUBIC + 2) * d - (CUBIC + 3)) * d * d + 1
    return (((d - 5) * d + 8) * d - 4) * CUBIC if d < 2 else 0.0


def bicubic(way: Way) -> Sums:
    """Return a line with four neighbours per entry; outside, the edge is repeated."""
    spots, weights = [], []
    for at, on in way.places():
        spots.append([min(max(at + k, 0), way.n - 1) for k in (-1, 0, 1, 2)])
        weights.append([cubic(on - k) for k in (-1, 0, 1, 2)])
    return Sums(spots, weights)


FILTERS: dict[str, Callable[[Way], Sums]] = {
    "nearest": nearest, "linear": linear, "bilinear": linear, "trilinear": linear,
    "bicubic": bicubic,
}

line_of = lru_cache(64)(lambda name, way: FILTERS[name](way))
"""Function from a name of `FILTERS` and a `Way` to the `Sums`; results are cached."""

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
             ) -> list[Sums]:
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
    """Enter a row of resampling by the filter ``line``, and its transpose; lookups of
    the nearest entry take no notice of ``align_corners``."""
    title = f"{name.title().replace('_', '')}Backward"
    shape, grown = (1, 1, 2, 3, 2)[:rank + 2], (3, 5, 4)[:rank]
    aligns, lines = "nearest" not in name, partial(lines_of, line)

    row(f"{name}.vec", node=f"{title}0", jvp=LINEAR, memory=PACKED,
        fwd=lambda xp, x, output_size, align_corners=False, scale_factors=None:
        gathered(xp, x, lines(xp, x.shape, output_size, scale_factors, align_corners)),
        refuses=WHOLES if aligns else NEAREST,
        formula="y[p] = sum(w[p, q]*x[q])",
        vjp=(lambda xp, g, y, x, **how:
             xp.call(f"{name}.backward", g, x.shape, **how),),
        cases=[case(shape, output_size=grown),
               case(shape, output_size=None, scale_factors=(2.6,) * rank),
               case((1, 1, *(4,) * rank), output_size=(2,) * rank,
                    align_corners=aligns)])
    row(f"{name}.backward", node=f"{title}Backward0", jvp=LINEAR, memory=PACKED,
        fwd=lambda xp, x, input_sizes, output_size, align_corners=False,
        scale_factors=None: spread(xp, x, lines(
            xp, input_sizes, output_size, scale_factors, align_corners), input_sizes),
        formula="y[q] = sum(w[p, q]*g[p])",
        vjp=(lambda xp, g, y, x, input_sizes, **how: xp.call(f"{name}.vec", g, **how),),
        cases=[case((*shape[:2], *grown), input_sizes=shape, output_size=grown)])


NEAREST = " bool int8 int16 int32 int64"
"""Types that take no part in resampling by the nearest entry."""

ROWS: dict[tuple[str, int], str] = {}
"""Names of rows, by the mode and the number of spatial dimensions."""

for _name, _mode in RESAMPLED.items():
    _base = _name.partition(".")[0]
    _rank = int(_base[-2])
    ROWS[_mode, _rank] = _name
    rows_of_filter(_base, _rank, _mode)


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
                 case((1, 2, 4), size=2, mode="area")])
def interpolate(call: Caller, input: Array, size: Sizes | None = None,
                scale_factor: Factor | None = None, mode: str = "nearest",
                align_corners: bool | None = None,
                recompute_scale_factor: bool | None = None) -> Array:
    if mode in ("nearest", "area") and align_corners is not None:
        raise ValueRangeError(f"interpolate: mode {mode!r} has no align_corners")
    rank = len(input.shape) - 2
    sizes, factors = asked(input, rank, size, scale_factor)
    refuse(recompute_scale_factor and size is not None, "recompute_scale_factor is not "
           "meaningful with an explicit size.", kind=ValueRangeError)
    if recompute_scale_factor or mode == "area":
        sizes, factors = sizes_of(input.shape[2:], sizes, factors), None
    if mode == "area" and rank in (1, 2, 3):
        return call(f"adaptive_avg_pool{rank}d", input, sizes)
    name = ROWS.get((mode, rank))
    if name is None:
        raise KindError(f"interpolate: mode {mode!r} of an input of {rank + 2} "
                        "dimensions; there are linear (3), bilinear and bicubic (4), "
                        "trilinear (5), nearest and area (3 to 5)")
    made = sizes_of(input.shape[2:], sizes, factors)
    refuse(min((*input.shape[1:], *made)) < 1, "interpolate: input {} cannot become "
           "{}: sizes should be greater than 0", list(input.shape), list(made))
    return call(name, input, sizes, bool(align_corners), factors)


# pixel shuffles, and division by powers of neighbours' squares

FAMILY = "shuffling"


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


# Krizhevsky, Sutskever, Hinton 2012, section 3.3.
@function("local_response_norm", operands=("input",), either="alpha beta k",
          doc="Each channel divided by a power of the mean square of its neighbours.",
          formula="input/(k + alpha*mean(input**2))**beta",
          cases=[case((1, 4, 3), size=2), case((1, 3, 2, 2), size=3, alpha=0.5)])
def local_response_norm(call: Caller, input: Array, size: int, alpha: float = 1e-4,
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
