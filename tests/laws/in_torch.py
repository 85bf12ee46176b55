"""A row's case, computed by PyTorch: the stranger beside every forward formula.

Invariant: nothing here calls gradcli. A row named as PyTorch names an overload is that
overload (``sum.dim_IntList`` is ``torch.ops.aten.sum.dim_IntList``); else the public
function of the row's base name is called; what neither can be told stands in `WRITTEN`,
in PyTorch's own words.

    outputs(OPS["mul.Tensor"], arrays, params)      # a list of arrays

Rows that only gradcli has stand in `own.OWN`, each with its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from mpmath import psi
from torch.nn import functional as F

from gradcli.ops import FUNCTIONS, Composite, Op

from .draw import handed

aten = torch.ops.aten
linalg = torch.linalg


def places(indices: Any) -> list[Any]:
    """Indices of a row as PyTorch takes them: a tensor each, or None."""
    return [None if i is None else torch.as_tensor(np.asarray(i)) for i in indices]


def of_input_sizes(function: Any) -> Callable[..., Any]:
    """A backward function that takes the sizes of the input second."""
    return lambda g, input_sizes, **params: function(g, input_sizes, **params)


def accumulated(shape: Any, at: Any, values: Any) -> Any:
    """Zeros of a shape with values added at indices."""
    return torch.zeros(shape, dtype=values.dtype).index_put(at, values, True)


def pulled(function: Callable[..., Any], sizes: Any, g: Any) -> Any:
    """The vjp of a function of one input of the given sizes, by PyTorch's autograd."""
    x = torch.zeros(sizes, dtype=g.dtype, requires_grad=True)
    return torch.autograd.grad(function(x), x, g)[0]


def transposed(function: Callable[..., Any]) -> Callable[..., Any]:
    """The vjp of a function of one input, by the input's sizes."""
    return lambda g, input_sizes, **params: pulled(
        lambda x: function(x, **params), input_sizes, g
    )


def with_indices(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **params: function(*args, **params, return_indices=True)


def resampled(name: str) -> Callable[..., Any]:
    function = getattr(aten, name).vec

    def run(
        x: Any, output_size: Any, align_corners: bool = False, scale_factors: Any = None
    ) -> Any:
        aligns = () if "nearest" in name else (align_corners,)
        return function(x, output_size, *aligns, scale_factors)

    return run


BORDERS = [
    f"{name}_pad{rank}d" for name in ("reflection", "replication") for rank in (1, 2, 3)
]
RESAMPLED = [
    *(f"upsample_nearest{rank}d" for rank in (1, 2, 3)),
    *(f"_upsample_nearest_exact{rank}d" for rank in (1, 2, 3)),
    "upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d",
    "upsample_bicubic2d", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa",
]  # fmt: skip


def room(x: Any, weight: Any, size: Any, *steps: Any) -> list[int]:
    """The output padding with which a transposed convolution has the size."""
    found = zip(size[2:], x.shape[2:], weight.shape[2:], *steps, strict=True)
    return [
        whole - ((n - 1) * stride - 2 * pad + dilation * (kernel - 1) + 1)
        for whole, n, kernel, stride, pad, dilation in found
    ]


def in_many_digits(function: Callable[[float], Any], x: Any) -> Any:
    """mpmath in PyTorch's place, where PyTorch's own numbers have seven digits."""
    return torch.from_numpy(np.vectorize(lambda v: float(function(v)))(x.numpy()))


# fmt: off
WRITTEN: dict[str, Callable[..., Any]] = {
    "add.Scalar": lambda x, number: aten.add.Scalar(x, number),
    "rsub.Scalar": lambda x, number: number - x,
    "rsub.Scalar_alpha": lambda x, number, alpha: torch.rsub(x, number, alpha=alpha),
    "mul.Scalar": lambda x, number: aten.mul.Scalar(x, number),
    "div.Scalar": lambda x, number: aten.div.Scalar(x, number),
    "pow.Scalar": lambda x, base: torch.pow(base, x),
    "xlogy.Scalar_Self": lambda x, number: torch.xlogy(number, x),
    "xlog1py.Scalar_Self": lambda x, number: torch.special.xlog1py(number, x),
    "zeta.self_scalar": lambda x, number: torch.special.zeta(number, x),
    "polygamma.order": lambda x, n: in_many_digits(lambda v: psi(n, v), x),
    "prelu.kernel": lambda x, weight: aten._prelu_kernel(x, weight),
    "gather.default": lambda x, index, dim: torch.gather(
        x, dim, index % torch.atleast_1d(x).shape[dim]),
    "sort.stable": lambda x, dim=-1, descending=False: torch.sort(
        x, dim=dim, descending=descending, stable=True),
    "solve": lambda a, b, **params: linalg.solve(a, b, **params),
    "elu": lambda x, **params: aten.elu(x, **params),
    "unfold": lambda x, dimension, size, step: x.unfold(dimension, size, step),
    "fill_.Tensor": lambda x, value: x.clone().fill_(value),
    "where": lambda c, x, y: torch.where(torch.as_tensor(c), x, y),
    "view.default": lambda x, shape: x.view(shape),
    "as_strided.default": lambda x, size, stride, start: x.as_strided(
        size, stride, start),
    "clone": lambda x, memory_format=None: x.clone(
        memory_format=getattr(torch, f"{memory_format or 'preserve'}_format")),
    "squeeze.default": lambda x, dim: x.squeeze(),
    "bilinear.trilinear": lambda a, w, b: torch.einsum("ni,kij,nj->nk", a, w, b),
    "einsum.default": lambda xs, equation: torch.einsum(equation, *xs),
    **{name: lambda x, indices_or_sections, dim=None, name=name:
       getattr(torch, name)(x, indices_or_sections, *() if dim is None else (dim,))
       for name in ("tensor_split", "hsplit", "vsplit", "dsplit")},
    "split.unsafe": lambda x, split_size, dim=0: torch.unsafe_split(x, split_size, dim),
    "select.backward": of_input_sizes(aten.select_backward),
    "slice.backward": lambda g, input_sizes, dim, start, end, step: pulled(
        lambda x: aten.slice(x, dim, start, end, step), input_sizes, g),
    "index.Tensor": lambda x, indices: aten.index(x, places(indices)),
    "index.backward": lambda g, input_sizes, indices: accumulated(
        input_sizes, places(indices), g),
    "gather.backward": lambda g, index, input_sizes, dim: torch.zeros(
        input_sizes, dtype=g.dtype).scatter_add(dim, index, g),
    "scatter.src": lambda x, index, src, dim: torch.scatter(x, dim, index, src),
    "scatter.value": lambda x, index, dim, value: torch.scatter(x, dim, index, value),
    "scatter_add.default": lambda x, index, src, dim: torch.scatter_add(
        x, dim, index, src),
    "bincount.weights": lambda index, weights, minlength=0: torch.bincount(
        index, weights, minlength).to(
            weights.dtype if weights.is_floating_point() else torch.float32),
    "index_select.default": lambda x, index, dim: torch.index_select(x, dim, index),
    "index_select.backward": lambda g, index, input_sizes, dim: torch.zeros(
        input_sizes, dtype=g.dtype).index_add(dim, index, g),
    "index_add.default": lambda x, index, source, dim, alpha=1: torch.index_add(
        x, dim, index, source, alpha=alpha),
    "index_copy.default": lambda x, index, source, dim: torch.index_copy(
        x, dim, index, source),
    "index_fill.Scalar": lambda x, index, dim, value: torch.index_fill(
        x, dim, index, value),
    "index_put.default": lambda x, values, indices, accumulate=False: aten.index_put(
        x, places(indices), values, accumulate),
    "take.backward": lambda g, index, input_sizes: torch.zeros(
        input_sizes, dtype=g.dtype).put(index, g, accumulate=True),
    "masked_select.backward": lambda g, mask, input_sizes: pulled(
        lambda x: torch.masked_select(x, mask), input_sizes, g),
    "diagonal.backward": of_input_sizes(aten.diagonal_backward),
    "unfold.backward": lambda g, input_sizes, dimension, size, step:
        aten.unfold_backward(g, input_sizes, dimension, size, step),
    "embedding_bag.default": lambda weight, indices, offsets, samples=None, mode=0,
        include_last_offset=False, padding_idx=-1: torch.embedding_bag(
            weight, indices, offsets, False, mode, False, samples, include_last_offset,
            None if padding_idx < 0 else padding_idx)[::3],
    "embedding.backward": lambda g, indices, count, padding_idx=-1:
        aten.embedding_dense_backward(g, indices, count, padding_idx, False),
    "binary_cross_entropy_with_logits.default":
        lambda x, target, weight=None, pos_weight=None, reduction="mean":
        F.binary_cross_entropy_with_logits(
            x, target, weight, None, None, reduction, pos_weight),
    "weight_norm_interface.default": lambda v, length, dim=0:
        torch._weight_norm(v, length, dim),
    "layer_norm.default": lambda x, weight, bias, normalized_shape, eps=1e-5:
        F.layer_norm(x, normalized_shape, weight, bias, eps),
    "batch_norm.default": lambda x, weight, bias, mean, var, training=False, eps=1e-5:
        F.batch_norm(x, mean, var, weight, bias, training, 0.1, eps),
    "group_norm.default": lambda x, weight, bias, num_groups, eps=1e-5: F.group_norm(
        x, num_groups, weight, bias, eps),
    "convolution.default":
        lambda x, weight, bias, stride, padding, dilation, groups=1:
        aten.convolution(
            x, weight, bias, stride, padding, dilation, False, [0], groups),
    "convolution.transposed":
        lambda x, weight, bias, size, stride, padding, dilation, groups=1:
        aten.convolution(
            x, weight, bias, stride, padding, dilation, True,
            room(x, weight, size, stride, padding, dilation), groups),
    "convolution.weight":
        lambda g, x, size, stride, padding, dilation, groups=1:
        pulled(lambda w: aten.convolution(
            x, w, None, stride, padding, dilation, False, [0], groups), size, g),
    "lu_unpack.permutation": lambda pivots, m: torch.lu_unpack(
        torch.zeros(*pivots.shape[:-1], m, pivots.shape[-1]), pivots.int())[0].bool(),
    "lu_unpack.default": lambda data, pivots, **params: torch.lu_unpack(
        data, pivots.int(), **params),
    "lu_unpack": lambda data, pivots: torch.lu_unpack(data, pivots.int()),
    "linalg_lu_solve.default": lambda lu, pivots, b, **params: linalg.lu_solve(
        lu, pivots.int(), b, **params),
    "linalg.lu_solve": lambda lu, pivots, b: linalg.lu_solve(lu, pivots.int(), b),
    "lu_solve": lambda b, lu, pivots: linalg.lu_solve(lu, pivots.int(), b),
    "linalg_pinv.atol_rtol_tensor": lambda a, atol, rtol, hermitian=False: linalg.pinv(
        a, atol=atol, rtol=rtol, hermitian=hermitian),
    "linalg_matrix_rank.default": lambda a, atol, rtol: linalg.matrix_rank(
        a, atol=atol, rtol=rtol),
    "linalg_lstsq.default": lambda a, b: linalg.lstsq(a, b),
    "max_pool2d.indices": with_indices(F.max_pool2d),
    "max_pool3d.indices": with_indices(F.max_pool3d),
    "adaptive_max_pool2d.indices": with_indices(F.adaptive_max_pool2d),
    "adaptive_max_pool3d.indices": with_indices(F.adaptive_max_pool3d),
    "im2col": F.unfold,
    "rrelu_with_noise.default": lambda x, noise, lower, upper, training:
        torch.where(x > 0, x, x * noise) if training
        else aten.rrelu_with_noise(x, torch.zeros_like(x), lower, upper, False),
    "col2im": F.fold,
    **{f"{name}.backward": transposed(getattr(F, name)) for name in (
        "avg_pool2d", "avg_pool3d", "adaptive_avg_pool2d", "adaptive_avg_pool3d")},
    **{f"{name}.backward": transposed(getattr(aten, name)) for name in BORDERS},
    **{f"{name}.vec": resampled(name) for name in RESAMPLED},
    **{f"{name}.backward": transposed(resampled(name)) for name in RESAMPLED},
    "repeat_interleave": lambda x, repeats, dim=None: torch.repeat_interleave(
        x, repeats if isinstance(repeats, int) else torch.as_tensor(repeats), dim),
    "numpy_T": lambda x: x.T,
    "matrix_H": lambda x: x.H,
    "mT": lambda x: x.mT,
    "mH": lambda x: x.mH,
    "zero_.default": lambda x, value: torch.zeros_like(x),
    "to_copy.default": lambda x, **params: x.clone(),
    "sec": lambda x: 1 / torch.cos(x),
    "csc": lambda x: 1 / torch.sin(x),
    "cot": lambda x: 1 / torch.tan(x),
    "sech": lambda x: 1 / torch.cosh(x),
    "csch": lambda x: 1 / torch.sinh(x),
    "coth": lambda x: 1 / torch.tanh(x),
    "asec": lambda x: torch.acos(1 / x),
    "acsc": lambda x: torch.asin(1 / x),
    "acot": lambda x: torch.atan(1 / x),
    "asech": lambda x: torch.acosh(1 / x),
    "acsch": lambda x: torch.asinh(1 / x),
    "acoth": lambda x: torch.atanh(1 / x),
    "log_to_base": lambda x, base: torch.log(x) / torch.log(
        torch.as_tensor(base, dtype=x.dtype)),
    "root": lambda x, n: (
        torch.sign(x) * torch.abs(x) ** (1 / n)
        if isinstance(n, int) and n % 2 else x ** (1 / n)),
}
"""Rows that PyTorch spells in other words or in another order."""
# fmt: on


ROOMS = (torch, F, torch.special, linalg, torch.Tensor, aten)


@cache
def function_of(entry: Op | Composite) -> Callable[..., Any]:
    """PyTorch's function for a row or a composite.

    Raises:
        LookupError: PyTorch has none, and nothing is written out.
    """
    if entry.name in WRITTEN:
        return WRITTEN[entry.name]
    base, _, overload = entry.name.partition(".")
    packet = getattr(aten, base, None)
    if packet is not None and overload in packet.overloads() and overload != "default":
        return getattr(packet, overload)  # type: ignore[no-any-return]
    for room in ROOMS if isinstance(entry, Op) else (F, *ROOMS):
        found = room
        for word in entry.name.split(".") if entry.name in FUNCTIONS else (base,):
            found = getattr(found, word, None)
        if found is not None:
            return found  # type: ignore[no-any-return]
    raise LookupError(entry.name)


def argument(value: Any) -> Any:
    return torch.from_numpy(np.array(value)) if hasattr(value, "dtype") else value


def outputs(
    entry: Op | Composite, arrays: Sequence[Any], params: dict[str, Any]
) -> list[Any]:
    """The outputs of a row on arrays, as tensors of PyTorch."""
    return applied(entry, [argument(array) for array in arrays], params)


def applied(
    entry: Op | Composite, inputs: Sequence[Any], params: dict[str, Any]
) -> list[Any]:
    """The outputs of a row on tensors of PyTorch and what else it takes."""
    function = function_of(entry)
    together = isinstance(entry, Op) and entry.variadic
    listed = [params[entry.star]] if entry.star else []
    named = {name: value for name, value in params.items() if name != entry.star}
    given = [inputs] if together else handed(entry, inputs)
    y = function(*given, *listed, **named)
    return list(y) if isinstance(y, tuple | list) else [y]
