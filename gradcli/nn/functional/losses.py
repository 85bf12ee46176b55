"""Losses as functions, with PyTorch's parameters.

Invariant: the value and the graph are the table's; what is added here is the checks of
sizes and the two older words for a reduction.

    mse_loss(x, target, reduction="sum")
"""

from __future__ import annotations

import warnings

from ...engine.tensor import Tensor
from .run import run

Flag = bool | None


def reduction_of(size_average: Flag, reduce: Flag, reduction: str) -> str:
    """The reduction that the two older flags mean, where one of them is given."""
    if size_average is None and reduce is None:
        return reduction
    whole = "sum" if size_average is False else "mean"
    meant = "none" if reduce is False else whole
    warnings.warn(
        "size_average and reduce args will be deprecated, please use "
        f"reduction='{meant}' instead.",
        stacklevel=3,
    )
    return meant


def _same_size(input: Tensor, target: Tensor, stacklevel: int = 3) -> None:
    if input.shape != target.shape:
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input "
            f"size ({input.size()}). This will likely lead to incorrect results due to "
            "broadcasting. Please ensure they have the same size.",
            stacklevel=stacklevel,
        )


def _check_classes(input: Tensor, target: Tensor) -> None:
    """Classes are whole numbers, one for each item of the batch."""
    if input.ndim > 1 and target.ndim and input.raw.shape[0] != target.raw.shape[0]:
        raise ValueError(
            f"Expected input batch_size ({input.shape[0]}) to match target batch_size "
            f"({target.shape[0]})."
        )
    if target.dtype.code not in ("i8", "u1"):
        raise RuntimeError(
            f"expected target dtype to be Long or Byte, but got {target.dtype.legacy}"
        )


def mse_loss(
    input: Tensor, target: Tensor, size_average: Flag = None, reduce: Flag = None,
    reduction: str = "mean", weight: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Mean squared error."""
    _same_size(input, target)
    how = reduction_of(size_average, reduce, reduction)
    return run("mse_loss", input, target, how, weight)


def l1_loss(
    input: Tensor, target: Tensor, size_average: Flag = None, reduce: Flag = None,
    reduction: str = "mean", weight: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Mean absolute error."""
    _same_size(input, target)
    how = reduction_of(size_average, reduce, reduction)
    if weight is not None:
        return _weighted(run("l1_loss", input, target, "none"), weight, how)
    return run("l1_loss", input, target, how)


def _weighted(losses: Tensor, weight: Tensor, reduction: str) -> Tensor:
    if weight.shape != losses.shape:
        raise ValueError("Inputs and weight must have the same size.")
    products: Tensor = run("mul", losses, weight)
    if reduction == "none":
        return products
    total: Tensor = run("sum", products)
    return run("div", total, run("sum", weight)) if reduction == "mean" else total


def smooth_l1_loss(
    input: Tensor, target: Tensor, size_average: Flag = None, reduce: Flag = None,
    reduction: str = "mean", beta: float = 1.0,
) -> Tensor:  # fmt: skip
    """Squared error near the target, absolute error further than ``beta`` from it."""
    _same_size(input, target)
    how = reduction_of(size_average, reduce, reduction)
    return run("smooth_l1_loss", input, target, how, beta)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Half the squared error near the target, absolute error away from it."""
    _same_size(input, target)
    if weight is not None:
        losses: Tensor = run("huber_loss", input, target, "none", delta)
        return _weighted(losses, weight, reduction)
    return run("huber_loss", input, target, reduction, delta)


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None,
    size_average: Flag = None, reduce: Flag = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Cross entropy of probabilities and their targets."""
    if target.shape != input.shape:
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input "
            f"size ({input.size()}) is deprecated. Please ensure they have the same "
            "size."
        )
    how = reduction_of(size_average, reduce, reduction)
    return run("binary_cross_entropy", input, target, weight, how)


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None,
    size_average: Flag = None, reduce: Flag = None, reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Cross entropy of logits and their targets, without overflow."""
    if target.shape != input.shape:
        raise ValueError(
            f"Target size ({target.size()}) must be the same as input size "
            f"({input.size()})"
        )
    how = reduction_of(size_average, reduce, reduction)
    return run(
        "binary_cross_entropy_with_logits", input, target, weight, how, pos_weight
    )


def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None,
    size_average: Flag = None, ignore_index: int = -100, reduce: Flag = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Negative log likelihood of the target classes."""
    _check_classes(input, target)
    how = reduction_of(size_average, reduce, reduction)
    return run("nll_loss", input, target, weight, ignore_index, how)


def cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None,
    size_average: Flag = None, ignore_index: int = -100, reduce: Flag = None,
    reduction: str = "mean", label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """Cross entropy of scores and classes, or of scores and probabilities."""
    if target.shape != input.shape:
        _check_classes(input, target)
    elif not target.is_floating_point():
        raise RuntimeError(
            "Expected floating point type for target with class probabilities, got "
            f"{target.dtype.legacy}"
        )
    how = reduction_of(size_average, reduce, reduction)
    return run(
        "cross_entropy", input, target, weight, ignore_index, how, label_smoothing
    )


def kl_div(
    input: Tensor, target: Tensor, size_average: Flag = None, reduce: Flag = None,
    reduction: str = "mean", log_target: bool = False,
) -> Tensor:  # fmt: skip
    """Kullback-Leibler divergence of log probabilities from a target.

    The divergence of whole distributions is reduction "batchmean"; "mean" divides by
    the number of entries, and warns of it.
    """
    how = reduction_of(size_average, reduce, reduction)
    if how == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the "
            "support size.'batchmean' divides only by the batch size, and aligns with "
            "the KL div math definition.'mean' will be changed to behave the same as "
            "'batchmean' in the next major release.",
            stacklevel=2,
        )
    return run("kl_div", input, target, how, log_target)


def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool = True, full: bool = False,
    size_average: Flag = None, eps: float = 1e-8, reduce: Flag = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Negative log likelihood of counts."""
    how = reduction_of(size_average, reduce, reduction)
    return run("poisson_nll_loss", input, target, log_input, full, eps, how)


def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Tensor | float, full: bool = False,
    eps: float = 1e-6, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Negative log likelihood of normal observations."""
    return run("gaussian_nll_loss", input, target, var, full, eps, reduction)


def soft_margin_loss(
    input: Tensor, target: Tensor, size_average: Flag = None, reduce: Flag = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Logistic loss for targets 1 and -1."""
    how = reduction_of(size_average, reduce, reduction)
    return run("soft_margin_loss", input, target, how)


def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, size_average: Flag = None,
    reduce: Flag = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Loss of distances that are to be small (1) or large (-1)."""
    how = reduction_of(size_average, reduce, reduction)
    return run("hinge_embedding_loss", input, target, margin, how)


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
    size_average: Flag = None, reduce: Flag = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Loss of pairs that stand in the wrong order."""
    how = reduction_of(size_average, reduce, reduction)
    return run("margin_ranking_loss", input1, input2, target, margin, how)
