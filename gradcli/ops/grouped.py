"""Normalisation of groups of channels to mean 0 and variance 1.

Invariant: as in `normalise`, one symmetric Jacobian serves the reverse and the forward
pass; a group's entries stand in one dimension while they are normalised.

    group_norm(x, 2, weight, bias)          # NativeGroupNormBackward0
"""

from __future__ import annotations

from math import prod
from typing import Any

from .checks import ShapeError, ValueRangeError, count_of
from .normalise import along_normalised, normalised, other_dims, per_channel, scaled
from .op import MIXED, PACKED, RESULT, Fixed, Rule, case, function, no_kernel, row

# fmt: off

LAST = (2,)


def grouped(xp: Any, x: Any, groups: int) -> Any:
    """The entries of each item's groups, in one dimension."""
    return xp.reshape(x, (x.shape[0], groups, prod(x.shape[1:]) // groups))


def normal(xp: Any, x: Any, groups: int, eps: float) -> tuple[Any, Any]:
    return normalised(xp, grouped(xp, x, groups), LAST, eps)


def pushed(xp: Any, t: Any, x: Any, groups: int, eps: float) -> Any:
    """The Jacobian of the normalisation, applied to ``t``, shaped as ``x``."""
    moved = along_normalised(xp, grouped(xp, t, groups), *normal(xp, x, groups, eps),
                             LAST)
    return xp.reshape(moved, x.shape)


def hat_of(xp: Any, x: Any, groups: int, eps: float) -> Any:
    return xp.reshape(normal(xp, x, groups, eps)[0], x.shape)


def along(xp: Any, t: Any, y: Any, x: Any, weight: Any, bias: Any, num_groups: int,
          eps: float = 1e-5) -> Any:
    moved = scaled(pushed(xp, t[0], x, num_groups, eps), per_channel(xp, weight, x))
    if weight is not None:
        hat = hat_of(xp, x, num_groups, eps)
        moved = moved + hat * per_channel(xp, t[1], x)
    return moved if bias is None else moved + per_channel(xp, t[2], x)


row("group_norm.default", node="NativeGroupNormBackward0", jvp=along,
    one_type=MIXED,
    refuses=no_kernel("GroupNormKernelImpl"),
    rule=Rule("NativeGroupNormBackward0", (RESULT,), gives=(1,), zeros=False),
    memory=PACKED,
    formula="(x - mean)/sqrt(var + eps)*weight + bias, per group of channels",
    doc="Mean 0 and variance 1 per group of channels, then scaled and shifted.",
    fwd=lambda xp, x, weight, bias, num_groups, eps=1e-5: scaled(
        hat_of(xp, x, num_groups, eps), per_channel(xp, weight, x),
        per_channel(xp, bias, x)),
    vjp=(lambda xp, g, y, x, weight, bias, num_groups, eps=1e-5: pushed(
             xp, scaled(g, per_channel(xp, weight, x)), x, num_groups, eps),
         lambda xp, g, y, x, weight, bias, num_groups, eps=1e-5: xp.sum(
             g * hat_of(xp, x, num_groups, eps), other_dims(x)),
         lambda xp, g, y, x, weight, bias, num_groups, eps=1e-5: xp.sum(
             g, other_dims(x))),
    cases=[case((2, 4, 2), (4,), (4,), num_groups=2),
           case((3, 4), Fixed(None), Fixed(None), num_groups=2, eps=0.1),
           case((1, 2, 2, 2), (2,), Fixed(None), num_groups=1)],
    saves=("x weight", "x", "x"))


def group_norm(call: Any, x: Any, num_groups: int, weight: Any = None,
               bias: Any = None, eps: float = 1e-5) -> Any:
    if len(x.shape) < 2:
        raise ShapeError("Expected at least 2 dimensions for input tensor but received "
                         f"{len(x.shape)}")
    if num_groups < 1 or x.shape[1] % num_groups:
        raise ValueRangeError(
            "Expected number of channels in input to be divisible by num_groups, but "
            f"got input of shape {list(x.shape)} and num_groups={num_groups}")
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and count_of(given.shape) != x.shape[1]:
            raise ShapeError(
                f"Expected {name} to be a vector of size equal to the number of "
                f"channels in input, but got {name} of shape {list(given.shape)} and "
                f"input of shape {list(x.shape)}")
    return call("group_norm.default", x, weight, bias, num_groups, eps)


function("group_norm", group_norm, operands=("x", "weight", "bias"),
         formula="(x - mean)/sqrt(var + eps)*weight + bias",
         doc="Mean 0 and variance 1 per item and group of channels.")
