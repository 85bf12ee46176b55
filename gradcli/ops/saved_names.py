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
    "embedding.backward": "self indices",
    "embedding.default": "weight indices",
    "gather.backward": "self index",
    "gather.default": "self index",
    "grid_sampler_2d": "input grid",
    "grid_sampler_3d": "input grid",
    "group_norm.default": "input weight bias",
    "huber_loss.default": "self target",
    "index_add.default": "self index source",
    "index_copy.default": "self index source",
    "index_fill.Scalar": "self index",
    "index_fill.Tensor": "self index value",
    "index_put.default": "self values",
    "index_reduce.default": "self index source",
    "index_select.backward": "self index",
    "index_select.default": "self index",
    "inverse": "A",
    "layer_norm.default": "input weight bias",
    "lerp.Scalar": "self end",
    "lerp.Tensor": "self end weight",
    "masked_fill.Scalar": "self mask",
    "masked_fill.Tensor": "self mask value",
    "masked_scatter.default": "self mask source",
    "masked_select.default": "self mask",
    "max_unpool2d.default": "self indices",
    "max_unpool3d.default": "self indices",
    "mm": "self mat2",
    "mse_loss.default": "self target",
    "multi_margin_loss.default": "self target weight",
    "multilabel_margin_loss.default": "self target",
    "mv": "self vec",
    "nll_loss.2d": "self target weight",
    "nll_loss.default": "self target weight",
    "pow.Scalar": "exponent",
    "pow.Tensor_Tensor": "self exponent",
    "prelu.kernel": "self weight",
    "rrelu_with_noise.default": "self noise",
    "scatter.src": "self index src",
    "scatter.value": "self index",
    "scatter_add.default": "self index src",
    "scatter_reduce.two": "self index src",
    "slogdet": "A",
    "smooth_l1_loss.default": "self target",
    "soft_margin_loss": "self target",
    "solve": "A B",
    "take.backward": "self index",
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
    "sort.stable": "values indices",
    "topk": "values indices",
}

RESAMPLED = (
    *[f"upsample_nearest{rank}d.vec" for rank in (1, 2, 3)],
    *[f"_upsample_nearest_exact{rank}d.vec" for rank in (1, 2, 3)],
    "upsample_linear1d.vec", "upsample_bilinear2d.vec", "upsample_trilinear3d.vec",
    "upsample_bicubic2d.vec", "_upsample_bilinear2d_aa.vec",
    "_upsample_bicubic2d_aa.vec", "_upsample_lanczos2d_aa.vec",
)  # fmt: skip
"""Rows of `resampling`, whose nodes have a factor for each dimension."""

NOT_SHOWN = {
    "adaptive_avg_pool2d.default": "output_size",
    "adaptive_avg_pool3d.default": "output_size",
    "adaptive_max_pool2d.indices": "output_size result0",
    "adaptive_max_pool3d.indices": "output_size result0",
    "add.Scalar": "other",
    "as_strided.default": "geometry",
    "clamp_max.Scalar": "min",
    "clamp_min.Scalar": "max",
    "clone": "memory_format",
    "col2im.default": "output_size",
    "constant_pad_nd": "value",
    "convolution.transposed": "size",
    "copysign.Scalar": "other",
    "deg2rad": "self",
    "diagonal.backward": "input_sizes",
    "embedding.backward": "count",
    "erfinv": "result",
    "exp2": "self",
    "expand": "size",
    "expm1": "self",
    "fmod.Scalar": "other",
    "fractional_max_pool2d.indices": "random_samples result0",
    "fractional_max_pool3d.indices": "random_samples result0",
    "gather.backward": "input_sizes",
    "glu": "result",
    "group_norm.default": "num_groups",
    "index_fill.Scalar": "value",
    "index_select.backward": "input_sizes",
    "kthvalue": "k",
    "layer_norm.default": "eps",
    "logaddexp2": "result",
    "masked_fill.Scalar": "value",
    "max_pool2d.indices": "result0",
    "max_pool3d.indices": "result0",
    "max_unpool2d.default": "output_size",
    "max_unpool3d.default": "output_size",
    "nan_to_num": "nan neginf posinf",
    "ndtri": "self",
    "rad2deg": "self",
    "remainder.Scalar": "other",
    "round.decimals": "decimals",
    "rsub.Scalar": "other",
    "rsub.Scalar_alpha": "other",
    "scatter.value": "value",
    "select.backward": "input_sizes",
    "sinc": "result",
    "slogdet": "logabsdet",
    "solve": "B",
    "sort.default": "descending",
    "sort.stable": "descending",
    "squeeze.default": "dim",
    "take.backward": "input_sizes",
    "threshold": "value",
    "topk": "k largest sorted",
    "unfold.backward": "input_sizes",
    "view.default": "shape",
    **dict.fromkeys(RESAMPLED, "scale_factors"),
}
"""What rows keep that PyTorch's nodes have no name for."""

SIZED = {
    "diagonal", "diagonal_copy", "expand", "index.Tensor", "index_select.default",
    "kthvalue", "max.dim", "mean.default", "mean.dim", "median.dim", "min.dim", "mm",
    "mode", "nanmedian.dim", "repeat", "select", "slice.Tensor", "sort.default",
    "sort.stable", "split.Tensor", "split_with_sizes", "squeeze.default",
    "squeeze.dim", "squeeze.dims", "sum.default", "sum.dim_IntList", "topk", "trace",
    "unfold", "view.default", *RESAMPLED,
}  # fmt: skip
"""Rows whose nodes show the sizes of their first input."""

PARAMETERS = {"number": "other", "base": "self"}

RENAMED = {
    "as_strided.default": {"start": "storage_offset"},
    "unfold.backward": {"dimension": "dim"},
}
"""The same for parameters of one row."""

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
