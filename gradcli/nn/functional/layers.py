"""Layers as functions: what `gradcli.nn`'s modules compute, and functions that draw.

Invariant: arguments are PyTorch's; only `batch_norm`, and `embedding` and
`embedding_bag` with ``max_norm``, change a tensor that they were given, and only
outside the graph. Out of training, or with p 0, dropout gives the input itself back.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, cast

import numpy as np

from ...engine.changes import change, change_by
from ...engine.dtypes import float16, float32
from ...engine.modes import RecordingOff
from ...engine.record import call
from ...engine.tensor import Tensor
from ...ops.loss import averaged
from ...ops.normalise import demand_channels
from ...torch.creation import empty_like
from ...torch.draws import uniform, uniform_like
from ...torch.queries import finfo
from .declare import Flag, reduction_of, run

ADDED_TO_ROW_NORM = 1e-7
"""The number that a row's length is raised by before it is divided by."""


def embedding(
    input: Tensor, weight: Tensor, padding_idx: int | None = None,
    max_norm: float | None = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Tensor:  # fmt: skip
    """Look up rows of ``weight`` by number; ``input`` has any shape.

    Args:
        padding_idx: a row that gets no gradient.
        max_norm: rows that are looked up and longer are first shortened, in place.
        norm_type: the p of the norm for ``max_norm``.
        scale_grad_by_freq: divide a row's gradient by how often it is looked up.
        sparse: has to be False: there are no sparse gradients.
    """
    _demand_numbers("embedding", sparse, input)
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    return run("embedding", input, weight, padding_idx, scale_grad_by_freq)


def embedding_bag(
    input: Tensor, weight: Tensor, offsets: Tensor | None = None,
    max_norm: float | None = None, norm_type: float = 2,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
    per_sample_weights: Tensor | None = None, include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:  # fmt: skip
    """Look up rows of ``weight`` by number and put them together bag by bag.

    Args:
        input: integers, (N, L): N bags of L each; or (L,): bags one behind the other.
        offsets: where each bag begins; None for the first form.
        mode: "sum", "mean" or "max" of a bag's rows.
        per_sample_weights: what each row counts in a sum, of the input's shape.
        include_last_offset: the last offset is the end of the last bag.
        padding_idx: a row that belongs to no bag and gets no gradient.

    The other arguments are those of `embedding`.

    Returns:
        A row for each bag; zeros where a bag is empty.
    """
    _demand_numbers("embedding_bag", sparse, input, offsets)
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    return run(
        "embedding_bag", input, weight, offsets, scale_grad_by_freq, mode,
        per_sample_weights, include_last_offset, padding_idx,
    )  # fmt: skip


def _demand_numbers(asked_by: str, sparse: bool, *given: Tensor | None) -> None:
    """Refuse sparse gradients, and tensors of no integers."""
    if sparse:
        raise NotImplementedError(
            "sparse gradients are not supported: use sparse=False"
        )
    for numbers in given:
        if numbers is not None and numbers.dtype.code not in ("i8", "i4"):
            raise RuntimeError(
                f"{asked_by} takes numbers of the types Long and Int, not "
                f"{numbers.dtype.legacy}"
            )


def _shorten(weight: Tensor, looked_up: Tensor, longest: float, p: float) -> None:
    rows = weight.detach()
    with RecordingOff():
        for at in sorted(set(looked_up.reshape(-1).tolist())):
            row = rows[at]
            length = float(run("norm", row, p))
            if length > longest:
                row.mul_(longest / (length + ADDED_TO_ROW_NORM))


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Make of each integer a row of zeros with a one; -1 classes: as many as needed."""
    if tensor.dtype.code != "i8":
        raise RuntimeError("one_hot is only applicable to index tensor of type Long")
    return run("one_hot", tensor, num_classes)


def batch_norm(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None,
    weight: Tensor | None = None, bias: Tensor | None = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Normalise to mean 0 and variance 1 per channel, then scale and shift.

    In training the batch's own statistics are used, and the running ones are moved
    towards them by ``momentum``, in place; otherwise the running ones are used.
    """
    if training and input.ndim > 1:
        _demand_several(input, prod(n for d, n in enumerate(input.shape) if d != 1))
    y = run(
        "batch_norm", input, running_mean, running_var, weight, bias, training,
        momentum, eps,
    )  # fmt: skip
    if training:
        _follow(running_mean, running_var, input, momentum)
    return y


def _demand_several(input: Tensor, values: int) -> None:
    """Raise ValueError where a batch has one value per channel."""
    if values == 1:
        raise ValueError(
            "Expected more than 1 value per channel when training, got input size "
            f"{input.size()}"
        )


def _follow(
    mean: Tensor | None, var: Tensor | None, batch: Tensor, momentum: float
) -> None:
    """Move running statistics towards a batch's mean and unbiased variance."""
    dims = tuple(d for d in range(batch.ndim) if d != 1)
    with RecordingOff():
        seen = batch.detach()
        if mean is not None:
            change_by(mean, _between, [seen.mean(dims)], (1 - momentum, momentum))
        if var is not None:
            change_by(var, _between, [seen.var(dims)], (1 - momentum, momentum))


def _between(old: Any, new: Any, part: float, other: float) -> Any:
    """Return the sum of two values, each times its part."""
    return old * part + other * new


def instance_norm(
    input: Tensor, running_mean: Tensor | None = None,
    running_var: Tensor | None = None, weight: Tensor | None = None,
    bias: Tensor | None = None, use_input_stats: bool = True, momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Normalise to mean 0 and variance 1 per item and channel, then scale and shift.

    Running statistics follow the mean of the items' own.
    """
    items, channels, *inner = input.shape
    if use_input_stats:
        _demand_several(input, prod(inner))
    elif running_mean is None or running_var is None:
        raise RuntimeError("without use_input_stats it needs the running statistics")
    own = (running_mean, running_var, weight, bias)
    mean, var, scale, shift = (None if t is None else t.repeat(items) for t in own)
    side_by_side = input.reshape(1, items * channels, *inner)
    demand_channels(
        side_by_side, running_mean=mean, running_var=var, weight=scale, bias=shift
    )
    used = (None, None) if use_input_stats else (mean, var)
    y = run(
        "batch_norm.default", side_by_side, scale, shift, *used, use_input_stats, eps
    )
    if use_input_stats:
        _follow(mean, var, side_by_side, momentum)
        with RecordingOff():
            for running, seen in ((running_mean, mean), (running_var, var)):
                if running is not None and seen is not None:
                    running.copy_(seen.view(items, channels).mean(0))
    return y.view(items, channels, *inner)


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:  # fmt: skip
    """Normalise to mean square 1 over the last dimensions; no ``eps``: the dtype's."""
    half = input.dtype is float16
    x = input.to(float32) if half else input
    least = finfo(x.dtype).eps if eps is None else eps
    dims = tuple(range(-len(normalized_shape), 0))
    if tuple(input.shape[dims[0] :]) != tuple(normalized_shape):
        raise RuntimeError(
            f"the input of size {list(input.shape)} does not end in normalized_shape "
            f"{list(normalized_shape)}"
        )
    y = x * (x.pow(2).mean(dims, True) + least).rsqrt()
    y = y if weight is None else y * weight
    return y.to(float16) if half else y


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """Compute the norm of ``x1 - x2 + eps`` along the last dimension."""
    return run("norm", x1 - x2 + eps, p, -1, keepdim)


def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0,
    p: float = 2, eps: float = 1e-6, swap: bool = False, size_average: Flag = None,
    reduce: Flag = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Compute ``max(0, margin + d(anchor, positive) - d(anchor, negative))``.

    Args:
        anchor, positive, negative: vectors along the last dimension.
        margin: by how much the negative has to be further away.
        p, eps: of the distance.
        swap: take the negative's distance from the positive where that is smaller.
    """
    how = reduction_of(size_average, reduce, reduction)
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError("the three tensors have to have as many dimensions")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = run("minimum", far, pairwise_distance(positive, negative, p, eps))
    return cast("Tensor", averaged(call, run("clamp_min", margin + near - far, 0), how))


def check_probability(p: float) -> None:
    """Raise ValueError for a number that is no probability."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Set entries to 0 with probability p and scale the others by ``1/(1 - p)``."""
    return _dropped(input, input.ndim, p, training, inplace)


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Set channels of (N, C, H, W) to 0 as a whole, and scale the others."""
    return _dropped(input, 2, p, training, inplace)


def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Set channels of (N, C, D, H, W) or (C, D, H, W) to 0 as a whole."""
    return _dropped(input, 2 if input.ndim == 5 else 1, p, training, inplace)


def _dropped(
    input: Tensor, lead: int, p: float, training: bool, inplace: bool
) -> Tensor:
    """Drop entries that differ in the first ``lead`` dimensions independently."""
    check_probability(p)
    if not training or not p:
        return input
    xp = input.xp
    if lead < input.ndim:
        shape = (*input.shape[:lead], *(1,) * (input.ndim - lead))
        drawn = uniform(shape, "float64", None)
    else:
        drawn = uniform_like(input, "float64", None)
    drawn = xp.array(drawn)
    kept = xp.as_type_of(xp.lt(drawn, 1 - p), input.raw)
    noise = Tensor(kept / (1 - p) if p < 1 else kept * 0, xp)
    return input.mul_(noise) if inplace else input * noise


def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3,
    training: bool = False, inplace: bool = False,
) -> Tensor:  # fmt: skip
    """Return ``input`` where it is positive, else times a slope (Xu et al. 2015).

    Args:
        lower, upper: between what slopes are drawn; their mean is the slope out of
            training.
        training: draw a slope for each entry.
        inplace: change the input.
    """
    if inplace:
        return rrelu_(input, lower, upper, training)
    slopes = None
    if training:
        # A slope is drawn where one is needed, in the order of the indices.
        drawn = np.ones(tuple(input.shape))
        low = (input <= 0).numpy()
        drawn[low] = lower + uniform((low.sum(),), "float64", None) * (upper - lower)
        slopes = Tensor(input.xp.array(drawn.astype(input.raw.dtype.name)), input.xp)
    return run("rrelu", input, lower, upper, training, slopes)


def rrelu_(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3,
    training: bool = False,
) -> Tensor:  # fmt: skip
    """Apply `rrelu` in place."""
    changed: Tensor = change(input, lambda old: rrelu(old, lower, upper, training))
    return changed


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10,
    dim: int = -1,
) -> Tensor:  # fmt: skip
    """Draw from categories, differentiably in their logits (Jang et al. 2017).

    Args:
        logits: logarithms of probabilities, not normalised.
        tau: the temperature; near 0 draws are nearly ones and zeros.
        hard: give ones and zeros, with the gradient of the soft draw.
        eps: taken for PyTorch's sake.
        dim: along which the categories lie.
    """
    with RecordingOff():
        noise = -empty_like(logits, memory_format="contiguous").exponential_().log()
    soft = run("softmax", (logits + noise) / tau, dim)
    if not hard:
        return soft
    best = soft.detach().argmax(dim, True)
    ones = soft.detach().mul(0).scatter_(dim, best, 1.0)
    return ones - soft.detach() + soft
