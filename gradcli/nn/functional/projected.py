"""The cross entropy of a linear layer's scores.

Invariant: value and graph are those of `linear` and then of `cross_entropy`.
"""

from __future__ import annotations

from math import prod

from ...engine.tensor import Tensor
from .table import cross_entropy, linear

USUAL_IGNORED = -100


def linear_cross_entropy(
    input: Tensor, linear_weight: Tensor, target: Tensor, *,
    linear_bias: Tensor | None = None, weight: Tensor | None = None,
    reduction: str = "mean", ignore_index: int | None = None,
    label_smoothing: float = 0.0, options: object = None,
) -> Tensor:  # fmt: skip
    """``cross_entropy(linear(input, linear_weight, linear_bias), target)``.

    Args:
        input: (N, features), or (features,) without a batch.
        linear_weight: (classes, ..., features).
        target: classes by number, or probabilities of the scores' shape.
        linear_bias: (classes, ...).
        weight: a weight for each class.
        ignore_index: targets that do not count; None: -100.
        label_smoothing: how much all classes count alike.
        options: has to be None: scores are computed at once, never in parts.
    """
    if options is not None:
        raise NotImplementedError(
            "linear_cross_entropy computes all scores at once: leave out options"
        )
    if input.ndim not in (1, 2):
        raise RuntimeError(
            f"expected input with dimensionality 1 or 2, got {input.ndim}"
        )
    if linear_weight.ndim < 2:
        raise RuntimeError(
            "expected linear_weight with dimensionality at least 2, got "
            f"{linear_weight.ndim}"
        )
    batch, features = tuple(input.shape[:-1]), input.shape[-1]
    if features != linear_weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{features} and {linear_weight.shape[-1]}, respectively"
        )
    outer = tuple(linear_weight.shape[:-1])
    if linear_bias is not None and tuple(linear_bias.shape) != outer:
        raise RuntimeError(
            f"expected linear_bias shape {outer}, got {tuple(linear_bias.shape)}"
        )
    if len(outer) > 1 and not batch:
        raise RuntimeError(
            "K-dimensional loss defined by linear_weight shape "
            f"{tuple(linear_weight.shape)} requires batched input, (N, {features}), "
            f"got unbatched input with shape {tuple(input.shape)}"
        )
    shape = (*batch, *outer)
    if tuple(target.shape) == shape and ignore_index is not None:
        raise RuntimeError(
            "ignore_index cannot be specified when target contains probabilities"
        )
    if len(outer) > 1:
        linear_weight = linear_weight.reshape(prod(outer), features)
        if linear_bias is not None:
            linear_bias = linear_bias.reshape(prod(outer))
    scores = linear(input, linear_weight, linear_bias).reshape(shape)
    ignored = USUAL_IGNORED if ignore_index is None else ignore_index
    loss: Tensor = cross_entropy(
        scores, target, weight=weight, ignore_index=ignored, reduction=reduction,
        label_smoothing=label_smoothing,
    )  # fmt: skip
    return loss
