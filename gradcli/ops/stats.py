"""Variances, covariances, medians, modes, counts, sorting, quantiles, differences.

Invariant: a variance is computed from the entries minus their mean, never as a
difference of large sums. Equal entries keep their order when they are sorted, in either
direction; NaN counts as the largest. Quantiles, covariances and differences have the
nodes of PyTorch's own computation, in its order.

    var(x, 0)                           # VarBackward0, divided by n - 1
    values, indices = sort(x, descending=True)
    trapezoid([1, 5, 2], [0, 1, 3])     # (1 + 5)/2 * 1 + (5 + 2)/2 * 2 = 10
"""

from __future__ import annotations

from functools import partial
from math import prod

from .checks import (
    EngineError,
    ShapeError,
    ValueRangeError,
    count_of,
    demand_rank,
    dim_of,
    dims_of,
    holds,
    real_dim,
    refuse,
)
from .op import (
    KEPT,
    PACKED,
    TRUTH,
    TRUTHS,
    Formula,
    case,
    function,
    of_floats,
    of_numbers,
    row,
)
from .reduce import (
    BY_CHOICE,
    BY_POSITION,
    FIRST,
    added,
    chosen,
    dropped,
    in_shares,
    inner,
    keepdims,
    outer,
    recurrence,
    size_over,
    spread,
)
from .types import Array, ArrayRule, Caller, Dims, Namespace, Result

# fmt: off

FAMILY = "stats"


# variance and standard deviation


def centred(xp: Namespace, x: Array, dim: Dims) -> Array:
    """Return ``x`` minus its mean over ``dim``."""
    return x - xp.sum(x, dims_of(x.shape, dim), True) / size_over(x, dim)


def over(total: Array, x: Array, dim: Dims, correction: float) -> Array:
    """Return ``total``, a sum of squares, divided by ``size - correction``; 0 / 0 is
    NaN in every number system, and without entries the divisor is 0."""
    count = size_over(x, dim)
    degrees = max(count - correction, 0) if count else 0
    return total / degrees if degrees else total * float("inf")


def from_first(xp: Namespace, x: Array, dim: Dims) -> Array:
    """Return ``x`` minus its first entry over ``dim``, so that the variance of equal
    entries is exactly 0, although their mean may be rounded."""
    dims = dims_of(x.shape, dim)
    if xp.symbolic or not x.shape or 0 in x.shape:
        return x
    first = tuple([slice(0, 1) if d in dims else slice(None)
                   for d in range(len(x.shape))])
    return x - xp.getitem(x, first)


def per_deviation(xp: Namespace, g: Array, y: Array) -> Array:
    """Return ``g / (2*y)``, the rule of a square root ``y``; it is 0 where ``y`` is 0,
    even if ``g`` is infinite."""
    none = xp.eq(y, 0)
    return xp.where(none, 0, g * (0.5 / xp.where(none, 1, y)))


VARIANCES = [case((3, 4)), case((3, 4), dim=0), case((5,), dim=-1, keepdim=True),
             case((2, 3, 4), dim=(0, 2), correction=0), case((4,), correction=2),
             case((2, 3), dim=1, correction=0, keepdim=True)]

# PyTorch's derivatives.yaml, var.correction and std.correction.
def measure(name: str, root: bool, words: str, formula: str, kink: str = "") -> None:
    """Enter a row for the variance, or its root, and one that returns the mean too."""
    def pulled(xp: Namespace, g: Array, y: Array, x: Array, dim: Dims = None,
               correction: float = 1, keepdim: bool = False) -> Array:
        g = per_deviation(xp, g, y) if root else g
        slope = over(2 * centred(xp, x, dim), x, dim, correction)
        return keepdims(xp, g, x, dim, keepdim) * slope

    @of_floats(f"{name}.correction", cases=VARIANCES, formula=formula, kink=kink,
        vjp=(pulled,), saves="x y" if root else None)
    def value(xp: Namespace, x: Array, dim: Dims = None, correction: float = 1,
              keepdim: bool = False) -> Array:
        # A number subtracted from all entries does not change the variance.
        squares = xp.square(centred(xp, from_first(xp, x, dim), dim))
        total = xp.sum(squares, dims_of(x.shape, dim), keepdim)
        found = over(total, x, dim, correction)
        return xp.sqrt(found) if root else found

    of_floats(f"{name}_mean.correction", returns=2, carries=2, cases=VARIANCES,
        doc=f"{words} and mean.", formula=f"{name}(x), mean(x)", kink=kink,
        fwd=lambda xp, x, dim=None, correction=1, keepdim=False: (
            value(xp, x, dim, correction, keepdim),
            xp.sum(x, dims_of(x.shape, dim), keepdim) / size_over(x, dim)),
        vjp=(lambda xp, g, y, x, dim=None, correction=1, keepdim=False: added(
            g[0] is not None and pulled(xp, g[0], y[0], x, dim, correction, keepdim),
            g[1] is not None and spread(xp, g[1] / size_over(x, dim), x, dim, keepdim)),
             ), saves="x y.0" if root else None)


measure("var", False, "Variance", formula="sum((x - mean(x))**2) / (n - 1)")
measure("std", True, "Standard deviation", formula="sqrt(var(x))",
        kink="the derivative is 0 where all entries are equal")


def spread_measure(name: str, doc: str = "", also: tuple[str, ...] = ()) -> None:
    """Enter a public function with PyTorch's two spellings of the divisor: a number as
    ``correction``, or ``unbiased``, which may also be given instead of ``dim``."""

    @function(name, doc=doc, also=also)
    def build(call: Caller, x: Array, dim: Dims = None, unbiased: bool = True,
              keepdim: bool = False, correction: float | None = None) -> Array:
        if isinstance(dim, bool):
            unbiased, dim = dim, None
        if correction is None and unbiased and dim is None:
            return call(f"{name}.correction", x, keepdim=keepdim)
        taken = int(unbiased) if correction is None else correction
        return call(f"{name}.correction", x, dim, taken, keepdim)


spread_measure("var", "Variance, by n - 1 unless asked otherwise.", ("variance",))
spread_measure("std", "Standard deviation, by n - 1 unless asked otherwise.",
               ("stddev",))
spread_measure("var_mean")
spread_measure("std_mean")

# medians: of two middle entries the lower one


def middle(xp: Namespace, x: Array, dim: int) -> Array:
    """Return the position of the lower median along ``dim``, or of the first NaN."""
    at = xp.narrow(xp.argsort(x, dim), dim, (x.shape[dim] - 1) // 2, 1)
    absent = xp.isnan(x)
    return xp.where(xp.any(absent, dim, True), xp.argmax(absent, dim, True), at)


def present_middle(xp: Namespace, x: Array, dim: int) -> Array:
    """Return the position of the lower median of the entries that are not NaN."""
    count = xp.sum(xp.as_type_of(xp.logical_not(xp.isnan(x)), x), dim, True)
    middle_rank = xp.as_index(xp.floor(xp.maximum(count - 1, 0) / 2))
    return xp.gather(xp.argsort(x, dim), dim, middle_rank)


def median(name: str, find: ArrayRule, doc: str) -> None:
    @of_numbers(f"{name}.default", formula=f"{name}(x)", **in_shares(),
        cases=[case((3, 4), make="distinct"), case((5,), make="distinct"), case(())])
    def of_all(xp: Namespace, x: Array) -> Array:
        if 0 in x.shape:
            return xp.new_full(x, (), float("nan"))
        flat = xp.reshape(x, (count_of(x.shape),))
        return dropped(xp, xp.gather(flat, 0, find(xp, flat, 0)), flat, 0, False)

    of_numbers(f"{name}.dim", node=f"{name.title()}Backward1", kink=FIRST, **BY_CHOICE,
        formula=f"{name}(x, dim)",
        fwd=lambda xp, x, dim, keepdim=False:
            chosen(xp, "median", x, find, dim, keepdim),
        cases=[case((3, 4), dim=0, make="distinct"), case((), dim=0),
               case((3, 4), dim=-1, keepdim=True, make="distinct")])

    function(name, lambda call, x, dim=None, keepdim=False:
             call(f"{name}.default", x) if dim is None
             else call(f"{name}.dim", x, dim, keepdim),
             doc=f"{doc}; with dim also its index.", formula=f"{name}(x, dim)")


median("median", middle, "The lower median")
median("nanmedian", present_middle, "The lower median of what is not NaN")

# the most frequent entry


def most_frequent(xp: Namespace, x: Array, dim: int) -> Array:
    """Return the position of the most frequent entry, the smallest of several: that of
    the last entry of its run in sorted order."""
    order = xp.argsort(x, dim)
    ordered = xp.gather(x, dim, order)
    same = xp.as_type_of(xp.eq(inner(xp, ordered, dim), outer(xp, ordered, dim)), x)
    lengths = recurrence(xp, 1.0 * same, 1.0 * xp.ones_like(x), dim)
    return xp.gather(order, dim, xp.argmax(lengths, dim, True))


row("mode", formula="mode(x, dim)", **BY_CHOICE,
    kink="of equal entries the last carries the gradient",
    doc="The most frequent entry along a dimension, and its last index; the "
        "smallest of several.", fwd=lambda xp, x, dim=-1, keepdim=False:
                                    chosen(xp, "mode", x, most_frequent, dim, keepdim),
    cases=[case((3, 4), make="distinct"), case((3, 4), dim=0, make="distinct"),
           case((2, 3, 2), dim=1, keepdim=True, make="distinct"), case(())])

# tests and counts, which have no gradient


def question(name: str, doc: str) -> None:
    row(name, formula=f"{name}(x, dim)", doc=doc, result=TRUTH,
        fwd=lambda xp, x, dim=None, keepdim=False:
            getattr(xp, name)(x, dims_of(x.shape, dim), keepdim),
        cases=[case((3, 4)), case((3, 4), dim=-1, keepdim=True)])


question("all", "Whether all entries are true.")
question("any", "Whether some entry is true.")

row("count_nonzero", formula="number of x != 0", doc="How many entries are not 0.",
    fwd=lambda xp, x, dim=None, keepdim=False:
        xp.sum(xp.ne(x, 0), dims_of(x.shape, dim), keepdim),
    cases=[case((3, 4)), case((3, 4), dim=(0, 1)), case((3, 4), dim=-1)])


# sorting and the k largest entries

FAMILY = "order"


Pair = tuple[Array, Array]


def ranked(xp: Namespace, x: Array, dim: int, descending: bool) -> Array:
    """Return the positions that sort the entries along a dimension."""
    d = dim_of(x.shape, dim)
    return xp.argsort(x, d, descending) if x.shape else xp.as_index(0)


def read(xp: Namespace, x: Array, dim: int, at: Array) -> Pair:
    return xp.gather(x, dim, at), at


def _sorting(name: str, node: str) -> None:
    row(name, node=node, memory=KEPT, **BY_POSITION,
        fwd=lambda xp, x, dim=-1, descending=False:
        read(xp, x, dim, ranked(xp, x, dim, descending)),
        doc="Entries in order along a dimension, and where they came from.",
        formula="y[i] = x[indices[i]]",
        cases=[case((3, 4), make="distinct"), case((3, 4), dim=0, make="distinct"),
               case((5,), descending=True, make="distinct"), case(())])


_sorting("sort.default", "SortBackward0")
_sorting("sort.stable", "SortBackward1")


@of_numbers("topk", **BY_POSITION, memory=PACKED,
    doc="The k largest, or smallest, entries of a dimension, and their indices.",
    formula="y[i] = x[indices[i]]",
    cases=[case((3, 4), k=2, make="distinct"),
           case((3, 4), k=2, dim=0, largest=False, make="distinct"),
           case((5,), k=5, make="distinct")])
def _topk(xp: Namespace, x: Array, k: int, dim: int = -1, largest: bool = True,
          sorted: bool = True) -> Pair:
    d = dim_of(x.shape, dim)
    if not 0 <= k <= (x.shape[d] if x.shape else 1):
        raise ShapeError("selected index k out of range")
    order = ranked(xp, x, dim, largest)
    return read(xp, x, dim, xp.narrow(order, d, 0, k) if x.shape else order)


row("argsort", doc="The positions of the entries in order.", formula="indices",
    memory=KEPT,
    fwd=lambda xp, x, dim=-1, descending=False, stable=False:
    ranked(xp, x, dim, descending),
    cases=[case((3, 4), make="distinct"), case((3, 4), dim=0, descending=True)])


@function("sort", operands=("x",))
def _sort_any(
    call: Caller, x: Array, dim: int = -1, descending: bool = False,
    *, stable: bool | None = None,
) -> Result:
    name = "sort.default" if stable is None else "sort.stable"
    return call(name, x, dim, descending)


# quantiles: interpolations between two neighbours of the sorted entries

FAMILY = "quantile"


MODES = ("linear", "lower", "higher", "midpoint", "nearest")
ROUNDINGS = {"lower": "floor", "higher": "ceil", "nearest": "round"}
ORDER = "one result per entry of q: the entry of rank q*(n - 1), between two of them"


def fractions_of(call: Caller, name: str, x: Array, q: Array) -> Array:
    """Return ``q`` as a tensor like ``x``; raise unless all of it is in [0, 1]."""
    if isinstance(q, int | float):
        refuse(not 0 <= q <= 1, "{}() q must be in the range [0, 1] but got {}", name,
               q, kind=ValueRangeError)
        return call("new_full", x, (), q)
    if isinstance(q, list | tuple):
        q = call("as_type_of", q, x)
    demand_rank(f"{name}: q", q, 0, 1)
    inside = call("logical_and", call("ge", q, 0), call("le", q, 1))
    if not bool(call("all", inside)):
        raise ValueRangeError(f"{name}() q values must be in the range [0, 1]")
    return q


def in_order(call: Caller, x: Array, dim: int | None) -> Array:
    """Return ``x`` sorted along ``dim``, which becomes the last dimension; for None it
    is flattened first."""
    if dim is None:
        x = call("flatten", x)
    elif dim != x.ndim - 1:
        x = call("transpose", call("unsqueeze", x, -1), dim, -1)
    return call("sort.default", x, -1)[0]


def left_shape(x: Array, dim: int | None, keepdim: bool) -> tuple[int, ...]:
    """Return the shape of the result for one entry of ``q``."""
    if dim is None:
        return (1,) * x.ndim if keepdim else ()
    kept = (1,) if keepdim and x.shape else ()
    return (*x.shape[:dim], *kept, *x.shape[dim + 1:])


def ranks_of(call: Caller, ordered: Array, q: Array, skips_nan: bool) -> Array:
    """Return the quantiles' ranks, which may be fractions, along the last dimension; a
    line with a NaN has the last rank, where the NaN is, unless NaNs are skipped."""
    absent = call("isnan", ordered)
    if skips_nan:
        present = call("sum", call("as_type_of", call("logical_not", absent), ordered),
                       -1, True)
        ranks = call("mul", q, call("sub", present, 1))
        return call("masked_fill", ranks, call("lt", ranks, 0), 0)
    last = ordered.shape[-1] - 1
    some = call("any", absent, -1, True)
    shape = (*ordered.shape[:-1], prod(q.shape))
    ranks = call("expand", call("mul.Scalar", q, last), shape)
    return call("masked_fill", ranks, call("expand", some, shape), last)


def read_at(call: Caller, ordered: Array, ranks: Array) -> Array:
    return call("gather", ordered, -1, call("as_index", ranks))


# Hyndman, Fan 1996, doi:10.2307/2684934: linear is definition 7.
def interpolated(call: Caller, ordered: Array, ranks: Array, mode: str) -> Array:
    if mode in ROUNDINGS:
        return read_at(call, ordered, call(ROUNDINGS[mode], call("detach", ranks)))
    below = call("floor", call("detach", ranks))
    above = call("ceil", call("detach", ranks))
    weights = (call("full_like", below, 0.5) if mode == "midpoint"
               else call("sub", ranks, below))
    low, high = (read_at(call, ordered, ranks) for ranks in (below, above))
    return call("lerp", low, high, weights)


def quantile_of(name: str, skips_nan: bool) -> Formula:
    def quantile(call: Caller, x: Array, q: Array, dim: int | None = None,
                 keepdim: bool = False, *, interpolation: str = "linear") -> Array:
        refuse(interpolation not in MODES, "{}() interpolation must be one of linear, "
               "lower, higher, midpoint or nearest, but got {}", name, interpolation,
               kind=ValueRangeError)
        refuse(0 in x.shape, "{}() input tensor must be non-empty", name)
        d = None if dim is None else dim_of(x.shape, dim)
        fractions = fractions_of(call, name, x, q)
        ordered = in_order(call, x, d)
        shape = (prod(fractions.shape), *left_shape(x, d, keepdim))
        ordered = call("view", ordered, (*shape[1:], ordered.shape[-1]))
        ranks = ranks_of(call, ordered, fractions, skips_nan)
        values = interpolated(call, ordered, ranks, interpolation)
        if fractions.shape:
            values = call("unsqueeze_.inside", values, 0)
            values = call("transpose_.inside", values, 0, -1)
        return call("squeeze_.dim", values, -1)

    return quantile


for _name, _skips, _doc in (
    ("quantile", False, "The q-th quantiles of all entries, or along a dimension."),
    ("nanquantile", True, "The q-th quantiles of what is not NaN."),
):
    function(_name, quantile_of(_name, _skips), operands=("x",), either="q", doc=_doc,
             formula=ORDER, kink="the derivative is that of the entries met",
             cases=[case((3, 4), q=0.3, make="distinct"),
                    case((3, 4), q=0.6, dim=0, keepdim=True, make="distinct"),
                    case((5,), q=0.5, interpolation="midpoint", make="distinct"),
                    case((2, 5), q=0.6, dim=-1, interpolation="lower",
                         make="distinct")])


# covariances of variables, which are rows; columns are observations

FAMILY = "covariance"


def observations(call: Caller, name: str, x: Array) -> Array:
    demand_rank(name, x, 0, 2)
    return x if len(x.shape) == 2 else call("view", x, (1, count_of(x.shape)))


@function("cov", operands=("x",),
          formula="(x - mean(x)) @ (x - mean(x)).T / (n - correction)",
          doc="The covariances of variables, whose observations are columns.",
          also=("covariance",),
          cases=[case((3, 4)), case((4,)), case((2, 3), correction=0)])
def cov(call: Caller, x: Array, *, correction: int = 1) -> Array:
    if holds("b", x):
        raise EngineError("cov(): bool dtype is not supported for input")
    x = observations(call, "cov", x)
    count = call("new_full", call("detach", x), (), x.shape[1])
    x = x - call("unsqueeze", call("sum", x, 1) / count, 1)
    divisor = call("clamp_min", count - correction, 0)
    return call("squeeze", call("mm", x, call("t", x)) / divisor)


@function("corrcoef", operands=("x",),
          formula="cov(x)[i, j] / sqrt(cov(x)[i, i]*cov(x)[j, j])",
          doc="The correlations of variables, whose observations are columns.",
          kink="of a variable that is constant they are NaN", also=("correlation",),
          cases=[case((3, 4)), case((2, 3))])
def corrcoef(call: Caller, x: Array) -> Array:
    if len(x.shape) > 2:
        observations(call, "corrcoef", x)
    c = cov(call, x)
    if not c.shape:
        return c / c
    spread = call("sqrt", call("diagonal", c))
    c = c / call("view", spread, (spread.shape[0], 1))
    return call("clamp", c / call("view", spread, (1, spread.shape[0])), -1, 1)

# differences of neighbours, and the area under points

FAMILY = "differences"


def sides(call: Caller, x: Array, dim: int) -> tuple[Array, Array]:
    """Return all entries of a dimension but the last, and all but the first."""
    return call("slice.Tensor", x, dim, 0, -1), call("slice.Tensor", x, dim, 1)


def gaps(call: Caller, x: Array, dim: int) -> Array:
    left, right = sides(call, x, dim)
    return right - left


def changes(call: Caller, x: Array, dim: int) -> Array:
    """Return the differences of neighbours; for bools, whether neighbours differ."""
    if not holds(TRUTHS, x):
        return gaps(call, x, dim)
    left, right = sides(call, x, dim)
    return call("logical_xor", right, left)


@function("diff", operands=("x", "prepend", "append"), formula="x[i + 1] - x[i]",
          doc="Differences of neighbours along a dimension, n times; of truth values, "
              "whether neighbours differ.",
          cases=[case((4, 3)), case((4, 3), n=2, dim=0), case((3,), n=5)])
def _diff(
    call: Caller, x: Array, n: int = 1, dim: int = -1, prepend: Array | None = None,
    append: Array | None = None,
) -> Array:
    refuse(not x.shape, "diff expects input to be at least one-dimensional")
    refuse(n < 0, "order must be non-negative but got {}", n)
    if n == 0:
        return call("copy_.default", call("zeros_like", x), x)
    d = dim_of(x.shape, dim)
    beside = [t for t in (prepend, x, append) if t is not None]
    if len(beside) > 1:
        x = call("cat", beside, d)
    for _ in range(min(n, x.shape[d])):
        x = changes(call, x, d)
    return x


def abscissas(call: Caller, name: str, x: Array, y: Array, dim: int) -> Array:
    """Return ``x`` with as many dimensions as ``y``; a vector is put along ``dim``."""
    if len(x.shape) == 1:
        refuse(x.shape[0] != y.shape[dim],
               "{}: There must be one `x` value for each sample point", name)
        lone = [1] * len(y.shape)
        lone[dim] = x.shape[0]
        return call("view", x, tuple(lone))
    missing = len(y.shape) - len(x.shape)
    return call("view", x, (*[1] * missing, *x.shape)) if missing > 0 else x


@function("trapezoid", operands=("y", "x"), aliases=("trapz",),
          formula="sum((y[i] + y[i + 1])/2 * (x[i + 1] - x[i]))",
          doc="The area under points along a dimension, dx or x apart.",
          cases=[case((3, 4)), case((3, 4), dim=0, dx=0.5), case((1,))])
def _trapezoid(
    call: Caller, y: Array, x: Array | None = None, dx: float = 1, dim: int = -1
) -> Array:
    d = real_dim(y.shape, dim)
    if not y.shape[d]:
        return call("zeros_like", call("sum", y, d))
    if x is None:
        ends = call("select", y, d, 0) + call("select", y, d, -1)
        inner = call("sum", y, d) - call("mul.Scalar", ends, 0.5)
        return call("mul.Scalar", inner, dx)
    left, right = sides(call, y, d)
    areas = (left + right) * gaps(call, abscissas(call, "trapezoid", x, y, d), d)
    return call("div.Scalar", call("sum", areas, d), 2)


@function("cumulative_trapezoid", operands=("y", "x"),
          formula="sum((y[i] + y[i + 1])/2 * (x[i + 1] - x[i])) up to each point",
          doc="The areas under points up to each one, along a dimension.",
          cases=[case((3, 4)), case((3, 4), dim=0, dx=0.5)])
def _cumulative_trapezoid(
    call: Caller, y: Array, x: Array | None = None, dx: float = 1, dim: int = -1
) -> Array:
    d = real_dim(y.shape, dim)
    left, right = sides(call, y, d)
    heights = left + right
    if x is None:
        return call("cumsum", call("mul.Scalar", heights, dx / 2), d)
    widths = gaps(call, abscissas(call, "cumulative_trapezoid", x, y, d), d)
    return call("div.Scalar", call("cumsum", heights * widths, d), 2)


# -- slopes between points of a grid --------------------------------------------------


@function("gradient", operands=("x",), formula="(x[i + 1] - x[i - 1])/(2*spacing)",
          doc="Slopes between points of an even grid, along each dimension.",
          cases=[case((4, 3)), case((4,), spacing=0.5)])
def _gradient(call: Caller, x: Array, *, spacing: float | list[float] | None = None,
              dim: Dims = None) -> tuple[Array, ...]:
    dims = dims_of(x.shape, dim)
    for d in dims:
        refuse(x.shape[d] < 2, "torch.gradient expected each dimension size to be at "
               "least edge_order+1")
    given = 1 if spacing is None else spacing
    each = given if isinstance(given, list | tuple) else [given] * len(dims)
    if len(each) != len(dims):
        raise ShapeError(f"torch.gradient: {len(each)} spacings for {len(dims)} "
                         "dimensions")

    def slopes(gap: float, d: int) -> Array:
        part: ArrayRule = partial(call, "slice.Tensor", x, d)
        inner = call("div.Scalar", call("div.Scalar", part(2) - part(0, -2), gap), 2)
        ends = [call("div.Scalar", difference, gap) for difference in (
            part(1, 2) - part(0, 1), part(-1) - part(-2, -1))]
        return call("cat", [ends[0], inner, ends[1]], d)

    return tuple([slopes(*pair) for pair in zip(each, dims, strict=True)])
