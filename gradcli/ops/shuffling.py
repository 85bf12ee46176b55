"""Pixel shuffles, and channels divided by powers of their neighbours' mean squares.

Invariant: a pixel shuffle consists of reshapes and a permutation, and the transpose of
each row is a row.

    pixel_shuffle(x, 2)         # PixelShuffleBackward0: (4 C, H, W) -> (C, 2 H, 2 W)
"""

from __future__ import annotations

from .checks import ValueRangeError, demand_multiple, demand_rank, refuse
from .op import LINEAR, PACKED, case, function, row
from .types import Array, Caller, Namespace

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


# division by powers of neighbours' squares

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
