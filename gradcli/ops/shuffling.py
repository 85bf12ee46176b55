"""Pixel shuffles, affine grids, and local response normalisation.

Invariant: a pixel shuffle consists of reshapes and a permutation, and the transpose of
each row is a row.

    pixel_shuffle(x, 2)         # PixelShuffleBackward0: (4 C, H, W) -> (C, 2 H, 2 W)
"""

from __future__ import annotations

import warnings
from operator import truediv

from .checks import (
    KindError,
    ShapeError,
    ValueRangeError,
    as_sizes,
    demand_multiple,
    demand_rank,
    refuse,
)
from .exact import fraction
from .limits import check_size
from .op import LINEAR, PACKED, case, function, of_numbers, row
from .products import turned
from .types import Array, Call, Namespace, Shape, Sizes

# fmt: off


def check_factor(name: str, word: str, factor: int) -> None:
    refuse(factor < 1, "{} expects a positive {}scale_factor, but got {}", name, word,
           factor, kind=ValueRangeError)


# Shi et al. 2016, arXiv:1609.05158, section 3.1.
@row("pixel_shuffle", node="PixelShuffleBackward0", jvp=LINEAR, memory=PACKED,
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


@row("pixel_unshuffle", node="PixelUnshuffleBackward0", jvp=LINEAR, memory=PACKED,
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


of_numbers("affine_grid_generator", node="AffineGridGeneratorBackward0", jvp=LINEAR,
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
    if theta.shape[0] != sizes[0]:
        raise ShapeError(f"Expected {sizes[0]} matrices, one for each item, but got "
                         f"{theta.shape[0]}")
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
