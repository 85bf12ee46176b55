"""Normalisation to mean 0 and variance 1, over dimensions, per channel or per group.

Invariant: variances are means of squares of the centred values. The map from an input
to its normalised values has a symmetric Jacobian, so one formula serves the reverse and
the forward pass.

    layer_norm(x, [4])                              # NativeLayerNormBackward0
    batch_norm(x, mean, var, weight, bias)          # NativeBatchNormBackward0
    group_norm(x, 2, weight, bias)                  # NativeGroupNormBackward0
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import NamedTuple

from .checks import (
    ShapeError,
    ValueRangeError,
    as_sizes,
    count_of,
    demand_rank,
    demand_shape,
    refuse,
)
from .op import PACKED, RESULT, Fixed, Rule, Rules, case, function, jointly, of_floats
from .shape import sum_to
from .types import Array, Caller, Dims, Namespace, Sizes

# fmt: off


def mean_over(xp: Namespace, x: Array, dims: tuple[int, ...]) -> Array:
    return xp.sum(x, dims, True) / count_of(x.shape[d] for d in dims)


def normalised(xp: Namespace, x: Array, dims: tuple[int, ...], eps: float
              ) -> tuple[Array, Array]:
    """Return ``x`` normalised over ``dims``, and the reciprocal standard deviation."""
    centred = x - mean_over(xp, x, dims)
    scale = xp.rsqrt(mean_over(xp, xp.square(centred), dims) + eps)
    return centred * scale, scale


def along_normalised(xp: Namespace, t: Array, hat: Array, scale: Array,
                     dims: tuple[int, ...]) -> Array:
    """Return the (symmetric) Jacobian of `normalised` times ``t``."""
    pull = mean_over(xp, t * hat, dims)
    return scale * (t - mean_over(xp, t, dims) - hat * pull)


def scaled(x: Array, weight: Array | None, bias: Array | None = None) -> Array:
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


def shaped(xp: Namespace, found: Array, like: Array) -> Array:
    """Return a cotangent reshaped to its operand's shape, which may have extra 1s."""
    same = tuple(found.shape) == tuple(like.shape)
    return found if same else xp.reshape(found, like.shape)


Values = Callable[[], tuple[Array, Callable[[Array], Array]]]
"""A function that returns normalised values, and their Jacobian as a function."""


class Normaliser(NamedTuple):
    """A normalisation: three functions.

    values  returns the normalised values, and their (symmetric) Jacobian as a function
    spread  reshapes a weight or a bias so that it broadcasts with the values
    gather  sums values over all positions that share an entry of a weight or a bias
    """

    values: Values
    spread: Callable[[Array], Array]
    gather: Callable[[Array], Array]

    def of(self, values: Array | None) -> Array | None:
        """Return ``spread(values)``, or None for None."""
        return None if values is None else self.spread(values)


def affine(normal: Normaliser, weight: Array, bias: Array) -> Array:
    """Return the normalised values times the weight plus the bias, if there are any."""
    hat, _ = normal.values()
    return scaled(hat, normal.of(weight), normal.of(bias))


def affine_rules(normal_of: Callable[..., Normaliser], fixed: int = 0) -> Rules:
    """Return the rules of `affine` by its input, the weight and the bias.

    Args:
        normal_of: ``(xp, x, *fixed, **params)`` returns the normalisation of ``x``.
        fixed: the number of further inputs, which have no gradient.
    """
    def rules(xp: Namespace, wanted: Sequence[bool], g: Array, y: Array, x: Array,
              weight: Array, bias: Array, *rest: object, **how: object
              ) -> list[Array | None]:
        normal = normal_of(xp, x, *rest, **how)
        hat, jacobian = normal.values() if wanted[0] or wanted[1] else (x, normal.of)
        return [jacobian(scaled(g, normal.of(weight))) if wanted[0] else None,
                shaped(xp, normal.gather(g * hat), weight) if wanted[1] else None,
                shaped(xp, normal.gather(g), bias) if wanted[2] else None]

    return jointly(rules, 3, fixed)


of_layers = partial(of_floats, one_type=True, memory=PACKED)

# weights given by direction and length


def lengths(xp: Namespace, v: Array, dim: int) -> tuple[Array, tuple[int, ...]]:
    """Return the norms of slices along ``dim``, and the dimensions within a slice."""
    dims = tuple(d for d in range(len(v.shape)) if d != dim % len(v.shape))
    return xp.sqrt(xp.sum(xp.square(v), dims, True)), dims


def weight_norm_rules(xp: Namespace, wanted: Sequence[bool], g: Array, y: Array,
                      v: Array, length: Array, dim: int = 0) -> list[Array]:
    n, dims = lengths(xp, v, dim)
    along = xp.sum(g * v, dims, True) / n
    return [length / n * (g - v / n * along), along]


# Salimans, Kingma 2016, arXiv:1602.07868, equation 3.
of_layers("weight_norm_interface.default",
    fwd=lambda xp, v, length, dim=0: v * (length / lengths(xp, v, dim)[0]),
    **jointly(weight_norm_rules, 2),
    cases=[case((3, 4), (3, 1)), case((2, 3, 2), (2, 1, 1)),
           case((3, 4), (1, 4), dim=1)], saves="v length")


# layer normalisation: over the last dimensions


def last_dims(x: Array, normalized_shape: Sequence[int]) -> tuple[int, ...]:
    wanted = list(normalized_shape)
    rank = len(wanted)
    if not wanted or list(x.shape[len(x.shape) - rank:]) != wanted:
        raise ShapeError(
            f"Given normalized_shape={wanted}, expected input with shape "
            f"[{', '.join(['*', *map(str, wanted)])}], but got input of size"
            f"{list(x.shape)}")
    return tuple(range(len(x.shape) - rank, len(x.shape)))


def per_layer(xp: Namespace, x: Array, normalized_shape: Sequence[int],
              eps: float = 1e-5) -> Normaliser:
    dims = last_dims(x, normalized_shape)

    def values() -> tuple[Array, Callable[[Array], Array]]:
        hat, scale = normalised(xp, x, dims, eps)
        return hat, lambda t: along_normalised(xp, t, hat, scale, dims)

    return Normaliser(values, lambda w: w,
                  lambda each: sum_to(xp, each, tuple(normalized_shape)))


# Ba, Kiros, Hinton 2016, arXiv:1607.06450.
of_layers("layer_norm.default", node="NativeLayerNormBackward0", always_saves=True,
    rule=Rule("NativeLayerNormBackwardBackward0", (0, None, None, 1, 2), zeros=False),
    formula="(x - mean(x))/sqrt(var(x) + eps)*weight + bias, over the last dimensions",
    fwd=lambda xp, x, weight, bias, normalized_shape, eps=1e-5:
        affine(per_layer(xp, x, normalized_shape, eps), weight, bias),
    **affine_rules(per_layer),
    cases=[case((3, 4), (4,), (4,), normalized_shape=(4,)),
           case((2, 3, 2), (3, 2), (3, 2), normalized_shape=(3, 2), eps=0.1),
           case((3, 4), Fixed(None), Fixed(None), normalized_shape=(4,)),
           case((4,), (4,), Fixed(None), normalized_shape=(4,))], saves="x weight bias")


@function("layer_norm", operands=("x", "weight", "bias"),
          formula="(x - mean(x))/sqrt(var(x) + eps)*weight + bias",
          doc="Mean 0 and variance 1 over the last dimensions.")
def layer_norm(call: Caller, x: Array, normalized_shape: Sizes,
               weight: Array | None = None, bias: Array | None = None, eps: float = 1e-5
              ) -> Array:
    wanted = as_sizes(normalized_shape)
    demand_shape("layer_norm: weight", weight, wanted)
    demand_shape("layer_norm: bias", bias, wanted)
    return call("layer_norm.default", x, weight, bias, wanted, eps)


# batch normalisation: per channel, which is dimension 1


def other_dims(x: Array) -> tuple[int, ...]:
    return tuple([d for d in range(len(x.shape)) if d != 1])


def per_channel(xp: Namespace, values: Array, x: Array) -> Array:
    """Return a vector of one value per channel, reshaped to broadcast with ``x``."""
    return xp.reshape(values, [x.shape[1] if d == 1 else 1 for d in range(x.ndim)])


def by_channel(xp: Namespace, x: Array, values: Values) -> Normaliser:
    return Normaliser(values, lambda w: per_channel(xp, w, x),
                  lambda each: xp.sum(each, other_dims(x)))


def per_batch(xp: Namespace, x: Array, mean: Array, var: Array, training: bool = False,
              eps: float = 1e-5) -> Normaliser:
    """Return the normalisation by the batch's statistics in training, else by given
    ones."""
    def values() -> tuple[Array, Callable[[Array], Array]]:
        if training:
            dims = other_dims(x)
            hat, scale = normalised(xp, x, dims, eps)
            return hat, lambda t: along_normalised(xp, t, hat, scale, dims)
        scale = xp.rsqrt(per_channel(xp, var, x) + eps)
        return (x - per_channel(xp, mean, x)) * scale, lambda t: t * scale

    return by_channel(xp, x, values)


# Ioffe, Szegedy 2015, arXiv:1502.03167.
of_layers("batch_norm.default", node="NativeBatchNormBackward0",
    rule=Rule("NativeBatchNormBackwardBackward0", (0, 1, None, None), zeros=False),
    formula="(x - mean)/sqrt(var + eps)*weight + bias, per channel",
    fwd=lambda xp, x, weight, bias, mean, var, training=False, eps=1e-5:
        affine(per_batch(xp, x, mean, var, training, eps), weight, bias),
    **affine_rules(per_batch, fixed=2),
    fixed="native_batch_norm running_mean running_var",
    cases=[case((4, 3), (3,), (3,), Fixed(None), Fixed(None), training=True),
           case((4, 3), Fixed(None), Fixed(None), Fixed(None), Fixed(None),
                training=True, eps=0.1),
           case((2, 3, 2), (3,), Fixed(None), Fixed(None), Fixed(None), training=True),
           case((4, 3), (3,), (3,), Fixed([0.5, -1.0, 0.0]), Fixed([2.0, 1.0, 0.5]))],
    saves="x weight mean var")


def demand_channels(x: Array, **given: Array | None) -> None:
    """Refuse statistics, weights and biases that are not one number per channel.

    Raises:
        ShapeError: the message names the first such operand.
    """
    for name, values in given.items():
        if values is not None and count_of(values.shape) != x.shape[1]:
            raise ShapeError(f"{name} should contain {x.shape[1]} elements not "
                             f"{count_of(values.shape)}")


def batch_norm(call: Caller, x: Array, running_mean: Array | None,
               running_var: Array | None, weight: Array | None = None,
               bias: Array | None = None, training: bool = False, momentum: float = 0.1,
               eps: float = 1e-5) -> Array:
    demand_rank("batch_norm", x, 2)
    refuse(not training and (running_mean is None or running_var is None), "Expected "
           "running_mean and running_var to be defined when training=False",
           kind=ValueRangeError)
    demand_channels(x, running_mean=running_mean, running_var=running_var,
                    weight=weight, bias=bias)
    if eps < 0 or (training and eps == 0):
        wanted = "positive during training" if training else "non-negative"
        raise ValueRangeError(f"batch_norm eps must be {wanted}, but got {eps}")
    if 0 in x.shape:
        return of_nothing(call, x, weight, bias)
    if training:
        running_mean = running_var = None
    return call("batch_norm.default", x, weight, bias, running_mean, running_var,
                training, eps)


def of_nothing(
    call: Caller, x: Array, weight: Array | None, bias: Array | None
) -> Array:
    """Return the result for an ``x`` without entries, with PyTorch's nodes."""
    y = call("clone", x)
    for name, factor in (("mul", weight), ("add", bias)):
        if factor is not None and 0 not in factor.shape:
            y = call(name, y, call("select", factor, 0, 0))
    return y


function("batch_norm", batch_norm,
         operands=("x", "running_mean", "running_var", "weight", "bias"),
         formula="(x - mean)/sqrt(var + eps)*weight + bias",
         doc="Mean 0 and variance 1 per channel, by the batch's statistics in training "
             "and by the given ones otherwise.")

# vectors scaled to length 1


@function("normalize", operands=("x",), either="eps",
          formula="x/maximum(norm(x, p, dim, keepdim=True), eps)",
          doc="Vectors along a dimension, scaled to length 1.",
          cases=[case((3, 4)), case((3, 4), p=1.0, dim=0)])
def normalize(call: Caller, x: Array, p: float = 2.0, dim: Dims = 1, eps: float = 1e-12
              ) -> Array:
    length = call("norm", x, p, dim, True)
    return call("div", x, call("expand_as", call("clamp_min", length, eps), x))


# group normalisation: each group is one dimension while it is normalised

FAMILY = "grouped"


LAST = (2,)


def per_group(
    xp: Namespace, x: Array, num_groups: int, eps: float = 1e-5
) -> Normaliser:
    """Return the normalisation by the mean and the variance of each item's groups."""
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
def group_norm(call: Caller, x: Array, num_groups: int, weight: Array | None = None,
               bias: Array | None = None, eps: float = 1e-5) -> Array:
    demand_rank("group_norm", x, 2)
    refuse(num_groups < 1 or x.shape[1] % num_groups, "Expected number of channels in "
           "input to be divisible by num_groups, but got input of shape {} and "
           "num_groups={}", list(x.shape), num_groups, kind=ValueRangeError)
    refuse(prod(x.shape) == num_groups, "Expected more than 1 value per channel when "
           "training, got input size {}", list(x.shape), kind=ValueRangeError)
    demand_shape("group_norm: weight", weight, x.shape[1:2])
    demand_shape("group_norm: bias", bias, x.shape[1:2])
    return call("group_norm.default", x, weight, bias, num_groups, eps)
