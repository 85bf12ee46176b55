"""A normalisation taken into the layer before it, for evaluation.

Invariant: a copy is changed, and gives what the two gave one after the other.

    fused = fuse_conv_bn_eval(conv.eval(), norm.eval())
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, TypeVar

from ...engine.creation import ones_like, zeros_like
from ...engine.record import call
from ...engine.tensor import Tensor
from ..module import Module
from ..parameter import Parameter

M = TypeVar("M", bound=Module)
Pair = tuple[Parameter, Parameter]


def _fused(
    weight: Tensor, bias: Tensor | None, mean: Tensor, var: Tensor, eps: float,
    scale: Tensor | None, shift: Tensor | None, along: int,
) -> Pair:  # fmt: skip
    """Weight and bias with the normalisation in them; ``along`` counts outputs."""
    start = zeros_like(mean) if bias is None else bias
    gain = ones_like(mean) if scale is None else scale
    move = zeros_like(mean) if shift is None else shift
    factor = gain * call("rsqrt", var + eps)
    shape = [-1 if d == along else 1 for d in range(weight.ndim)]
    fused = (weight * factor.reshape(shape)).to(weight.dtype)
    moved = ((start - mean) * factor + move).to(start.dtype)
    trained = bias is not None and bias.requires_grad
    return (
        Parameter(fused.detach(), weight.requires_grad),
        Parameter(moved.detach(), trained),
    )


def fuse_conv_bn_weights(
    conv_w: Tensor, conv_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float,
    bn_w: Tensor | None, bn_b: Tensor | None, transpose: bool = False,
) -> Pair:  # fmt: skip
    """A convolution's weight and bias with a batch normalisation in them.

    Args:
        transpose: whether it is a transposed one.
    """
    along = 1 if transpose else 0
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, along)


def fuse_linear_bn_weights(
    linear_w: Tensor, linear_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor,
    bn_eps: float, bn_w: Tensor, bn_b: Tensor,
) -> Pair:  # fmt: skip
    """A linear layer's weight and bias with a batch normalisation in them."""
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 0)


def _evaluating(layer: Module, bn: Module) -> None:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")


def _put_into(layer: M, bn: Module, along: int) -> M:
    twin = deepcopy(layer)
    twin.weight, twin.bias = _fused(
        twin.weight, twin.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight,
        bn.bias, along,
    )  # fmt: skip
    return twin


def fuse_conv_bn_eval(conv: M, bn: Module, transpose: bool = False) -> M:
    """A convolution that does what it and then the normalisation did.

    Raises:
        AssertionError: one of the two is in training.
    """
    _evaluating(conv, bn)
    return _put_into(conv, bn, 1 if transpose else 0)


def fuse_linear_bn_eval(linear: M, bn: Any) -> M:
    """A linear layer that does what it and then the normalisation did.

    Raises:
        AssertionError: one of the two is in training, or numbers of features differ.
    """
    _evaluating(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1"
        )
    return _put_into(linear, bn, 0)
