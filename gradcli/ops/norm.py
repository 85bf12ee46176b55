"""Vector norms, matrix norms, and distances between rows.

Invariant: the value and the slope of a vector norm are in `NORMS`, by order, or, for
other orders, in `length` and `length_slope`.

    norm(x)                         # LinalgVectorNormBackward0
    linalg.matrix_norm(x, 1)        # AmaxBackward0(LinalgVectorNormBackward0(x))
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from .checks import (
    ShapeError,
    ValueRangeError,
    broadcast_shape,
    demand_rank,
    dim_of,
    dims_of,
    refuse,
)
from .exact import reciprocal
from .op import PACKED, RESULT, Rule, case, function, of_floats, of_wide
from .reduce import dropped, keepdims, share
from .shape import inverse_order, sum_to
from .types import Array, ArrayRule, Caller, Dims, Namespace

# fmt: off

INFINITY = float("inf")


def unless_zero(xp: Namespace, x: Array, formula: ArrayRule) -> Array:
    """Return ``formula(x)``; its value and derivatives are 0 where ``x`` is 0."""
    none = xp.eq(x, 0)
    return xp.where(none, 0, formula(xp.where(none, 1, x)))


def length(xp: Namespace, x: Array, p: float, dims: tuple[int, ...]) -> Array:
    if p < 0:
        return xp.sum(xp.abs(x) ** p, dims, True) ** reciprocal(xp, p)
    powers = unless_zero(xp, x, lambda u: xp.abs(u) ** p)
    return unless_zero(xp, xp.sum(powers, dims, True), lambda s: s ** reciprocal(xp, p))


def length_slope(xp: Namespace, x: Array, y: Array, p: float, dims: tuple[int, ...]
                ) -> Array:
    mine = unless_zero(xp, x, lambda u: xp.sign(u) * xp.abs(u) ** (p - 1))
    return mine * unless_zero(xp, y, lambda n: n ** (1 - p))


def extreme_slope(xp: Namespace, x: Array, y: Array, p: float, dims: tuple[int, ...]
                 ) -> Array:
    return xp.sign(x) * share(xp, xp.abs(x), y, dims)


# The slopes are those of PyTorch's linalg_vector_norm_backward.
NORMS: dict[float, tuple[ArrayRule, ArrayRule]] = {
    0: (lambda xp, x, p, dims: xp.sum(xp.as_type_of(xp.ne(x, 0), x), dims, True),
        lambda xp, x, y, p, dims: xp.zeros_like(x)),
    1: (lambda xp, x, p, dims: xp.sum(xp.abs(x), dims, True),
        lambda xp, x, y, p, dims: xp.sign(x)),
    2: (lambda xp, x, p, dims: xp.sqrt(xp.sum(xp.square(x), dims, True)),
        lambda xp, x, y, p, dims: x * unless_zero(xp, y, lambda n: 1 / n)),
    INFINITY: (lambda xp, x, p, dims: xp.amax(xp.abs(x), dims, True), extreme_slope),
    -INFINITY: (lambda xp, x, p, dims: xp.amin(xp.abs(x), dims, True), extreme_slope),
}
"""Functions for a norm (reduced dimensions are kept) and its slope, by its order."""


def norm_of(xp: Namespace, x: Array, p: float, dim: Dims) -> Array:
    refuse(not isinstance(p, int | float), "linalg.vector_norm: the order must be a "
           "number, not {!r}", p, kind=ValueRangeError)
    dims = dims_of(x.shape, dim)
    empty = next((d for d in dims if x.shape and x.shape[d] == 0), None)
    if (p < 0 or p == INFINITY) and empty is not None:
        where = ("an empty tensor because" if dim is None
                 else f"the dimension {empty} because this dimension is empty and")
        raise ShapeError(f"linalg.vector_norm cannot compute the {p:g} norm on {where} "
                         "the operation does not have an identity")
    return NORMS.get(p, (length, length_slope))[0](xp, x, p, dims)


def slope_of(xp: Namespace, x: Array, y: Array, p: float, dim: Dims) -> Array:
    """Return the norm's derivative by each entry; ``y`` is the norm, its reduced
    dimensions kept."""
    return NORMS.get(p, (length, length_slope))[1](xp, x, y, p, dims_of(x.shape, dim))


def passing(xp: Namespace, g: Array, y: Array, p: float) -> Array:
    """Return ``g``, but 0 where the norm is 0 if it is computed as a power (p > 1, not
    in `NORMS`), so that an infinite ``g`` gives no NaN."""
    return xp.where(xp.eq(y, 0), 0, g) if p > 1 and p not in NORMS else g


def pulled(xp: Namespace, g: Array, y: Array, x: Array, p: float, dim: Dims) -> Array:
    """Return the cotangent of ``x``; for order 0, which counts entries, it is 0."""
    if p == 0:
        return xp.zeros_like(x)
    return passing(xp, g, y, p) * slope_of(xp, x, y, p, dim)


of_floats("linalg_vector_norm.default", wide=True, formula="sum(abs(x)**ord)**(1/ord)",
    kink="at norm 0, and by an entry that is 0, the derivative is 0; entries tied for "
         "an infinity norm share the cotangent evenly",
    fwd=lambda xp, x, ord=2, dim=None, keepdim=False:
        dropped(xp, norm_of(xp, x, ord, dim), x, dim, keepdim),
    vjp=(lambda xp, g, y, x, ord=2, dim=None, keepdim=False: pulled(
        xp, keepdims(xp, g, x, dim, keepdim), keepdims(xp, y, x, dim, keepdim), x, ord,
        dim),),
    cases=[case((3, 4)), case((5,), ord=1), case((3, 4), ord=3, dim=0),
           case((3, 4), ord=INFINITY, dim=-1, make="distinct"), case((3, 4), ord=0),
           case((3, 4), ord=-INFINITY, keepdim=True, low=0.5),
           case((2, 3, 4), dim=(0, 2)), case((3, 4), ord=2.5, dim=1, keepdim=True),
           case((4,), ord=0.5, low=0.3), case((4,), ord=-1.5, low=0.5),
           case(()), case((), ord=1, dim=0)], saves="x y")

OF_SINGULAR_VALUES = {2: "amax", -2: "amin", "nuc": "sum"}
"""Reductions of the singular values that are matrix norms, by the norm's order."""


def spectral_norm(call: Caller, x: Array, ord: float | str, dims: tuple[int, int],
                  keepdim: bool) -> Array:
    """Return the largest, the smallest or the sum of a matrix's singular values."""
    order = (*(d for d in range(len(x.shape)) if d not in dims), *dims)
    s = call("linalg.svdvals", call("permute", x, order))
    found = call(OF_SINGULAR_VALUES[ord], s, -1, keepdim)
    if not keepdim:
        return found
    return call("permute", call("unsqueeze", found, -1), inverse_order(order))


@function("norm", formula="sum(abs(x)**p)**(1/p)",
          doc="The norm of order p of all entries, or over dimensions.",
          cases=[case((3, 4)), case((3, 4), p=1, dim=1), case((3,), p=float("inf")),
                 case((3, 4), p=3.0, dim=0, keepdim=True)], casts=True, tame=("1",),
          also=("norm2",))
def norm(call: Caller, x: Array, p: float | str | None = "fro", dim: Dims = None,
         keepdim: bool = False) -> Array:
    if p == "nuc":
        dims = tuple(range(len(x.shape))) if dim is None else dim
        return matrix_norm(call, x, "nuc", dims, keepdim)
    order = 2 if p is None or p == "fro" else p
    return vector_norm(call, x, order, dim, keepdim)


@function("linalg.vector_norm",
          doc="The norm of order ord of all entries, or over dimensions.",
          cases=[case((3, 4)), case((3, 4), ord=1, dim=1), case((3,), ord=3.0)],
          casts=True)
def vector_norm(call: Caller, x: Array, ord: float | str = 2, dim: Dims = None,
                keepdim: bool = False) -> Array:
    return call("linalg_vector_norm.default", x, ord, dim, keepdim)


@function("linalg.matrix_norm", operands=("x",), formula="sum(abs(x)**2, dim)**0.5",
          doc="The Frobenius norm of a matrix, its largest column or row sum, its "
              "largest or least singular value (2, -2), or the sum of all ('nuc').",
          kink="where the singular values that make a norm are repeated the derivative "
               "is one of several",
          cases=[case((3, 4)), case((3, 4), ord=1), case((2, 3, 4), ord=float("inf")),
                 case((3, 2), ord=2, make="regular"),
                 case((3, 2), ord=-2, make="regular"),
                 case((2, 3, 2), ord="nuc", dim=(0, 2), keepdim=True, make="regular")])
def matrix_norm(call: Caller, x: Array, ord: float | str = "fro",
                dim: int | Sequence[int] = (-2, -1), keepdim: bool = False) -> Array:
    """Return a matrix's Frobenius norm, its largest or smallest sum of absolute values
    of a column or row, or a norm of its singular values, according to ``ord``."""
    demand_rank("linalg.matrix_norm", x, 2)
    dims = (dim,) if isinstance(dim, int) else dim
    refuse(len(dims) != 2, "linalg.matrix_norm: dim must be a 2-tuple. Got {}",
           " ".join(map(str, dims)))
    summed, left = (dim_of(x.shape, d) for d in dims)
    if ord == "fro":
        return vector_norm(call, x, 2, (summed, left), keepdim)
    if ord in OF_SINGULAR_VALUES:
        return spectral_norm(call, x, ord, (summed, left), keepdim)
    if ord not in (1, -1, INFINITY, -INFINITY):
        raise ValueRangeError(f"linalg.matrix_norm: Order {ord} not supported.")
    if abs(ord) == INFINITY:
        summed, left = left, summed
    sums = vector_norm(call, x, 1, summed, keepdim)
    if not keepdim and left > summed:
        left -= 1
    return call("amax" if ord > 0 else "amin", sums, left, keepdim)


@function("linalg.norm", operands=("x",), formula="norm(x)",
          doc="A vector norm, or with an order and two dimensions a matrix norm.",
          cases=[case((3, 4)), case((3,), ord=3.0), case((3, 4), ord=1)], casts=True)
def linalg_norm(call: Caller, x: Array, ord: float | str | None = None,
                dim: Dims = None, keepdim: bool = False) -> Array:
    if ord is None:
        return vector_norm(call, x, 2, dim, keepdim)
    refuse(dim is None and len(x.shape) not in (1, 2), "linalg.norm: If dim is not "
           "specified but ord is, the input must be 1D or 2D. Got {}D.", len(x.shape))
    pair = dim if isinstance(dim, list | tuple) else None if dim is None else (dim,)
    if isinstance(ord, str) or (
            len(pair) == 2 if pair is not None else len(x.shape) == 2):
        return matrix_norm(call, x, ord, pair or (-2, -1), keepdim)
    return vector_norm(call, x, ord, dim, keepdim)


# distances


def dist_slope(xp: Namespace, a: Array, b: Array, p: float) -> Array:
    d = a - b
    return slope_of(xp, d, norm_of(xp, d, p, None), p, None)


@of_floats("dist", formula="norm(a - b, p)",
    doc="The norm of the difference of two tensors, which may broadcast.",
    kink="at distance 0 the derivative is 0",
    vjp=(lambda xp, g, y, a, b, p=2: sum_to(
             xp, passing(xp, g, y, p) * dist_slope(xp, a, b, p), a.shape),
         lambda xp, g, y, a, b, p=2: sum_to(
             xp, -passing(xp, g, y, p) * dist_slope(xp, a, b, p), b.shape)),
    cases=[case((3, 4), (3, 4)), case((3, 4), (4,), p=1), case((5,), (5,), p=3),
           case((), ())], saves="a b y")
def dist(xp: Namespace, a: Array, b: Array, p: float = 2) -> Array:
    d = a - b
    return dropped(xp, norm_of(xp, d, p, None), d, None, False)


def between_rows(xp: Namespace, a: Array, b: Array) -> Array:
    """Return every row of ``a`` minus every row of ``b``, an array of shape (..., rows
    of a, rows of b, columns)."""
    for name, m in (("X1", a), ("X2", b)):
        demand_rank(f"cdist: {name}", m, 2)
    refuse(a.shape[-1] != b.shape[-1], "X1 and X2 must have the same number of "
           "columns. X1: {} X2: {}", a.shape[-1], b.shape[-1])
    batch = broadcast_shape(a.shape[:-2], b.shape[:-2])
    shape = (*batch, a.shape[-2], b.shape[-2], a.shape[-1])
    return (xp.expand(xp.unsqueeze(a, -2), shape)
            - xp.expand(xp.unsqueeze(b, -3), shape))


def row_norms(xp: Namespace, d: Array, p: float) -> Array:
    """Return the norms along the last dimension, which is kept. For order 0 a NaN makes
    the norm NaN, whereas `norm_of` counts it as an entry that is not 0."""
    refuse(p < 0, "cdist only supports non-negative p values", kind=ValueRangeError)
    if not d.shape[-1]:
        return xp.sum(d, -1, True)
    if p == 0 and not xp.symbolic:
        count = xp.as_type_of(xp.ne(d, 0), d)
        return xp.sum(xp.where(xp.isnan(d), d, count), -1, True)
    return norm_of(xp, d, p, -1)


def row_slopes(xp: Namespace, d: Array, y: Array, p: float) -> Array:
    """Return the slopes of the norms ``y`` of rows of differences."""
    return slope_of(xp, d, xp.unsqueeze(y, -1), p, -1)


def arriving(xp: Namespace, g: Array, y: Array, p: float) -> Array:
    """Return the cotangent of distances with a last dimension of size 1; it is 0 where
    the distance is 0, unless ``p`` is 0, 1 or infinity."""
    g = xp.unsqueeze(g, -1)
    none = xp.eq(xp.unsqueeze(y, -1), 0)
    return g if p in (0, 1, INFINITY) else xp.where(none, 0, g)


def by_rows(xp: Namespace, run: ArrayRule, rows: tuple[Array, ...], b: Array) -> Array:
    """Return ``run(*rows)``, run on a few rows at a time if all operands are matrices;
    each row is combined with all of ``b``."""
    if {len(each.shape) for each in (*rows, b)} != {2}:
        return run(*rows)
    return xp.in_parts(run, rows, prod(b.shape))


def distances_pull(xp: Namespace, g: Array, y: Array, a: Array, b: Array, p: float
                   ) -> Array:
    """Return the cotangent of ``a``; for that of ``b``, exchange a and b and transpose
    ``g`` and ``y``."""
    def run(a: Array, g: Array, y: Array) -> Array:
        d = between_rows(xp, a, b)
        return xp.sum(arriving(xp, g, y, p) * row_slopes(xp, d, y, p), -2)
    return sum_to(xp, by_rows(xp, run, (a, g, y), b), a.shape)


of_wide("cdist.default", formula="norm(x1[i] - x2[j], p)",
    rule=Rule("CdistBackwardBackward0", (0, 1, RESULT), gives=(0,), passes=True),
    memory=PACKED,
    doc="The distance of every row of one matrix from every row of another.",
    kink="at distance 0 the derivative is 0; entries tied for an infinity norm share "
         "the cotangent evenly", one_type=True,
    fwd=lambda xp, x1, x2, p=2.0: by_rows(xp, lambda rows: xp.squeeze(
        row_norms(xp, between_rows(xp, rows, x2), p), -1), (x1,), x2),
    vjp=(lambda xp, g, y, x1, x2, p=2.0: distances_pull(xp, g, y, x1, x2, p),
         lambda xp, g, y, x1, x2, p=2.0: distances_pull(
             xp, xp.transpose(g, -2, -1), xp.transpose(y, -2, -1), x2, x1, p)),
    cases=[case((3, 2), (4, 2)), case((2, 3), (2, 3), p=1.0),
           case((2, 3, 2), (4, 2), p=3.0), case((1, 2), (3, 2), p=0.0),
           case((3, 2), (2, 2), p=INFINITY, make="distinct")], saves="x1 x2 y")

function("cdist", lambda call, x1, x2, p=2.0, compute_mode=None:
         call("cdist.default", x1, x2, p), operands=("x1", "x2"))


# slices shortened to a bound

ROOM = 1e-7
"""Number that PyTorch adds to a norm before it divides by the sum."""


def shortened_pull(xp: Namespace, g: Array, x: Array, p: float, dim: int, maxnorm: float
                  ) -> Array:
    norm, over = slice_norms(xp, x, p, dim, maxnorm)
    slope, inverse = slope_of(xp, x, norm, p, over), 1 / (norm + ROOM)
    turned = g - inverse * xp.sum(x * g, over, True) * slope
    return xp.where(xp.gt(norm, maxnorm), maxnorm * inverse * turned, g)


def slice_norms(xp: Namespace, x: Array, p: float, dim: int, maxnorm: float
               ) -> tuple[Array, tuple[int, ...]]:
    """Return the norms of slices along ``dim``, and the dimensions within a slice."""
    demand_rank("renorm", x, 2)
    refuse(p <= 0 or maxnorm < 0, "renorm: expected p > 0 and maxnorm >= 0, but got "
           "{:g} and {:g}", p, maxnorm, kind=ValueRangeError)
    over = tuple({*range(len(x.shape))} - {dim_of(x.shape, dim)})
    return norm_of(xp, x, p, over), over


@of_floats("renorm", wide=True, memory=PACKED,
    doc="Slices along a dimension whose norm is larger than a bound, shortened to it.",
    formula="x[i]*min(1, maxnorm/norm(x[i], p))",
    kink="where a norm is the bound itself, the slice counts as within it",
    vjp=(lambda xp, g, y, x, **how: shortened_pull(xp, g, x, **how),),
    cases=[case((3, 4), p=2, dim=0, maxnorm=1.0),
           case((3, 4), p=1, dim=1, maxnorm=2.0),
           case((2, 3, 2), p=3, dim=-1, maxnorm=1.5)], saves="x", in_place=True)
def shortened(xp: Namespace, x: Array, p: float, dim: int, maxnorm: float) -> Array:
    norm, _ = slice_norms(xp, x, p, dim, maxnorm)
    return xp.where(xp.gt(norm, maxnorm), x * (maxnorm / (norm + ROOM)), x)
