"""Formulas for values that PyTorch's nodes save beside inputs, results and parameters.

Invariant: nodes of this engine do not save these values; they are computed on request
from the saved ones. A formula is ``(xp, y, *inputs, **params)`` on plain arrays.

    TENSORS["layer_norm.default"]["result1"](xp, y, x, None, None, (4,))   # the mean
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from .lookup import NO_PADDING, SUM, bags_of
from .loss import weights_of
from .normalise import last_dims, lengths, mean_over, other_dims
from .op import Formula
from .products import turned
from .resampling import sizes_of
from .saved_names import RESAMPLED
from .types import Array, Namespace, Outputs, Shape

# fmt: off


def mean_and_scale(xp: Namespace, x: Array, dims: tuple[int, ...], eps: float
                  ) -> list[Array]:
    """Return mean and ``1/sqrt(variance + eps)`` over dimensions, which are kept."""
    mean = mean_over(xp, x, dims)
    return [mean, xp.rsqrt(mean_over(xp, xp.square(x - mean), dims) + eps)]


def of_batches(xp: Namespace, y: Array, x: Array, *_: object, training: bool = False,
               eps: float = 1e-5) -> list[Array]:
    """Return mean and scale of a batch in training, otherwise two empty arrays."""
    if not training:
        return [xp.new_full(x, (0,), 0)] * 2
    found = mean_and_scale(xp, x, other_dims(x), eps)
    return [xp.reshape(each, (-1,)) for each in found]


def of_groups(xp: Namespace, y: Array, x: Array, *_: object, num_groups: int,
              eps: float = 1e-5) -> list[Array]:
    items = xp.reshape(x, (x.shape[0], num_groups, -1))
    return [xp.squeeze(each, 2) for each in mean_and_scale(xp, items, (2,), eps)]


def weight_of_classes(xp: Namespace, y: Array, x: Array, target: Array,
                      weight: Array | None = None, reduction: str = "mean",
                      ignore_index: int = -100) -> Array:
    """Return the summed weights of targets that are not ignored, or 0 without a
    reduction."""
    if reduction == "none":
        return xp.new_full(x, (), 0)
    weights = weights_of(xp, x, target, weight, ignore_index)[1]
    return xp.sum(weights) if weights is not None else (
        xp.new_full(x, (), prod(target.shape)))


def of_determinant(xp: Namespace, y: Array, a: Any) -> Outputs:
    """Return LU factors and pivots, of ``a.T`` if ``a`` is C-ordered in memory."""
    return xp.lu_factors(turned(xp, a) if a.flags.c_contiguous else a)


def of_bags(number: int) -> Formula:
    """Return a formula for each lookup's bag (``number`` 1) or the bags' sizes (2)."""
    def found(xp: Namespace, y: Array, weight: Array, indices: Array, offsets: Array,
              *_: object, mode: int = SUM, include_last_offset: bool = False,
              padding_idx: int = NO_PADDING, **__: object) -> Array:
        bags = bags_of(xp, weight.shape[0], indices, offsets, include_last_offset,
                       padding_idx)
        sizes = bags.sizes if mode else [0] * len(bags.sizes)
        return xp.as_index(bags.bags if number == 1 else sizes)
    return found


def room(xp: Namespace | None, y: Array | None, x: Array, weight: Array,
         bias: Array | None, size: Shape, stride: Shape, padding: Shape,
         dilation: Shape, groups: int = 1) -> Shape:
    """Return the output padding of a transposed convolution, per spatial dimension."""
    steps = zip(size[2:], x.shape[2:], weight.shape[2:], stride, padding, dilation,
                strict=True)
    return tuple([whole - ((n - 1) * s - 2 * p + d * (k - 1) + 1)
                  for whole, n, k, s, p, d in steps])


SCALES = {"1d": ("scales",), "2d": ("scales_h", "scales_w"),
          "3d": ("scales_d", "scales_h", "scales_w")}
"""PyTorch's names of the factors of resampling, by the number of dimensions."""


def of_sizes(name: str) -> dict[str, Formula]:
    """Return formulas for the sizes and factors that a resampling row's node shows."""
    names = next(names for dims, names in SCALES.items() if dims in name)
    return {
        "output_size": lambda xp, y, x, output_size, scale_factors=None, **_:
            sizes_of(x.shape[2:], output_size, scale_factors),
        **{called: lambda xp, y, x, scale_factors=None, dim=dim, **_:
           None if scale_factors is None else scale_factors[dim]
           for dim, called in enumerate(names)}}


def pair(formula: Formula, *names: str) -> dict[str, Formula]:
    """Return, by name, a formula for each of the values that ``formula`` returns."""
    return {name: lambda *given, number=number, **params:
            formula(*given, **params)[number] for number, name in enumerate(names)}


TENSORS: Mapping[str, Mapping[str, Formula]] = {
    "batch_norm.default": pair(of_batches, "result1", "result2"),
    "det": pair(of_determinant, "LU", "pivots"),
    "embedding_bag.default": {f"result{number}": of_bags(number)
                              for number in (1, 2)} | {
                                  "result3": lambda xp, y, *_, **__: y[1]},
    "group_norm.default": pair(of_groups, "result1", "result2"),
    "layer_norm.default": pair(
        lambda xp, y, x, *_, normalized_shape, eps=1e-5:
        mean_and_scale(xp, x, last_dims(x, normalized_shape), eps),
        "result1", "result2"),
    "logsigmoid": {"buffer": lambda xp, y, x: xp.exp(-xp.abs(x))},
    "nll_loss.2d": {"total_weight": weight_of_classes},
    "nll_loss.default": {"total_weight": weight_of_classes},
    "rrelu_with_noise.default": {
        "noise": lambda xp, y, x, noise, **_: xp.expand(noise, x.shape)},
    "slogdet": pair(of_determinant, "LU", "pivots"),
    "solve": pair(lambda xp, y, a, *_, **__: xp.lu_factors(a), "LU", "pivots"),
    "weight_norm_interface.default": {
        "result1": lambda xp, y, v, length, dim=0: lengths(xp, v, dim)[0]},
}
"""Formulas of tensors that PyTorch's kernels save, by row and by PyTorch's name."""

NUMBERS: Mapping[str, Mapping[str, Formula]] = {
    "convolution.default": {"output_padding":
                            lambda xp, y, x, *_, **__: (0,) * (len(x.shape) - 2)},
    "convolution.transposed": {"output_padding": room},
    "group_norm.default": {
        "N": lambda xp, y, x, *_, **__: x.shape[0],
        "C": lambda xp, y, x, *_, **__: x.shape[1],
        "HxW": lambda xp, y, x, *_, **__: prod(x.shape[2:])},
    "linalg_svd.default": {"S_sym_argsize_minus_1":
                           lambda xp, y, x, *_, **__: min(x.shape[-2:])},
    **{name: of_sizes(name) for name in RESAMPLED},
}
"""Formulas of numbers that follow from shapes, by row and by PyTorch's name."""
