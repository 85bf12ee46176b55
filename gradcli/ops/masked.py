"""Reductions and normalisations over the entries that a mask keeps.

Invariant: what a mask leaves out is replaced by a number that changes nothing there:
0 in a sum, 1 in a product, an infinity among the largest or smallest.

    masked.sum(x, 1, mask=x > 0)        # SumBackward1(WhereBackward0(x, None))
"""

from __future__ import annotations

from functools import partial
from math import inf, nan

from .checks import dim_of, dims_of, holds
from .op import WHOLES, Case, Formula, case, function
from .types import Array, Call, Dims, OfKind

# fmt: off

BITS = 8
"""Bits of a byte."""


def inside(call: Call, x: Array, mask: Array) -> Array:
    """A mask as truth values of the tensor's own shape."""
    if len(mask.shape) > len(x.shape):
        raise IndexError("_input_mask expected broadcastable mask (got mask "
                         "dimensionality higher than of the input)")
    kept = mask if holds("b", mask) else call("ne", mask, 0)
    return kept if mask.shape == x.shape else call("expand", kept, tuple(x.shape))


def filled(call: Call, x: Array, mask: Array | None, number: float) -> Array:
    """The tensor with a number where the mask is not true."""
    return x if mask is None else call("where", inside(call, x, mask), x, number)


def outermost(x: OfKind, sign: int) -> float:
    """What is no larger (sign -1) or no smaller (sign 1) than any number of a type."""
    if not holds(WHOLES, x):
        return sign * inf
    kind, size = x.dtype.code[0], BITS * int(x.dtype.code[1:] or 1)
    if kind in "bu":
        return 0 if sign < 0 else 1 if kind == "b" else (1 << size) - 1
    return -(1 << (size - 1)) if sign < 0 else (1 << (size - 1)) - 1


def _sum(call: Call, x: Array, dim: Dims = None, *, keepdim: bool = False,
         mask: Array | None = None) -> Array:
    return call("sum.dim_IntList", filled(call, x, mask, 0), dims_of(x.shape, dim),
                keepdim)


def _prod(call: Call, x: Array, dim: Dims = None, *, keepdim: bool = False,
          mask: Array | None = None) -> Array:
    y = filled(call, x, mask, 1)
    for d in sorted(dims_of(x.shape, dim), reverse=True):
        y = call("prod.dim_int", y, d, keepdim)
    return y


def _scanned(name: str, number: float) -> Formula:
    def build(call: Call, x: Array, dim: int, *, mask: Array | None = None) -> Array:
        y = call(name, filled(call, x, mask, number), dim_of(x.shape, dim))
        return call("as_type_of", y, x) if holds(WHOLES, x) else y

    return build


def _extreme(name: str, sign: int) -> Formula:
    def build(call: Call, x: OfKind, dim: Dims = None, *, keepdim: bool = False,
              mask: Array | None = None) -> Array:
        y = filled(call, x, mask, outermost(x, sign))
        return call(name, y, dims_of(x.shape, dim), keepdim)

    return build


def _place(name: str, sign: int) -> Formula:
    def build(call: Call, x: OfKind, dim: int | None = None, *, keepdim: bool = False,
              mask: Array | None = None) -> Array:
        return call(name, filled(call, x, mask, outermost(x, sign)), dim, keepdim)

    return build


def counted(call: Call, x: Array, dim: Dims, keepdim: bool, mask: Array | None
           ) -> Array:
    """How many entries are reduced together."""
    each = call("ones_like", x) if mask is None else inside(call, x, mask)
    return call("sum.dim_IntList", each, dims_of(x.shape, dim), keepdim)


def _mean(call: Call, x: Array, dim: Dims = None, *, keepdim: bool = False,
          mask: Array | None = None) -> Array:
    total = _sum(call, x, dim, keepdim=keepdim, mask=mask)
    return call("div", total, counted(call, x, dim, keepdim, mask))


def _median(call: Call, x: Array, dim: int = -1, *, keepdim: bool = False,
            mask: Array | None = None) -> Array:
    y = filled(call, x, mask, nan)
    return call("nanmedian", y, dim_of(x.shape, dim), keepdim)[0]


def _norm(call: Call, x: Array, ord: float = 2, dim: Dims = None, *,
          keepdim: bool = False, mask: Array | None = None) -> Array:
    y = filled(call, x, mask, inf if ord == -inf else 0)
    return call("linalg_vector_norm.default", y, ord, dims_of(x.shape, dim), keepdim)


def _var(call: Call, x: Array, dim: Dims = None, unbiased: bool | None = None, *,
         correction: float | None = None, keepdim: bool = False,
         mask: Array | None = None) -> Array:
    if unbiased is not None and correction is not None:
        raise ValueError("only one of unbiased and correction may be given")
    less = float(unbiased is not False) if correction is None else float(correction)
    count = counted(call, x, dim, True, mask)
    mean = call("div", _sum(call, x, dim, keepdim=True, mask=mask), count)
    apart = call("sub", x, mean)
    total = _sum(call, call("mul", apart, apart), dim, keepdim=keepdim, mask=mask)
    if not keepdim:
        count = call("reshape", count, tuple(total.shape))
    if less:
        fewer = call("sub", call("as_type_of", count, total), less)
        count = call("clamp_min", fewer, 0)
    return call("div", total, count)


def _std(call: Call, x: Array, dim: Dims = None, unbiased: bool | None = None, *,
         correction: float | None = None, keepdim: bool = False,
         mask: Array | None = None) -> Array:
    return call("sqrt", _var(call, x, dim, unbiased, correction=correction,
                             keepdim=keepdim, mask=mask))


def _logaddexp(call: Call, input: Array, other: Array, *,
               input_mask: Array | None = None, other_mask: Array | None = None
              ) -> Array:
    return call("logaddexp", filled(call, input, input_mask, -inf),
                filled(call, other, other_mask, -inf))


def _shared(name: str, sign: int) -> Formula:
    def build(call: Call, x: OfKind, dim: int, *, mask: Array | None = None) -> Array:
        return call(name, filled(call, x, mask, outermost(x, sign)),
                    dim_of(x.shape, dim))

    return build


def _normalize(call: Call, x: Array, ord: float, dim: int, *, eps: float = 1e-12,
               mask: Array | None = None) -> Array:
    norm = _norm(call, x, ord, dim, keepdim=True, mask=mask)
    least = call("new_full", norm, (), eps)
    return call("div", filled(call, x, mask, 0), call("maximum", norm, least))


MASK = [[True, False, True, True], [True, True, True, False], [False, True, True, True]]

entered = partial(function, operands=("x", "mask"), casts=True)


def reduction(name: str, build: Formula, doc: str, **params: object) -> None:
    entered(f"masked.{name}", build, doc=f"{doc}, over the entries that a mask keeps.",
            formula=f"{name}(x[mask])", cases=[
                Case(((3, 4),), {"mask": MASK, **params}), Case(((3, 4),), params)])


reduction("sum", _sum, "Sum", dim=1)
reduction("prod", _prod, "Product", dim=(0, 1))
reduction("amax", _extreme("amax", -1), "Largest entry", dim=1)
reduction("amin", _extreme("amin", 1), "Smallest entry", dim=0)
reduction("argmax", _place("argmax", -1), "Position of the largest entry", dim=1)
reduction("argmin", _place("argmin", 1), "Position of the smallest entry", dim=0)
reduction("mean", _mean, "Mean", dim=1)
reduction("median", _median, "Median, the lower of two", dim=1)
reduction("norm", _norm, "Norm of order ord", ord=3, dim=1)
reduction("var", _var, "Variance", dim=1)
reduction("std", _std, "Standard deviation", dim=0, keepdim=True)
reduction("logsumexp", _extreme("logsumexp", -1),
          "Logarithm of the sum of exponentials", dim=1)
reduction("cumsum", _scanned("cumsum", 0), "Sums up to each entry", dim=1)
reduction("cumprod", _scanned("cumprod", 1), "Products up to each entry", dim=0)
reduction("softmax", _shared("softmax", -1), "Exponentials as shares of their sum",
          dim=1)
reduction("log_softmax", _shared("log_softmax", -1), "Logarithm of the softmax", dim=1)
reduction("softmin", _shared("softmin", 1), "Softmax of the negated entries", dim=0)
reduction("normalize", _normalize, "Entries over their norm", ord=2.0, dim=1)

function("masked.logaddexp", _logaddexp, casts=True,
         operands=("input", "other", "input_mask", "other_mask"),
         formula="log(e**a + e**b)",
         doc="Logarithm of the sum of two exponentials, each where its mask is true.",
         cases=[case((3, 4), (3, 4), input_mask=MASK)])
