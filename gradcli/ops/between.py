"""What PyTorch's nodes keep beside inputs, results and parameters, as formulas.

Invariant: nothing of this is kept here; whoever asks for it gets it computed from what
the node has saved. A formula is ``(xp, y, *inputs, **params)`` on plain arrays.

    TENSORS["layer_norm.default"]["result1"](xp, y, x, None, None, (4,))   # the mean
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from .classes import counted
from .normalise import last_dims, lengths, mean_over, other_dims
from .op import Formula
from .products import turned

# fmt: off


def mean_and_scale(xp: Any, x: Any, dims: tuple[int, ...], eps: float) -> list[Any]:
    """The mean over dimensions, which are kept, and what brings the variance to 1."""
    mean = mean_over(xp, x, dims)
    return [mean, xp.rsqrt(mean_over(xp, xp.square(x - mean), dims) + eps)]


def of_layers(xp: Any, y: Any, x: Any, weight: Any, bias: Any, normalized_shape: Any,
              eps: float = 1e-5) -> list[Any]:
    return mean_and_scale(xp, x, last_dims(x, normalized_shape), eps)


def of_batches(xp: Any, y: Any, x: Any, weight: Any, bias: Any, mean: Any, var: Any,
               training: bool = False, eps: float = 1e-5) -> list[Any]:
    """Of the batch in training; nothing where both were given."""
    if not training:
        return [xp.new_full(x, (0,), 0)] * 2
    found = mean_and_scale(xp, x, other_dims(x), eps)
    return [xp.reshape(each, (-1,)) for each in found]


def of_groups(xp: Any, y: Any, x: Any, weight: Any, bias: Any, num_groups: int,
              eps: float = 1e-5) -> list[Any]:
    items = xp.reshape(x, (x.shape[0], num_groups, -1))
    return [xp.squeeze(each, 2) for each in mean_and_scale(xp, items, (2,), eps)]


def weight_of_classes(xp: Any, y: Any, x: Any, target: Any, weight: Any = None,
                      reduction: str = "mean", ignore_index: int = -100) -> Any:
    """The sum of the weights of the targets that count; 0 without a reduction."""
    if reduction == "none":
        return xp.new_full(x, (), 0)
    _, weights, _ = counted(xp, x, target, weight, ignore_index)
    return xp.new_full(x, (), prod(target.shape)) if weights is None else (
        xp.sum(weights))


def eliminated(xp: Any, a: Any) -> list[Any]:
    """Gauss's elimination with row exchanges: both triangles in one matrix, and which
    row each was exchanged with, counted from 1."""
    n = a.shape[-1]
    places = xp.as_index(range(n))
    rows, columns = xp.unsqueeze(places, 1), xp.unsqueeze(places, 0)
    pivots = []
    for k in range(n):
        below = xp.where(places < k, -1, xp.abs(a[..., k]))
        at = xp.argmax(below, below.ndim - 1, True)
        pivots.append(xp.squeeze(at, -1) + 1)
        order = xp.where(places == k, at, xp.where(places == at, k, places))
        a = xp.gather(a, a.ndim - 2, xp.expand(xp.unsqueeze(order, -1), a.shape))
        pivot = a[..., k:k + 1, k:k + 1]
        factors = a[..., k:k + 1] / xp.where(pivot == 0, 1, pivot)
        a = xp.where(rows > k, xp.where(columns > k, a - factors * a[..., k:k + 1, :],
                                        xp.where(columns == k, factors, a)), a)
    return [a, xp.to_copy(xp.stack(pivots, -1), "int32", None)]


def of_determinant(xp: Any, y: Any, a: Any) -> list[Any]:
    """Of the transpose, where that is how LAPACK finds the matrix in memory."""
    return eliminated(xp, turned(xp, a) if a.flags.c_contiguous else a)


def of_system(xp: Any, y: Any, a: Any, b: Any, left: bool = True) -> list[Any]:
    return eliminated(xp, a)


def room(xp: Any, y: Any, x: Any, weight: Any, bias: Any, size: Any, stride: Any,
         padding: Any, dilation: Any, groups: int = 1) -> tuple[int, ...]:
    """How many entries a transposed convolution has beyond the windows' end."""
    steps = zip(size[2:], x.shape[2:], weight.shape[2:], stride, padding, dilation,
                strict=True)
    return tuple([whole - ((n - 1) * s - 2 * p + d * (k - 1) + 1)
                  for whole, n, k, s, p, d in steps])


def entry(formula: Formula, number: int) -> Formula:
    """One of the values that a formula gives."""
    return lambda *given, **params: formula(*given, **params)[number]


def pair(formula: Formula, *names: str) -> dict[str, Formula]:
    return {name: entry(formula, number) for number, name in enumerate(names)}


TENSORS: Mapping[str, Mapping[str, Formula]] = {
    "batch_norm.default": pair(of_batches, "result1", "result2"),
    "det": pair(of_determinant, "LU", "pivots"),
    "group_norm.default": pair(of_groups, "result1", "result2"),
    "layer_norm.default": pair(of_layers, "result1", "result2"),
    "logsigmoid": {"buffer": lambda xp, y, x: xp.exp(-xp.abs(x))},
    "nll_loss.2d": {"total_weight": weight_of_classes},
    "nll_loss.default": {"total_weight": weight_of_classes},
    "slogdet": pair(of_determinant, "LU", "pivots"),
    "solve": pair(of_system, "LU", "pivots"),
    "weight_norm_interface.default": {
        "result1": lambda xp, y, v, length, dim=0: lengths(xp, v, dim)[0]},
}
"""Of each row the tensors that PyTorch's kernels leave on the way, by its names."""

NUMBERS: Mapping[str, Mapping[str, Formula]] = {
    "convolution.default": {"output_padding":
                            lambda xp, y, x, *_, **__: (0,) * (len(x.shape) - 2)},
    "convolution.transposed": {"output_padding": room},
    "group_norm.default": {
        "N": lambda xp, y, x, *_, **__: x.shape[0],
        "C": lambda xp, y, x, *_, **__: x.shape[1],
        "HxW": lambda xp, y, x, *_, **__: prod(x.shape[2:])},
}
"""Of each row the numbers that follow from shapes, by PyTorch's names."""
