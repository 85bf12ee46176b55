"""PyTorch's names of operands, results and parameters, as its nodes show them.

Invariant: an input whose name in the row's formula is a single letter is ``self`` if it
is the first, else ``other``; other inputs keep the formula's name. An output is
``result``, or ``result0``, ``result1`` and so on if there are several. The tables here
list every row for which that is not so.

    inputs_of("addcmul.default", 3)              # ("self", "tensor1", "tensor2")
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

PARAMETERS = {"number": "other", "base": "self"}
"""PyTorch's names of parameters, by their names in rows."""

RENAMED = {
    "as_strided.default": {"start": "storage_offset"},
    "group_norm.default": {"num_groups": "group"},
    "unfold.backward": {"dimension": "dim"},
    "xlog1py.Scalar_Self": {"number": "self"},
    "xlogy.Scalar_Self": {"number": "self"},
    "zeta.self_scalar": {"number": "self"},
}
"""PyTorch's names of parameters that differ in one row, by row."""


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
