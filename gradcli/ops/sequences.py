"""Convolution of sequences whose first dimension is time.

Invariant: a window is one matrix per place, so that value and rules are sums of
products of matrices. An input is (T, N, C), a weight (places, C, O).

    conv_tbc(x, w, b, pad=1)        # ConvTbcBackward0
"""

from __future__ import annotations

from functools import reduce
from operator import add

from .checks import ShapeError
from .op import FIRST, TRUTHS, case, no_kernel, row
from .types import Array, Namespace, Shape

# fmt: off

def slid(xp: Namespace, x: Array, weight: Array, pad: int) -> Array:
    """At every time the products of the entries that follow and the weight's matrices,
    added up."""
    wide = xp.constant_pad_nd(x, (0, 0, 0, 0, pad, pad))
    count = wide.shape[0] - weight.shape[0] + 1
    if count < 0:
        raise ShapeError(
            "Trying to create tensor with negative dimension "
            f"{count}: {[count, x.shape[1], weight.shape[2]]}")
    parts = [xp.matmul(xp.narrow(wide, 0, k, count), xp.select(weight, 0, k))
             for k in range(weight.shape[0])]
    if not parts:
        return xp.new_full(x, (count, x.shape[1], weight.shape[2]), 0)
    return reduce(add, parts)


def slid_back(xp: Namespace, g: Array, weight: Array, times: int, pad: int) -> Array:
    """The transpose of `slid` in its input, which has so many times."""
    turned = xp.flip(xp.transpose(weight, 1, 2), (0,))
    edge = max(weight.shape[0] - 1, 0)
    return xp.narrow(slid(xp, g, turned, edge), 0, pad, times)


def slid_beside(xp: Namespace, g: Array, x: Array, size: Shape, pad: int) -> Array:
    """The transpose of `slid` in its weight, which is of this size."""
    wide = xp.constant_pad_nd(x, (0, 0, 0, 0, pad, pad))
    rows = xp.reshape(g, (-1, size[2])) if 0 not in g.shape else None
    if rows is None or 0 in size:
        return xp.new_full(x, size, 0)
    parts = [xp.matmul(xp.t(xp.reshape(xp.narrow(wide, 0, k, g.shape[0]),
                                       (-1, size[1]))), rows)
             for k in range(size[0])]
    return xp.stack(parts, 0)


def demand_sequence(x: Array, weight: Array, bias: Array) -> None:
    if len(x.shape) != 3:
        raise ShapeError("Input must have 3 dims: time, batch, in_channel")
    if len(weight.shape) != 3:
        raise ShapeError("Weight tensor must have 3 dims: kernel_width, in_channels, "
                         "out_channels.")
    if len(bias.shape) != 1:
        raise ShapeError("Bias must be 1-D")
    if x.shape[2] != weight.shape[1]:
        raise ShapeError("Input dim 2 (input channels) is not == dim 1 in the weight "
                         "tensor")
    if weight.shape[2] != bias.shape[0]:
        raise ShapeError("Bias size must equal dim 2 in the weight tensor (output "
                         "channels).")


def through_time(xp: Namespace, x: Array, weight: Array, bias: Array, pad: int = 0
                ) -> Array:
    demand_sequence(x, weight, bias)
    return slid(xp, x, weight, pad) + bias


row("conv_tbc", node="ConvTbcBackward0", fwd=through_time, saves="x weight bias",
    result=FIRST, refuses=no_kernel("addmm_impl_cpu_", TRUTHS),
    one_type=("self and mat2 must have the same dtype, but got {0} and {1}", ""),
    doc="A convolution of sequences: time, batch and channels are the dimensions of "
        "the input, places in time, inputs and outputs those of the weight.",
    formula="y[t, b, o] = sum(x[t + k - pad, b, i]*weight[k, i, o]) + bias[o]",
    vjp=(lambda xp, g, y, x, weight, bias, pad=0:
         slid_back(xp, g, weight, x.shape[0], pad),
         lambda xp, g, y, x, weight, bias, pad=0:
         slid_beside(xp, g, x, tuple(weight.shape), pad),
         lambda xp, g, y, x, weight, bias, pad=0: xp.sum(g, (0, 1))),
    jvp=lambda xp, t, y, x, weight, bias, pad=0:
        slid(xp, t[0], weight, pad) + slid(xp, x, t[1], pad) + t[2],
    cases=[case((4, 2, 3), (2, 3, 2), (2,)), case((3, 1, 2), (3, 2, 1), (1,), pad=1)])
