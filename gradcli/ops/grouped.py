"""Normalisation of groups of channels to mean 0 and variance 1.

Invariant: as in `normalise`, one symmetric Jacobian serves the reverse and the forward
pass; each group is reshaped to one dimension while it is normalised.

    group_norm(x, 2, weight, bias)          # NativeGroupNormBackward0
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from .checks import (
    ValueRangeError,
    demand_rank,
    demand_shape,
    refuse,
)
from .normalise import (
    Normal,
    affine,
    affine_rules,
    along_normalised,
    by_channel,
    normalised,
)
from .op import (
    PACKED,
    RESULT,
    Fixed,
    Rule,
    case,
    function,
    of_floats,
)
from .types import Array, Call, Namespace

# fmt: off

LAST = (2,)


def per_group(xp: Namespace, x: Array, num_groups: int, eps: float = 1e-5) -> Normal:
    """Return ``x`` normalised by the mean and the variance of each item's groups."""
    def grouped(t: Array) -> Array:
        return xp.reshape(t, (x.shape[0], num_groups, prod(x.shape[1:]) // num_groups))

    def values() -> tuple[Array, Callable[[Array], Array]]:
        hat, scale = normalised(xp, grouped(x), LAST, eps)
        return xp.reshape(hat, x.shape), lambda t: xp.reshape(
            along_normalised(xp, grouped(t), hat, scale, LAST), x.shape)

    return by_channel(xp, x, values)


# Wu, He 2018, arXiv:1803.08494.
of_floats("group_norm.default", node="NativeGroupNormBackward0", one_type=True,
    rule=Rule("NativeGroupNormBackward0", (RESULT,), gives=(1,), zeros=False,
              whole=False), memory=PACKED,
    formula="(x - mean)/sqrt(var + eps)*weight + bias, per group of channels",
    fwd=lambda xp, x, weight, bias, num_groups, eps=1e-5:
        affine(per_group(xp, x, num_groups, eps), weight, bias),
    **affine_rules(per_group),
    cases=[case((2, 4, 2), (4,), (4,), num_groups=2),
           case((3, 4), Fixed(None), Fixed(None), num_groups=2, eps=0.1),
           case((1, 2, 2, 2), (2,), Fixed(None), num_groups=1)], saves="x weight")


@function("group_norm", operands=("x", "weight", "bias"),
          formula="(x - mean)/sqrt(var + eps)*weight + bias",
          doc="Mean 0 and variance 1 per item and group of channels.")
def group_norm(call: Call, x: Array, num_groups: int, weight: Array | None = None,
               bias: Array | None = None, eps: float = 1e-5) -> Array:
    demand_rank("group_norm", x, 2)
    refuse(num_groups < 1 or x.shape[1] % num_groups, "Expected number of channels in "
           "input to be divisible by num_groups, but got input of shape {} and "
           "num_groups={}", list(x.shape), num_groups, kind=ValueRangeError)
    if x.shape[0] * x.shape[1] == num_groups and all(n == 1 for n in x.shape[2:]):
        raise ValueRangeError("Expected more than 1 value per channel when training, "
                              f"got input size {list(x.shape)}")
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None:
            demand_shape(f"group_norm: {name}", given, (x.shape[1],))
    return call("group_norm.default", x, weight, bias, num_groups, eps)
