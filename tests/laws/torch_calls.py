"""A row of the table as a call of PyTorch, for those who record facts with it.

Invariant: the call takes what the row's ``fwd`` takes, tensors for its inputs and the
row's own parameters, and is PyTorch's operation of the row's name unless it stands
below. Only recorders and peers import this: CI has no PyTorch.

    counterpart("add.alpha")(a, b, alpha=2)         # aten.add.Tensor(a, b, alpha=2)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

Call = Callable[..., Any]

ATEN = torch.ops.aten

REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}

NAMES = {
    "add.alpha": "add.Tensor",
    "adaptive_avg_pool2d.default": "_adaptive_avg_pool2d",
    "adaptive_max_pool2d.indices": "adaptive_max_pool2d",
    "clamp.Scalar": "clamp",
    "clamp_max.Scalar": "clamp_max",
    "clamp_min.Scalar": "clamp_min",
    "diagonal.backward": "diagonal_backward",
    "index_fill.Scalar": "index_fill.int_Scalar",
    "index_fill.Tensor": "index_fill.int_Tensor",
    "log_softmax": "log_softmax.int",
    "logsigmoid": "log_sigmoid",
    "max_pool2d.indices": "max_pool2d_with_indices",
    "nll_loss.2d": "nll_loss2d",
    "prelu.kernel": "_prelu_kernel",
    "reshape.unsafe": "_unsafe_view",
    "rsub.alpha": "rsub.Tensor",
    "select": "select.int",
    "softmax": "softmax.int",
    "solve": "linalg_solve",
    "squeeze_.dim": "squeeze.dim",
    "sub.alpha": "sub.Tensor",
    "transpose": "transpose.int",
    "transpose_.inside": "transpose.int",
    "unbind": "unbind.int",
    "unsqueeze_.inside": "unsqueeze",
}
"""Rows whose operation has another name in PyTorch."""


def spread(name: str) -> Call:
    """One of the four spreads; with ``dim`` left out, over all dimensions."""
    function = getattr(torch, name)
    return lambda x, dim=None, correction=1, keepdim=False: function(
        x, dim=dim, correction=correction, keepdim=keepdim
    )


def truth(name: str) -> Call:
    function = getattr(torch, name)
    return lambda x, dim=None, keepdim=False: (
        function(x) if dim is None else function(x, dim, keepdim)
    )


def places(indices: Any) -> Any:
    """Lists and masks as tensors; None for a dimension that is read whole."""
    return [None if each is None else torch.tensor(each) for each in indices]


def entries(indices: Any) -> Any:
    """Lists and masks as tensors; a dimension that is read whole as a slice."""
    return tuple(
        slice(None) if each is None else torch.tensor(each) for each in indices
    )


CALLS: dict[str, Call] = {
    **{name: getattr(torch, name) for name in (
        "eq", "ge", "gt", "le", "lt", "mul", "ne", "roll", "where",
        "nan_to_num",
    )},
    **{f"{name}.correction": spread(name)
       for name in ("var", "std", "var_mean", "std_mean")},
    "add.Scalar": lambda x, number: ATEN.add.Scalar(x, number),
    "all": truth("all"),
    "any": truth("any"),
    "argsort": lambda x, dim=-1, descending=False: torch.argsort(
        x, stable=True, dim=dim, descending=descending),
    "bilinear.trilinear": lambda a, weight, b: F.bilinear(a, b, weight),
    "block_diag.default": torch.block_diag,
    "cat.default": lambda *tensors, dim=0: torch.cat(tensors, dim),
    "cholesky.ex": lambda a, upper=False: torch.linalg.cholesky(a, upper=upper),
    "clone": lambda x, memory_format=None: x.clone(),
    "batch_norm.default": lambda x, weight, bias, mean, var, training=False, eps=1e-5:
        F.batch_norm(x, mean, var, weight, bias, training, eps=eps),
    "convolution.default": lambda x, weight, bias, stride, padding, dilation, groups=1:
        ATEN.convolution(x, weight, bias, stride, padding, dilation, False,
                         [0] * len(stride), groups),
    "count_nonzero": lambda x, dim=None, keepdim=False: torch.count_nonzero(x, dim),
    "div.Scalar": lambda x, number: ATEN.div.Scalar(x, number),
    "einsum.default": lambda *operands, equation: torch.einsum(equation, *operands),
    "entr": torch.special.entr,
    "gather.default": lambda x, index, dim: torch.gather(x, dim, index),
    "group_norm.default": lambda x, weight, bias, num_groups, eps=1e-5:
        F.group_norm(x, num_groups, weight, bias, eps),
    "hardtanh": F.hardtanh,
    "index.Tensor": lambda x, indices: x[entries(indices)],
    "index_add.default": lambda x, index, source, dim, alpha=1:
        torch.index_add(x, dim, index, source, alpha=alpha),
    "index_copy.default": lambda x, index, source, dim:
        torch.index_copy(x, dim, index, source),
    "index_fill.Scalar": lambda x, index, dim, value:
        torch.index_fill(x, dim, index, value),
    "index_fill.Tensor": lambda x, index, value, dim:
        torch.index_fill(x, dim, index, value),
    "index_put.default": lambda x, values, indices, accumulate=False:
        ATEN.index_put(x, places(indices), values, accumulate),
    "index_select.default": lambda x, index, dim: torch.index_select(x, dim, index),
    "layer_norm.default": lambda x, weight, bias, normalized_shape, eps=1e-5:
        F.layer_norm(x, normalized_shape, weight, bias, eps),
    "mul.Scalar": lambda x, number: ATEN.mul.Scalar(x, number),
    "nansum": lambda x, dim=None, keepdim=False: torch.nansum(x, dim, keepdim),
    "ndtri": torch.special.ndtri,
    "polygamma.order": lambda x, n: torch.polygamma(n, x),
    "pow.Scalar": lambda x, base: ATEN.pow.Scalar(base, x),
    "round.decimals": lambda x, decimals: torch.round(x, decimals=decimals),
    "rsub.Scalar": lambda x, number: ATEN.rsub.Scalar(x, number),
    "rsub.Scalar_alpha": lambda x, number, alpha: ATEN.rsub.Scalar(x, number, alpha),
    "scatter.src": lambda x, index, src, dim: torch.scatter(x, dim, index, src),
    "scatter.value": lambda x, index, dim, value: torch.scatter(x, dim, index, value),
    "scatter_add.default": lambda x, index, src, dim:
        torch.scatter_add(x, dim, index, src),
    "sort.stable": lambda x, stable=True, dim=-1, descending=False:
        torch.sort(x, stable=stable, dim=dim, descending=descending),
    "squeeze.default": lambda x, dim=None: torch.squeeze(x),
    "stack.default": lambda *tensors, dim=0: torch.stack(tensors, dim),
    "xlog1py.Tensor": torch.special.xlog1py,
    "xlog1py.Scalar_Other": lambda x, other: torch.special.xlog1py(x, other),
    "xlog1py.Scalar_Self": lambda x, number: torch.special.xlog1py(number, x),
    "xlogy.Scalar_Self": lambda x, number: ATEN.xlogy.Scalar_Self(number, x),
}  # fmt: skip
"""Rows that take their arguments otherwise than PyTorch's operation."""


def counterpart(name: str) -> Call | None:
    """PyTorch's call for a row; None if it has no operation of that kind."""
    if name in CALLS:
        return CALLS[name]
    base, _, overload = NAMES.get(name, name).partition(".")
    operation = getattr(getattr(ATEN, base, None), overload or "default", None)
    return None if operation is None else _by_name(operation)


def _by_name(operation: Any) -> Call:
    known = [argument.name for argument in operation._schema.arguments]

    def run(*inputs: Any, **params: Any) -> Any:
        if isinstance(params.get("reduction"), str):
            params["reduction"] = REDUCTIONS[params["reduction"]]
        elif "reduction" in known:
            params["reduction"] = REDUCTIONS["mean"]
        unnamed = [value for key, value in params.items() if key not in known]
        named = {key: value for key, value in params.items() if key in known}
        return operation(*inputs, *unnamed, **named)

    return run
