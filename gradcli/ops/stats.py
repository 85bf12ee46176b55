"""Variances, standard deviations, medians and modes; all, any and counts.

Invariant: a variance is computed from the entries minus their mean, never as a
difference of large sums.

    var(x, 0)                 # VarBackward0, divided by n - 1
    std(x, unbiased=False)    # StdBackward0, divided by n
"""

from __future__ import annotations

from .checks import count_of, dims_of
from .op import TRUTH, case, function, of_floats, of_numbers, row
from .reduce import (
    BY_CHOICE,
    FIRST,
    added,
    chosen,
    dropped,
    in_shares,
    kept,
    size_over,
    spread,
)
from .scan import inner, outer, recurrence
from .types import Array, ArrayRule, Call, Dims, Namespace

# fmt: off

# variance and standard deviation


def centred(xp: Namespace, x: Array, dim: Dims) -> Array:
    """Return ``x`` minus its mean over ``dim``."""
    return x - xp.sum(x, dims_of(x.shape, dim), True) / size_over(x, dim)


def degrees(x: Array, dim: Dims, correction: float) -> float:
    """Return the divisor of the sum of squares; for no entries it is always 0."""
    count = size_over(x, dim)
    return max(count - correction, 0) if count else 0


def over(total: Array, count: float) -> Array:
    """Return ``total / count``, where 0 / 0 is NaN in every number system."""
    return total / count if count else total * float("inf")


def from_first(xp: Namespace, x: Array, dim: Dims) -> Array:
    """Return ``x`` minus its first entry over ``dim``, so that the variance of equal
    entries is exactly 0, although their mean may be rounded."""
    dims = dims_of(x.shape, dim)
    if xp.symbolic or not x.shape or 0 in x.shape:
        return x
    first = tuple([slice(0, 1) if d in dims else slice(None)
                   for d in range(len(x.shape))])
    return x - xp.getitem(x, first)


def variance(xp: Namespace, x: Array, dim: Dims, correction: float, keepdim: bool
            ) -> Array:
    squares = xp.square(centred(xp, x, dim))
    total = xp.sum(squares, dims_of(x.shape, dim), keepdim)
    return over(total, degrees(x, dim, correction))


def per_deviation(xp: Namespace, g: Array, y: Array) -> Array:
    """Return ``g / (2*y)``, the rule of a square root ``y``; it is 0 where ``y`` is 0,
    even if ``g`` is infinite."""
    none = xp.eq(y, 0)
    return xp.where(none, 0, g * (0.5 / xp.where(none, 1, y)))


def drift(xp: Namespace, t: Array, x: Array, dim: Dims, correction: float, keepdim: bool
         ) -> Array:
    """Return the tangent of the variance: twice the covariance of ``x`` and ``t``."""
    products = centred(xp, x, dim) * centred(xp, t, dim)
    total = 2 * xp.sum(products, dims_of(x.shape, dim), keepdim)
    return over(total, degrees(x, dim, correction))


def mean_over(xp: Namespace, x: Array, dim: Dims, keepdim: bool) -> Array:
    return xp.sum(x, dims_of(x.shape, dim), keepdim) / size_over(x, dim)


VARIANCES = [case((3, 4)), case((3, 4), dim=0), case((5,), dim=-1, keepdim=True),
             case((2, 3, 4), dim=(0, 2), correction=0), case((4,), correction=2),
             case((2, 3), dim=1, correction=0, keepdim=True)]

# PyTorch's derivatives.yaml, var.correction and std.correction.
def measure(name: str, node: str, root: bool, words: str, formula: str,
            kink: str = "") -> None:
    """Enter a row for the variance, or its root, and one that returns the mean too."""

    def pulled(xp: Namespace, g: Array, y: Array, x: Array, dim: Dims = None,
               correction: float = 1, keepdim: bool = False) -> Array:
        g = per_deviation(xp, g, y) if root else g
        slope = over(2 * centred(xp, x, dim), degrees(x, dim, correction))
        return kept(xp, g, x, dim, keepdim) * slope

    def moved(xp: Namespace, t: Array, y: Array, x: Array, dim: Dims = None,
              correction: float = 1, keepdim: bool = False) -> Array:
        found = drift(xp, t, x, dim, correction, keepdim)
        return per_deviation(xp, found, y) if root else found

    @of_floats(f"{name}.correction", node=f"{node}Backward0", cases=VARIANCES,
        formula=formula, kink=kink, vjp=(pulled,),
        jvp=lambda xp, t, y, x, **over: moved(xp, t[0], y, x, **over),
        saves="x y" if root else None)
    def value(xp: Namespace, x: Array, dim: Dims = None, correction: float = 1,
              keepdim: bool = False) -> Array:
        # A number subtracted from all entries does not change the variance.
        found = variance(xp, from_first(xp, x, dim), dim, correction, keepdim)
        return xp.sqrt(found) if root else found

    of_floats(f"{name}_mean.correction", node=f"{node}MeanBackward0", returns=2,
        carries=2, doc=f"{words} and mean.", cases=VARIANCES,
        formula=f"{name}(x), mean(x)", kink=kink,
        fwd=lambda xp, x, dim=None, correction=1, keepdim=False: (
            value(xp, x, dim, correction, keepdim), mean_over(xp, x, dim, keepdim)),
        vjp=(lambda xp, g, y, x, dim=None, correction=1, keepdim=False: added(
            g[0] is not None and pulled(xp, g[0], y[0], x, dim, correction, keepdim),
            g[1] is not None and spread(xp, g[1] / size_over(x, dim), x, dim, keepdim)),
             ),
        jvp=lambda xp, t, y, x, dim=None, correction=1, keepdim=False: (
            moved(xp, t[0], y[0], x, dim, correction, keepdim),
            mean_over(xp, t[0], dim, keepdim)),
        saves="x y.0" if root else None)


measure("var", "Var", False, "Variance", formula="sum((x - mean(x))**2) / (n - 1)")
measure("std", "Std", True, "Standard deviation", formula="sqrt(var(x))",
        kink="the derivative is 0 where all entries are equal")


def spread_measure(name: str, doc: str = "", also: tuple[str, ...] = ()) -> None:
    """Enter a public function with PyTorch's two spellings of the divisor: a number as
    ``correction``, or ``unbiased``, which may also be given instead of ``dim``."""

    @function(name, doc=doc, also=also)
    def build(call: Call, x: Array, dim: Dims = None, unbiased: bool = True,
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


def median_of_all(xp: Namespace, find: ArrayRule, x: Array) -> Array:
    if 0 in x.shape:
        return xp.new_full(x, (), float("nan"))
    flat = xp.reshape(x, (count_of(x.shape),))
    return dropped(xp, xp.gather(flat, 0, find(xp, flat, 0)), flat, 0, False)


def median(name: str, node: str, find: ArrayRule, doc: str) -> None:
    of_numbers(f"{name}.default", node=f"{node}Backward0", formula=f"{name}(x)",
        **in_shares(),
        fwd=lambda xp, x: median_of_all(xp, find, x),
        cases=[case((3, 4), make="distinct"), case((5,), make="distinct"), case(())])

    of_numbers(f"{name}.dim", node=f"{node}Backward1", kink=FIRST, **BY_CHOICE,
        formula=f"{name}(x, dim)",
        fwd=lambda xp, x, dim, keepdim=False:
            chosen(xp, "median", x, find, dim, keepdim),
        cases=[case((3, 4), dim=0, make="distinct"), case((), dim=0),
               case((3, 4), dim=-1, keepdim=True, make="distinct")])

    function(name, lambda call, x, dim=None, keepdim=False:
             call(f"{name}.default", x) if dim is None
             else call(f"{name}.dim", x, dim, keepdim),
             doc=f"{doc}; with dim also where it stands.", formula=f"{name}(x, dim)")


median("median", "Median", middle, "The lower median")
median("nanmedian", "Nanmedian", present_middle, "The lower median of what is not NaN")

# the most frequent entry


def most_frequent(xp: Namespace, x: Array, dim: int) -> Array:
    """Return the position of the most frequent entry, the smallest of several: that of
    the last entry of its run in sorted order."""
    order = xp.argsort(x, dim)
    ordered = xp.gather(x, dim, order)
    same = xp.as_type_of(xp.eq(inner(xp, ordered, dim), outer(xp, ordered, dim)), x)
    lengths = recurrence(xp, 1.0 * same, 1.0 * xp.ones_like(x), dim)
    return xp.gather(order, dim, xp.argmax(lengths, dim, True))


row("mode", node="ModeBackward0", formula="mode(x, dim)", **BY_CHOICE,
    kink="of equal entries the last carries the gradient",
    doc="The most frequent entry along a dimension, and where it stands last; the "
        "smallest of several.",
    fwd=lambda xp, x, dim=-1, keepdim=False:
        chosen(xp, "mode", x, most_frequent, dim, keepdim),
    cases=[case((3, 4), make="distinct"), case((3, 4), dim=0, make="distinct"),
           case((2, 3, 2), dim=1, keepdim=True, make="distinct"), case(())])

# tests and counts, which have no gradient

row("all", formula="all(x, dim)", doc="Whether all entries are true.",
    result=TRUTH,
    fwd=lambda xp, x, dim=None, keepdim=False:
        xp.all(x, dims_of(x.shape, dim), keepdim),
    cases=[case((3, 4)), case((3, 4), dim=-1, keepdim=True)])

row("any", formula="any(x, dim)", doc="Whether some entry is true.",
    result=TRUTH,
    fwd=lambda xp, x, dim=None, keepdim=False:
        xp.any(x, dims_of(x.shape, dim), keepdim),
    cases=[case((3, 4)), case((3, 4), dim=-1, keepdim=True)])

row("count_nonzero", formula="number of x != 0", doc="How many entries are not 0.",
    fwd=lambda xp, x, dim=None, keepdim=False:
        xp.sum(xp.ne(x, 0), dims_of(x.shape, dim), keepdim),
    cases=[case((3, 4)), case((3, 4), dim=(0, 1)), case((3, 4), dim=-1)])
