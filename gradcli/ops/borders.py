"""Padding with entries of the tensor: reflected, repeated, or circular.

Invariant: reflected and repeated padding is one node, in which each entry of the result
reads one of the input; circular padding is written slice by slice, as in PyTorch.

    pad(x, (1, 1), mode="reflect")      # ReflectionPad1DBackward0: [x1, x0, x1, ...]
"""

from __future__ import annotations

from collections.abc import Callable

from .arrange import pad_pairs
from .checks import KindError, ShapeError, as_sizes, count_of, refuse
from .limits import LISTED, check_size
from .lines import Line, gathered, spread
from .op import LINEAR, PACKED, Rule, case, function, of_numbers, row
from .types import Array, Call, Shape, Sizes

# fmt: off


def bordered(shape: Shape, padding: Shape, inner: Callable[[int, int], int]
            ) -> list[Line]:
    """Return, for each padded dimension, a `Line` of the positions that entries of the
    result read; ``inner(at, n)`` maps a position to one from 0 to n - 1."""
    pairs = pad_pairs(shape, padding)[len(shape) - len(padding) // 2:]
    lines = []
    for n, (before, after) in zip(shape[len(shape) - len(pairs):], pairs, strict=True):
        check_size((n + before + after,), LISTED)
        lines.append(Line([(inner(at, n),) for at in range(-before, n + after)]))
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
        of_numbers(f"{dims}.default", node=f"{node}0", jvp=LINEAR, memory=PACKED,
            saves="x", always_saves=True,
            rule=Rule(f"{node}Backward0"), formula=formula,
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

Border = Callable[[Call, Array, Shape], Array]
"""A function that pads a tensor by the given widths."""


def by_line(name: str, mirrored: bool) -> Border:
    def border(call: Call, x: Array, padding: Shape) -> Array:
        rank = len(padding) // 2
        refuse(0 in x.shape[len(x.shape) - rank - 1:], "Expected {}D or {}D (batch "
               "mode) tensor with possibly 0 batch size and other non-zero dimensions "
               "for input, but got: {}", rank + 1, rank + 2, list(x.shape))
        sizes = x.shape[-rank:]
        for d, n in enumerate(reversed(sizes), start=1):
            before, after = padding[2 * d - 2:2 * d]
            if mirrored and max(before, after) >= n:
                raise ShapeError(f"pad: a dimension of size {n} does not mirror into "
                                 f"({before}, {after})")
        grown = [n + padding[-2 * d - 2] + padding[-2 * d - 1]
                 for d, n in enumerate(sizes)]
        if min(grown) < 1:
            was, made = (", ".join(f"{letter}: {n}" for letter, n in zip(
                "DHW"[-rank:], each, strict=True)) for each in (sizes, grown))
            raise ShapeError(f"input ({was}) is too small. Calculated output "
                             f"{made.replace(',', '')}")
        return call(f"{name}_pad{rank}d.default", x, padding)
    return border


def circular(call: Call, x: Array, padding: Shape) -> Array:
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
def pad(call: Call, x: Array, pad: Sizes, mode: str = "constant",
        value: float | None = None) -> Array:
    widths = as_sizes(pad)
    if mode == "constant":
        return call("constant_pad_nd", x, widths, 0 if value is None else value)
    refuse(len(widths) % 2, "Padding length must be divisible by 2")
    refuse(value, "Padding mode \"{}\" doesn't take in value argument", mode)
    rank, dims = len(widths) // 2, len(x.shape)
    refuse(mode not in BORDERS, "Unrecognised padding mode {}", mode, kind=KindError)
    refuse(rank not in (1, 2, 3) or dims not in (rank + 1, rank + 2),
           "Padding size {} is not supported for {}D input tensor.\nSupported "
           "combinations for non-constant padding:\n  - 2D or 3D input: padding size = "
           "2 (pads last dimension)\n  - 3D or 4D input: padding size = 4 (pads last 2 "
           "dimensions)\n  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)",
           len(widths), dims, kind=KindError)
    return BORDERS[mode](call, x, widths)
