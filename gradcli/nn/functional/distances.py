"""Losses of distances between vectors.

Invariant: the graph is the one that PyTorch's own decomposition leaves.

    triplet_margin_loss(anchor, like, unlike)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from ...engine.record import call
from ...engine.tensor import Tensor
from ...ops.classes import averaged
from .declare import Flag, reduction_of
from .layers import pairwise_distance
from .shared import run

ADDED_TO_SQUARED_NORM = 1e-12
"""What squared lengths are raised by before their root is divided by."""


def _hinged(near: Tensor, far: Tensor, margin: float, reduction: str) -> Tensor:
    """Reduce ``max(0, margin + near - far)``.

    Raises:
        ValueError: a margin that is not positive, or no such reduction.
    """
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return _reduced(run("clamp_min", margin + near - far, 0), reduction)


def _reduced(losses: Tensor, reduction: str) -> Tensor:
    return cast(Tensor, averaged(call, losses, reduction))


def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0,
    p: float = 2, eps: float = 1e-6, swap: bool = False, size_average: Flag = None,
    reduce: Flag = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """``max(0, margin + d(anchor, positive) - d(anchor, negative))``.

    Args:
        anchor, positive, negative: vectors along the last dimension.
        margin: by how much the negative has to be further away.
        p, eps: of the distance.
        swap: take the negative's distance from the positive where that is smaller.
    """
    how = reduction_of(size_average, reduce, reduction)
    ranks = anchor.ndim, positive.ndim, negative.ndim
    if len(set(ranks)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same "
            "number of dimensions, but got: anchor {}D, positive {}D, and negative {}D "
            "inputs".format(*ranks)
        )
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = run("minimum", far, pairwise_distance(positive, negative, p, eps))
    return _hinged(near, far, margin, how)


def triplet_margin_with_distance_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0, swap: bool = False, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """`triplet_margin_loss` by any distance."""
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = run("minimum", far, distance(positive, negative))
    return _hinged(near, far, margin, reduction)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
    size_average: Flag = None, reduce: Flag = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1."""
    how = reduction_of(size_average, reduce, reduction)
    if target.ndim > 1:
        raise RuntimeError(
            "0D or 1D target tensor expected, multi-target not supported"
        )
    if {input1.ndim, input2.ndim} != {target.ndim + 1}:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, "
            f"but found inputs with sizes {list(input1.shape)} and "
            f"{list(input2.shape)}."
        )
    product = (input1 * input2).sum(-1)
    squares = [(x * x).sum(-1) + ADDED_TO_SQUARED_NORM for x in (input1, input2)]
    lengths = squares[0] * squares[1]
    cosine = product / lengths.sqrt()
    nothing: Tensor = call("zeros_like", cosine)
    alike = run("where", target == 1, 1 - cosine, nothing)
    unlike = run("where", target == -1, run("clamp_min", cosine - margin, 0), nothing)
    return _reduced(alike + unlike, how)


def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None,
    size_average: Flag = None, reduce: Flag = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Mean over the classes of the cross entropy of logits and 0 or 1."""
    how = reduction_of(size_average, reduce, reduction)
    hits = target * run("logsigmoid", input)
    losses = -(hits + (1 - target) * run("logsigmoid", -input))
    if weight is not None:
        losses = losses * weight
    classes = input.shape[-1]
    return _reduced(losses.sum(input.ndim - 1) / classes, how)
