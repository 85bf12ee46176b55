"""PyTorch's names of operands, and of the values that its nodes save.

Invariant: an input whose name in the row's formula is a single letter is ``self`` if it
is the first, else ``other``; other inputs keep the formula's name. An output is
``result``, or ``result0``, ``result1`` and so on if there are several. The tables here
list every row for which that is not so.

    inputs_of("addcmul.default")                 # ("self", "tensor1", "tensor2")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .op import OPS, parameters


def by_row(rows: Mapping[str, str]) -> dict[str, str]:
    """Return the words for each row, given the rows for each text of words."""
    found: dict[str, list[str]] = {}
    for words, names in rows.items():
        for name in names.split():
            found.setdefault(name, []).append(words)
    return {name: " ".join(words) for name, words in found.items()}


CALLED: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    name: tuple([() if each == "_" else tuple(each.split("/"))
                 for each in words.split()])
    for name, words in by_row({
        "_ tensor1 tensor2": "addcmul addcdiv",
        "_ mat1 mat2": "addmm",
        "_ batch1 batch2": "baddbmm",
        "_ mat2": "mm bmm",
        "_ vec": "mv",
        "_ tensor": "dot",
        "_ vec2": "outer",
        "_ end weight": "lerp",
        "input1 input2": "bilinear",
        "x1 x2": "cosine_similarity",
        "input": "copysign",
        "_ dim0/axis0 dim1/axis1": "transpose",
        "tensor": "split",
        "_ input2": "cholesky_solve",
        "_ A": "triangular_solve",
        "x y": "linalg.vecdot",
        "A B": "linalg.solve_triangular solve",
        "A": "linalg.svd linalg.svdvals linalg.qr linalg.lu_factor linalg.lu",
        "input/A": "det slogdet inverse diagonal",
    }).items()
}  # fmt: skip
"""PyTorch's names of operands, by the public function's name; a slash separates several
names of one operand, ``_`` stands for an operand with the usual name."""

INPUTS = by_row({
    "A": "linalg_cholesky_ex.default linalg_eigh.default linalg_lu_factor_ex.default",
    "LU pivots B": "linalg_lu_solve.default",
    "LU_data LU_pivots": "lu_unpack.default",
    "condition self other": "where",
    "exponent": "pow.Scalar",
    "i1 i2 i3": "bilinear.trilinear",
    "input grid": "grid_sampler_2d grid_sampler_3d",
    "input weight bias":
        "convolution.default convolution.transposed group_norm.default "
        "layer_norm.default",
    "input weight bias running_mean running_var": "batch_norm.default",
    "other": "xlog1py.Scalar_Self xlogy.Scalar_Self zeta.self_scalar",
    "self": "copysign.Scalar diagonal split.Tensor",
    "self B": "linalg_solve_triangular.default",
    "self b": "linalg_lstsq.default",
    "self exponent": "pow.Tensor_Tensor",
    "self other": "copysign.Tensor",
    "source index": "index_select.backward take.backward",
    "v g": "weight_norm_interface.default",
})  # fmt: skip
"""Names of rows' inputs where they differ from those of `CALLED` and the usual ones."""

OUTPUTS = by_row({
    "L": "cholesky.ex",
    "L info": "linalg_cholesky_ex.default",
    "LU pivots": "linalg.lu_factor",
    "LU pivots info": "linalg_lu_factor_ex.default",
    "P L U": "linalg.lu linalg_lu.default lu_unpack lu_unpack.default",
    "Q R": "linalg_qr.default qr",
    "U S V": "svd",
    "U S Vh": "linalg_svd.default",
    "eigenvalues eigenvectors": "linalg_eigh.default",
    "inverse": "inverse",
    "sign logabsdet": "slogdet",
    "solution cloned_coefficient": "triangular_solve",
    "solution residuals rank singular_values": "linalg_lstsq.default",
    "values indices":
        "cummax cummin kthvalue max.dim median.dim min.dim mode nanmedian.dim "
        "sort.default sort.stable topk",
})  # fmt: skip

RESAMPLED = {
    **{f"upsample_nearest{rank}d.vec": "nearest" for rank in (1, 2, 3)},
    **{f"_upsample_nearest_exact{rank}d.vec": "nearest-exact" for rank in (1, 2, 3)},
    "upsample_linear1d.vec": "linear", "upsample_bilinear2d.vec": "bilinear",
    "upsample_trilinear3d.vec": "trilinear", "upsample_bicubic2d.vec": "bicubic",
    "_upsample_bilinear2d_aa.vec": "bilinear", "_upsample_bicubic2d_aa.vec": "bicubic",
}  # fmt: skip
"""Modes by the row of `resampling`; its nodes show a factor per dimension."""

NOT_SHOWN = by_row({
    "B": "solve",
    "UPLO": "linalg_eigh.default",
    "back device dtype": "to_copy.default",
    "count": "embedding.backward",
    "decimals": "round.decimals",
    "descending": "sort.default sort.stable",
    "dim": "squeeze.default",
    "driver rcond residuals": "linalg_lstsq.default",
    "eps": "layer_norm.default",
    "floor": "clone.at_least",
    "geometry": "as_strided.default",
    "hermitian": "linalg_pinv.atol_rtol_tensor",
    "include_last_offset": "embedding_bag.default",
    "input_sizes":
        "diagonal.backward gather.backward index_select.backward select.backward "
        "take.backward unfold.backward",
    "k": "kthvalue",
    "k largest sorted": "topk",
    "logabsdet": "slogdet",
    "max": "clamp_min.Scalar",
    "memory_format": "clone",
    "min": "clamp_max.Scalar",
    "nan neginf posinf": "nan_to_num",
    "other":
        "add.Scalar copysign.Scalar fmod.Scalar remainder.Scalar rsub.Scalar "
        "rsub.Scalar_alpha",
    "output_size":
        "adaptive_avg_pool2d.default adaptive_avg_pool3d.default "
        "adaptive_max_pool2d.indices adaptive_max_pool3d.indices col2im.default "
        "max_unpool2d.default max_unpool3d.default",
    "result": "erfinv glu logaddexp2 sinc",
    "result0":
        "adaptive_max_pool2d.indices adaptive_max_pool3d.indices embedding_bag.default "
        "max_pool2d.indices max_pool3d.indices",
    "result1": "embedding_bag.default",
    "self": "deg2rad exp2 expm1 ndtri rad2deg",
    "shape": "reshape.alias reshape.unsafe view.default",
    "size": "convolution.transposed expand",
    "value":
        "constant_pad_nd index_fill.Scalar masked_fill.Scalar scatter.value threshold",
} | {"scale_factors": " ".join(RESAMPLED)})  # fmt: skip
"""Names of values that rows save but PyTorch's nodes do not show, by row."""

SIZED = {
    "diagonal", "diagonal_copy", "expand", "index.Tensor", "index_select.default",
    "kthvalue", "max.dim", "mean.default", "mean.dim", "median.dim", "min.dim", "mode",
    "nanmedian.dim", "repeat", "reshape.alias", "reshape.unsafe", "select",
    "slice.Tensor", "sort.default", "sort.stable", "split.Tensor", "split_with_sizes",
    "squeeze.default", "squeeze.dim", "squeeze.dims", "squeeze_.dim", "sum.default",
    "sum.dim_IntList", "topk", "trace", "unfold", "view.default", *RESAMPLED,
}  # fmt: skip
"""Names of rows whose nodes show the sizes of their first input."""

MEASURED = {
    "addmm": "mat1_sym_sizes mat1_sym_strides mat2_sym_sizes mat2_sym_strides",
    "convolution.default": "bias_sym_sizes_opt",
    "convolution.transposed": "bias_sym_sizes_opt",
    "embedding.default": "weight_sym_argsize_0",
    "embedding_bag.default": "weight_sym_argsize_0",
    "im2col.default": "self_sym_argsize_minus_1 self_sym_argsize_minus_2",
    "index_add.default": "source_dim",
    "index_copy.default": "source_dim",
    "index_select.backward": "source_dim",
    "masked_scatter.default": "source_sym_sizes",
    "mean.default": "self_sym_numel",
    "mean.dim": "self_sym_numel",
    "mm": "self_sym_sizes self_sym_strides mat2_sym_sizes mat2_sym_strides",
}
"""Names of further sizes that nodes show, by row: an input's name, then an ending."""

GIVEN: dict[str, dict[str, object]] = {
    "add.Tensor": {"alpha": 1},
    "convolution.default": {"transposed": False},
    "convolution.transposed": {"transposed": True},
    "embedding.default": {"sparse": False},
    "embedding_bag.default": {"sparse": False},
    "gather.default": {"sparse_grad": False},
    "index_select.backward": {"alpha": 1},
    "rsub.Scalar": {"alpha": 1},
    "rsub.Tensor": {"alpha": 1},
    "sub.Tensor": {"alpha": 1},
    "take.backward": {"accumulate": True},
}
"""Arguments of PyTorch's operators that have one value in all calls of a row."""

PARAMETERS = {"number": "other", "base": "self"}

RENAMED = {
    "as_strided.default": {"start": "storage_offset"},
    "group_norm.default": {"num_groups": "group"},
    "unfold.backward": {"dimension": "dim"},
    "xlog1py.Scalar_Self": {"number": "self"},
    "xlogy.Scalar_Self": {"number": "self"},
    "zeta.self_scalar": {"number": "self"},
}
"""PyTorch's names of parameters that differ in one row, by row."""

PLACES = {"index.Tensor": "indices", "index_put.default": "indices"}
"""Parameters that nodes save as index tensors, by row: one per dimension, or None where
the whole dimension is read."""

RESULT_IN_PLACE = {"celu", "elu", "leaky_relu", "rrelu_with_noise.default"}
"""Names of rows whose nodes, if the operation was in place, show the result instead of
the input."""

UNGIVEN: dict[str, dict[str, int | None]] = {
    "elu": {"scale": 1, "input_scale": 1},
    "softplus": {"beta": 1, "threshold": 20},
    "std.correction": {"correction": None},
    "std_mean.correction": {"correction": None},
    "var.correction": {"correction": None},
    "var_mean.correction": {"correction": None},
}
"""Values that PyTorch shows for parameters that were not given, by row, where they
differ from the default in value or in type."""

LARGEST = 2**63 - 1
"""Largest signed integer of 64 bits, which PyTorch shows for an open end."""

IN_PLACE_OF_NONE: dict[str, dict[str, object]] = {
    "amax": {"dim": ()},
    "amin": {"dim": ()},
    "roll": {"dims": ()},
    "slice.Tensor": {"start": 0, "end": LARGEST},
}
"""Values that PyTorch shows for parameters that are None, by row."""

SIGNED = {
    "alpha", "base", "beta", "correction", "delta", "eps", "exponent", "input_scale",
    "lambd", "max", "max_val", "min", "min_val", "negative_slope", "number", "ord",
    "other", "p", "scale", "threshold", "value", "weight",
}  # fmt: skip
"""Names of parameters that PyTorch shows with their sign. All others are sizes and
positions, which it shows as C's unsigned integers: -1 as 18446744073709551615."""

REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
"""Numbers that PyTorch uses for the reduction of a loss."""


def inputs_of(name: str, count: int) -> tuple[str, ...]:
    """Return PyTorch's names of a row's first ``count`` inputs."""
    if name in INPUTS:
        return tuple(INPUTS[name].split()[:count])
    op = OPS[name]
    called = CALLED.get(op.base.replace("linalg_", "linalg."), ())
    letters = ("self", *["other"] * count)
    own = [
        n if len(n) > 1 else letter
        for n, letter in zip(parameters(op)[:count], letters, strict=False)
    ]
    return tuple(
        [
            names[-1] if names else mine
            for mine, names in zip(own, (*called, *[()] * count), strict=False)
        ]
    )


def outputs_of(name: str, count: int) -> tuple[str, ...]:
    """Return PyTorch's names of a row's outputs, of which there are ``count``."""
    if name in OUTPUTS:
        return tuple(OUTPUTS[name].split())
    return ("result",) if count == 1 else tuple(f"result{nr}" for nr in range(count))
