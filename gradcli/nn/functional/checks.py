"""What a loss demands of its operands before the table computes it.

Invariant: each check takes the two operands and the reduction, and raises or warns in
PyTorch's words.
"""

from __future__ import annotations

import warnings

from ...engine.tensor import Tensor


def same_size(input: Tensor, target: Tensor, reduction: str) -> None:
    if input.shape != target.shape:
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input "
            f"size ({input.size()}). This will likely lead to incorrect results due to "
            "broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )


def one_target_each(input: Tensor, target: Tensor, reduction: str) -> None:
    if target.shape != input.shape:
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input "
            f"size ({input.size()}) is deprecated. Please ensure they have the same "
            "size."
        )


def one_target_a_logit(input: Tensor, target: Tensor, reduction: str) -> None:
    if target.shape != input.shape:
        raise ValueError(
            f"Target size ({target.size()}) must be the same as input size "
            f"({input.size()})"
        )


def class_numbers(input: Tensor, target: Tensor, reduction: str) -> None:
    """Classes are integers, one for each item of the batch."""
    if input.ndim > 1 and target.ndim and input.raw.shape[0] != target.raw.shape[0]:
        raise ValueError(
            f"Expected input batch_size ({input.shape[0]}) to match target batch_size "
            f"({target.shape[0]})."
        )
    if target.dtype.code not in ("i8", "u1"):
        raise RuntimeError(
            f"expected target dtype to be Long or Byte, but got {target.dtype.legacy}"
        )


def classes_or_probabilities(input: Tensor, target: Tensor, reduction: str) -> None:
    if target.shape != input.shape:
        class_numbers(input, target, reduction)
    elif not target.is_floating_point():
        raise RuntimeError(
            "Expected floating point type for target with class probabilities, got "
            f"{target.dtype.legacy}"
        )


def meaning_of_mean(input: Tensor, target: Tensor, reduction: str) -> None:
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the "
            "support size.'batchmean' divides only by the batch size, and aligns with "
            "the KL div math definition.'mean' will be changed to behave the same as "
            "'batchmean' in the next major release.",
            stacklevel=3,
        )
