"""Layers as functions: what `gradcli.nn`'s modules compute with their parameters.

Invariant: arguments are PyTorch's; only `batch_norm` and `embedding` with ``max_norm``
change a tensor that they were given, and only outside the graph.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...engine.draws import rand
from ...engine.modes import no_grad
from ...engine.tensor import Tensor
from .run import run

TINY = 1e-7
"""What a row's length is raised by before it is divided by."""


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``."""
    return run("linear", input, weight, bias)


def bilinear(
    input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None
) -> Tensor:
    """``input1 @ weight[k] @ input2 + bias[k]`` for each output k."""
    return run("bilinear", input1, input2, weight, bias)


def dropout(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Entries set to 0 with probability p and the others scaled by ``1/(1 - p)``."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or not p:
        return input
    drawn = rand(input.shape, dtype=input.dtype, device=input.device)
    xp = input.xp
    kept = xp.as_type_of(xp.ge(drawn.raw, p), input.raw)
    noise = Tensor(kept / (1 - p) if p < 1 else kept * 0, xp)
    return input.mul_(noise) if inplace else input * noise


def embedding(
    input: Tensor, weight: Tensor, padding_idx: int | None = None,
    max_norm: float | None = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Tensor:  # fmt: skip
    """Rows of ``weight`` by number.

    Args:
        input: whole numbers, of any shape.
        weight: one row per number.
        padding_idx: a row that gets no gradient.
        max_norm: rows that are looked up and longer are first shortened, in place.
        norm_type: the p of the norm for ``max_norm``.
        scale_grad_by_freq: divide a row's gradient by how often it is looked up.
        sparse: has to be False: there are no sparse gradients.
    """
    if sparse:
        raise NotImplementedError(
            "sparse gradients are not supported: use sparse=False"
        )
    if input.dtype.code not in ("i8", "i4"):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following "
            f"scalar types: Long, Int; but got torch.{input.dtype.legacy}Tensor "
            "instead (while checking arguments for embedding)"
        )
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    return run("embedding", input, weight, padding_idx, scale_grad_by_freq)


def _shorten(weight: Tensor, looked_up: Tensor, longest: float, p: float) -> None:
    with no_grad():
        for at in sorted(set(looked_up.reshape(-1).tolist())):
            row = weight[at]
            length = float(run("norm", row, p))
            if length > longest:
                row.mul_(longest / (length + TINY))


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Each whole number as a row of zeros with a one; -1 classes: as many as needed."""
    if tensor.dtype.code != "i8":
        raise RuntimeError(
            "one_hot is only applicable to index tensor of type LongTensor."
        )
    return run("one_hot", tensor, num_classes)


def layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None,
    bias: Tensor | None = None, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Mean 0 and variance 1 over the last dimensions, then scaled and shifted."""
    return run("layer_norm", input, tuple(normalized_shape), weight, bias, eps)


def batch_norm(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None,
    weight: Tensor | None = None, bias: Tensor | None = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Mean 0 and variance 1 per channel, then scaled and shifted.

    In training the batch's own statistics are used, and the running ones are moved
    towards them by ``momentum``, in place; otherwise the running ones are used.
    """
    if training and input.ndim > 1 and input.numel() == input.shape[1]:
        raise ValueError(
            "Expected more than 1 value per channel when training, got input size "
            f"{input.size()}"
        )
    y = run(
        "batch_norm", input, running_mean, running_var, weight, bias, training,
        momentum, eps,
    )  # fmt: skip
    if training:
        _follow(running_mean, running_var, input, momentum)
    return y


def _follow(
    mean: Tensor | None, var: Tensor | None, batch: Tensor, momentum: float
) -> None:
    """Move running statistics towards a batch's mean and unbiased variance."""
    dims = tuple(d for d in range(batch.ndim) if d != 1)
    with no_grad():
        seen = batch.detach()
        if mean is not None:
            mean.mul_(1 - momentum).add_(seen.mean(dims), alpha=momentum)
        if var is not None:
            var.mul_(1 - momentum).add_(seen.var(dims), alpha=momentum)


def normalize(
    input: Tensor, p: float = 2.0, dim: int | tuple[int, ...] = 1, eps: float = 1e-12
) -> Tensor:
    """Vectors along a dimension, scaled to length 1."""
    return run("normalize", input, p, dim, eps)


def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant",
    value: float | None = None,
) -> Tensor:  # fmt: skip
    """The input with a border; the last dimension's two widths come first."""
    return run("pad", input, pad, mode, value)


def cosine_similarity(
    x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8
) -> Tensor:
    """Cosine of the angle between vectors along a dimension."""
    return run("cosine_similarity", x1, x2, dim, eps)
