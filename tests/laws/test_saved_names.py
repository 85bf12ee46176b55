"""A node has PyTorch's names of what it saved, and no other."""

from __future__ import annotations

import pytest

from gradcli.ops import OPS
from gradcli.ops.saved_names import RESAMPLED

from .saved_names import names, ours, recorded

RECORDED = recorded()

NOT_READ = {
    "avg_pool2d.default": "self", "adaptive_avg_pool2d.default": "self",
    "avg_pool3d.default": "self", "adaptive_avg_pool3d.default": "self",
    **{f"{name}_pad{rank}d.default": "self"
       for name in ("reflection", "replication") for rank in (1, 2, 3)},
    "cummax": "self", "cummin": "self",
    "div.Tensor_mode": "other self", "expm1": "result", "gather.default": "self",
    "index_add.default": "source", "index_copy.default": "source",
    "index_select.backward": "source", "masked_select.default": "self",
    "prod.default": "result", "prod.dim_int": "result", "sgn": "result self",
    "slogdet": "sign", "take.backward": "source", "take.default": "self",
    "layer_norm.default": "bias",
}  # fmt: skip
"""Values that the rules here do not read, so that nothing holds them."""

BETWEEN = {
    "batch_norm.default": "result1 result2", "det": "LU pivots",
    "group_norm.default": "result1 result2", "layer_norm.default": "result1 result2",
    "logsigmoid": "buffer", "multilabel_margin_loss.default": "is_target",
    "nll_loss.2d": "total_weight",
    "nll_loss.default": "total_weight", "slogdet": "LU pivots", "solve": "LU pivots",
    "weight_norm_interface.default": "result1",
}  # fmt: skip
"""What PyTorch's kernels leave on the way; here nothing is left."""

SETTINGS = {
    "add.Tensor": "alpha", "sub.Tensor": "alpha", "rsub.Scalar": "alpha",
    "rsub.Tensor": "alpha", "convolution.default": "output_padding transposed",
    "convolution.transposed": "output_padding transposed",
    "embedding.default": "sparse", "gather.default": "sparse_grad",
    "index_select.backward": "alpha", "take.backward": "accumulate",
}  # fmt: skip
"""Arguments of PyTorch's operators that the rows have no choice of."""

SIZES = {
    "addmm": "mat1_sym_sizes mat1_sym_strides mat2_sym_sizes mat2_sym_strides",
    "convolution.default": "bias_sym_sizes_opt",
    "convolution.transposed": "bias_sym_sizes_opt",
    "embedding.default": "weight_sym_argsize_0",
    "group_norm.default": "C HxW N group", "index_add.default": "source_dim",
    "im2col.default": "self_sym_argsize_minus_1 self_sym_argsize_minus_2",
    "index_copy.default": "source_dim", "index_select.backward": "source_dim",
    "masked_scatter.default": "source_sym_sizes",
    "mean.default": "self_sym_numel", "mean.dim": "self_sym_numel",
    "mm": "mat2_sym_sizes mat2_sym_strides self_sym_sizes self_sym_strides",
}  # fmt: skip
"""Sizes and strides of which no more than the shapes is kept here."""


FACTORS = {
    name: ("scales", "scales_h scales_w", "scales_d scales_h scales_w")[
        int(name[name.index("d.vec") - 1]) - 1 if "aa" not in name else 1]
    for name in RESAMPLED
}  # fmt: skip
"""Factors that PyTorch keeps one by one, and a row in one list."""


def missing(row: str) -> list[str]:
    """The names that PyTorch's node of a row has alone."""
    groups = (NOT_READ, BETWEEN, SETTINGS, SIZES, FACTORS)
    return sorted(name for group in groups for name in group.get(row, "").split())


@pytest.mark.parametrize("row", RECORDED)
def test_saved_values_have_pytorchs_names(row: str) -> None:
    assert sorted([*names(ours(OPS[row])), *missing(row)]) == RECORDED[row]
