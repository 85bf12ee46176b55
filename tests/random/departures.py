"""Where gradcli differs from PyTorch on purpose, at points where both have numbers.

Invariant: every entry says why. Of a program that PyTorch refuses in one of the ways
told here nothing more is compared.
"""

from __future__ import annotations

import re

from tests.random.compare import Difference, difference
from tests.random.program import Program

REFUSED: dict[str, str] = {
    "numbers, lists and parameters are read in more ways": (
        r"^TypeError|^AttributeError: '(tuple|torch.return_types)|"
        r"^IndexError: (tensors used as|Dimension out of)|condition to be a boolean|"
        r"BoolTensor|boolean masks|dtype int32 or int64 for index|bincount_cpu|"
        r"a leaf Variable that requires grad is b|"
        r"floating point or complex dtype. Got: Long|"
        r"floating point type for target with class probabilities"
    ),
    "truth values are the numbers 0 and 1": r"with (a|two) bool tensor",
    "a change reads what its operands held": (
        r"refer to a single memory location|a function that returns multiple views"
    ),
    "PyTorch has not written this derivative": (
        r"derivative for \S+ is not implemented|not differentiable"
    ),
    "the gradient at a singular matrix is nan": r"the input matrix is singular",
    "a rule of PyTorch's fails": (
        r"returned an invalid gradient|undefined Tensor|unspecified dimension size|"
        r"must match the size of tensor b .* at non-singleton dimension|"
        r"ZeroTensors are immutable|TensorAccessor expected|INTERNAL ASSERT FAILED|"
        r"non-zero size for non-batch dimensions|view size is not compatible"
    ),
}
"""What PyTorch alone refuses: why, and in which words."""

GRAPHS: dict[str, tuple[str, str]] = {
    "einsum is one node, not a product of matrices": ("EinsumBackward0", ""),
    "all outputs are counted, also those without a derivative": (
        "LinalgLuBackward0", "LinalgLuBackward0",
    ),
    "vander joins its columns, and writes none": ("CatBackward0", "CopySlices"),
    "a view stays as it was recorded when its base changes": ("", "AsStridedBackward0"),
    "`//` and `%` have derivatives": ("", "NotImplemented"),
}  # fmt: skip
"""Where graphs differ, and no number does: words of ours and of PyTorch's."""

NO_WITNESS: dict[str, str] = {
    **dict.fromkeys(
        ("digamma", "lgamma", "polygamma", "mvlgamma", "psi", "gammaln",
         "multigammaln"),
        "PyTorch's trigamma has nine digits; mpmath's values are recorded",
    ),
    **dict.fromkeys(
        ("clamp", "clip"), "where the bounds are equal it is as in PyTorch 2.15"
    ),
    **dict.fromkeys(
        ("acosh", "arccosh"), "PyTorch gives the formula's derivative below 1 too"
    ),
    "as_strided_scatter": "PyTorch gives what is overwritten the gradient of the rest",
    "gelu": "PyTorch has few digits of it far out",
    "binary_cross_entropy": "PyTorch adds 1e-12 to the second derivative's denominator",
    "cholesky_solve": "PyTorch's gradient reaches the triangle that is not read",
    "eigh": "vectors have the signs of the LAPACK at hand",
    "linalg.eigh": "vectors have the signs of the LAPACK at hand",
    "svd": "vectors have the signs of the LAPACK at hand",
    "linalg.svd": "vectors have the signs of the LAPACK at hand",
}  # fmt: skip
"""Functions that are not drawn, and why PyTorch is no witness of them."""

WITHOUT_DERIVATIVE = "airy|bessel|_polynomial_"
"""Names of functions that cut the graph in PyTorch, and are not drawn either."""


def has_witness(name: str) -> bool:
    return name not in NO_WITNESS and not re.search(WITHOUT_DERIVATIVE, name)


def departure(program: Program, found: Difference) -> str | None:
    """Why a difference is meant; None if nothing says so."""
    if found.what.startswith("PyTorch alone refuses"):
        words = REFUSED.items()
        return next((why for why, said in words if re.search(said, found.theirs)), None)
    if found.what != "graph":
        return None
    for why, (ours, theirs) in GRAPHS.items():
        if re.search(ours, found.ours) and re.search(theirs, found.theirs):
            rest = difference(program, graph=False)
            if rest is None or departure(program, rest) is not None:
                return why
    return None
