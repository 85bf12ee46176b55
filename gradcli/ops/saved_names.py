"""PyTorch's names of what its nodes save, where they are not the common ones.

Invariant: a row that stands here names its inputs, in order, or its outputs; every
other row's are ``self`` and ``other``, and ``result``, or ``result0``, ``result1`` and
so on where there are several.

    inputs_of("addcmul.default")                 # ("self", "tensor1", "tensor2")
"""

from __future__ import annotations

INPUTS = {
    "addcdiv.default": "self tensor1 tensor2",
    "addcmul.default": "self tensor1 tensor2",
    "addmm": "self mat1 mat2",
    "addmv": "self mat vec",
    "addr": "self vec1 vec2",
    "atan2": "self other",
    "baddbmm": "self batch1 batch2",
    "batch_norm.default": "input weight bias running_mean running_var",
    "bilinear.trilinear": "i1 i2 i3",
    "binary_cross_entropy.default": "self target weight",
    "binary_cross_entropy_with_logits.default": "self target weight pos_weight",
    "bmm": "self mat2",
    "cdist.default": "x1 x2",
    "clamp.Tensor": "self min max",
    "clamp_max.Tensor": "self max",
    "clamp_min.Tensor": "self min",
    "convolution.default": "input weight bias",
    "convolution.transposed": "input weight bias",
    "det": "A",
    "dot": "self tensor",
    "embedding.default": "weight indices",
    "gather.default": "self index",
    "group_norm.default": "input weight bias",
    "huber_loss.default": "self target",
    "index_add.default": "self index source",
    "index_copy.default": "self index source",
    "index_put.default": "self values",
    "index_reduce.default": "self index source",
    "index_select.default": "self index",
    "inverse": "A",
    "layer_norm.default": "input weight bias",
    "lerp.Scalar": "self end",
    "lerp.Tensor": "self end weight",
    "masked_fill.Scalar": "self mask",
    "masked_fill.Tensor": "self mask value",
    "masked_scatter.default": "self mask source",
    "masked_select.default": "self mask",
    "mm": "self mat2",
    "mse_loss.default": "self target",
    "mv": "self vec",
    "nll_loss.2d": "self target weight",
    "nll_loss.default": "self target weight",
    "pow.Scalar": "exponent",
    "pow.Tensor_Tensor": "self exponent",
    "prelu.kernel": "self weight",
    "scatter.src": "self index src",
    "scatter.value": "self index",
    "scatter_add.default": "self index src",
    "scatter_reduce.two": "self index src",
    "slogdet": "A",
    "smooth_l1_loss.default": "self target",
    "solve": "A B",
    "take.default": "self index",
    "weight_norm_interface.default": "v g",
    "where": "condition self other",
}

OUTPUTS = {
    "aminmax": "min max",
    "cholesky.ex": "L",
    "cummax": "values indices",
    "cummin": "values indices",
    "inverse": "inverse",
    "kthvalue": "values indices",
    "max.dim": "values indices",
    "median.dim": "values indices",
    "min.dim": "values indices",
    "mode": "values indices",
    "nanmedian.dim": "values indices",
    "slogdet": "sign logabsdet",
    "sort.default": "values indices",
    "topk": "values indices",
}

PARAMETERS = {"number": "other", "base": "self"}

REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
"""PyTorch's numbers for how a loss is reduced."""


def inputs_of(name: str, count: int) -> tuple[str, ...]:
    """The names of a row's first ``count`` inputs."""
    return tuple(INPUTS.get(name, "self other").split()[:count])


def outputs_of(name: str, count: int) -> tuple[str, ...]:
    """The names of a row's outputs, of which there are ``count``."""
    if name in OUTPUTS:
        return tuple(OUTPUTS[name].split())
    return ("result",) if count == 1 else tuple(f"result{nr}" for nr in range(count))
