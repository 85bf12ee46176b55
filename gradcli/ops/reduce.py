"""Cumulative operations along a dimension, and reductions over dimensions.

Invariant: sums and products in the rules of scans are linear recurrences ``s[i] =
a[i]*s[i-1] + b[i]``, computed in log2(n) steps without a division, so that they are
right for zeros, infinities and derivatives of any order. ``dim`` of a reduction is a
dimension, several, or None for all; ``keepdim`` keeps reduced dimensions with size 1.
Where PyTorch records one node for a reduction of all entries and another for one over
dimensions, each is a row of its own.

    cumsum(x, 0)    # CumsumBackward0
    sum(x, dim=1)   # SumBackward1
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal

from .checks import ArgumentError, count_of, dim_of, dims_of, reduced_shape, refuse
from .op import (
    LINEAR,
    PACKED,
    Formula,
    Rules,
    case,
    function,
    of_floats,
    of_numbers,
    row,
)
from .types import Array, ArrayRule, Caller, Dims, Namespace, Shape

# fmt: off

FAMILY = "scan"


def part(xp: Namespace, x: Array, dim: int, start: int, stop: int) -> Array:
    return xp.narrow(x, dim, start, stop - start)


# Hillis, Steele 1986, doi:10.1145/7902.7903, on pairs of a factor and a term: Blelloch
# 1990, Prefix sums and their applications, section 1.4.
def recurrence(xp: Namespace, a: Array, b: Array, dim: int) -> Array:
    """Return ``s[i] = a[i]*s[i-1] + b[i]``; ``a`` begins with ``a[1]``.

    It is computed by doubling: after the step of width k, ``b[i]`` holds the sum of the
    last 2k terms and ``a`` the factor over 2k positions.
    """
    n, k = b.shape[dim], 1
    while k < n:
        carried = part(xp, b, dim, k, n) + a * part(xp, b, dim, 0, n - k)
        b = xp.cat([part(xp, b, dim, 0, k), carried], dim)
        if 2 * k < n:
            a = part(xp, a, dim, k, n - k) * part(xp, a, dim, 0, n - 2 * k)
        k *= 2
    return b


def backwards(xp: Namespace, a: Array, b: Array, dim: int) -> Array:
    """Return ``s[i] = a[i]*s[i+1] + b[i]``; ``a`` has no entry for the last i."""
    return xp.flip(recurrence(xp, xp.flip(a, dim), xp.flip(b, dim), dim), dim)


def before(xp: Namespace, y: Array, dim: int, first: float) -> Array:
    """Return ``y`` with ``first`` put before its entries along a dimension."""
    edge = xp.new_full(y, (*y.shape[:dim], 1, *y.shape[dim + 1 :]), first)
    return xp.cat([edge, y], dim)


def inner(xp: Namespace, x: Array, dim: int) -> Array:
    """Return ``x`` without its first entry along a dimension."""
    return part(xp, x, dim, 1, x.shape[dim])


def outer(xp: Namespace, x: Array, dim: int) -> Array:
    """Return ``x`` without its last entry along a dimension."""
    return part(xp, x, dim, 0, x.shape[dim] - 1)


LINES = [case((3, 4), dim=0), case((3, 4), dim=-1), case((5,), dim=0),
         case((2, 3, 2), dim=1), case((1,), dim=0), case((), dim=0)]


def scan(name: str, *, fwd: ArrayRule, vjp: ArrayRule, **facts: Any) -> None:
    """Enter a row for a scan; its rules never see a negative ``dim`` or a scalar, which
    ``fwd`` is given as a line of one entry."""
    @row(name, cases=LINES, memory=PACKED, wide=True, **facts,
        vjp=(lambda xp, g, y, x, dim:
             vjp(xp, g, y, x, dim % x.ndim) if has_line(x, dim) else g,))
    def along(xp: Namespace, x: Array, dim: int) -> Array:
        d = dim_of(x.shape, dim)
        y = fwd(xp, x if x.shape else xp.reshape(x, (1,)), d)
        return y if x.shape else xp.reshape(y, ())


def has_line(x: Array, dim: int) -> bool:
    """Return whether ``x`` has entries and is no scalar; raise if it has no ``dim``."""
    dim_of(x.shape, dim)
    return bool(x.shape) and 0 not in x.shape


scan("cumsum", formula="y[i] = x[0] + ... + x[i]",
     doc="Running sum along a dimension.",
     fwd=lambda xp, x, dim: xp.cumsum(x, dim),
     vjp=lambda xp, g, y, x, dim: xp.flip(xp.cumsum(xp.flip(g, dim), dim), dim),
     jvp=LINEAR, in_place=True, casts=True, also=("cumulative_sum",))

scan("cumprod", formula="y[i] = x[0] * ... * x[i]", in_place=True,
    casts=True, saves="x y",
    doc="Running product along a dimension; exact where entries are 0.",
    fwd=lambda xp, x, dim: xp.cumprod(x, dim),
    vjp=lambda xp, g, y, x, dim: before(
        xp, outer(xp, y, dim), dim, 1) * backwards(xp, inner(xp, x, dim), g, dim))

BY_POSITION: Rules = {
    "vjp": (lambda xp, g, y, x, dim=-1, **how:
            xp.call("gather.backward", g, y[1], x.shape, dim),),
    "returns": 2,
    "saves": "y.1",
}
"""Rules of rows that return entries along a dimension, and their positions."""


# reductions

FAMILY = "reduce"


def spread(xp: Namespace, g: Array, x: Array, dim: Dims, keepdim: bool) -> Array:
    """Return a reduction's results repeated over the reduced dimensions of ``x``."""
    return xp.expand(keepdims(xp, g, x, dim, keepdim), x.shape)


def keepdims(xp: Namespace, y: Array, x: Array, dim: Dims, keepdim: bool) -> Array:
    """Return a reduction's result with its reduced dimensions, each of size 1."""
    if keepdim:
        return y
    if dim is None:
        return restored(xp, y, x.shape, dim)
    return unsqueezed(xp, y, dims_of(x.shape, dim))


def unsqueezed(xp: Namespace, x: Array, dims: Iterable[int]) -> Array:
    """Return ``x`` with new dimensions of size 1, numbered as in the result."""
    for d in sorted(dims):
        x = xp.unsqueeze(x, d)
    return x


def restored(xp: Namespace, y: Array, shape: Shape, dim: Dims) -> Array:
    """Return a reduction's result reshaped to have reduced dimensions of size 1."""
    return xp.reshape(y, reduced_shape(shape, dims_of(shape, dim)))


def added(*terms: Array | Literal[False]) -> Array:
    """Return the sum of the terms that are not False, which stands for an output with
    no cotangent: a term computed for a cotangent of 0 might be NaN."""
    found = [term for term in terms if term is not False]
    return sum(found[1:], found[0])


def dropped(xp: Namespace, y: Array, x: Array, dim: Dims, keepdim: bool) -> Array:
    """Return ``y``, which has the reduced dimensions; drop them unless ``keepdim``."""
    if keepdim:
        return y
    gone = dims_of(x.shape, dim)
    return xp.reshape(y, tuple([n for d, n in enumerate(x.shape) if d not in gone]))


def size_over(x: Array, dim: Dims) -> int:
    """Return how many entries of ``x`` are reduced to one entry of the result."""
    return count_of(x.shape[d] for d in dims_of(x.shape, dim))


def some_over(name: str, x: Array, dim: Dims) -> tuple[int, ...]:
    """Return the dimensions of a reduction; raise if it would reduce no entries."""
    dims = dims_of(x.shape, dim)
    refuse(dim is None and 0 in x.shape, "{}(): Expected reduction dim to be specified "
           "for input.numel() == 0. Specify the reduction dim with the 'dim' argument.",
           name)
    for d in dims:
        refuse(x.shape[d] == 0, "Expected reduction dim {} of {} to have non-zero "
               "size.", d, name, kind=IndexError)
    return dims


OVER = [case((3, 4), dim=0), case((3, 4), dim=-1, keepdim=True), case((3,), dim=0),
        case((2, 3, 4), dim=(0, 2)), case((2, 3, 4), dim=(-1, 0), keepdim=True),
        case((), dim=0)]
ALONG = [case((3, 4), dim=0), case((3, 4), dim=-1, keepdim=True), case((5,), dim=0),
         case((2, 3, 2), dim=1), case((), dim=0)]
WHOLE = [case((3, 4)), case((5,)), case((2, 1, 3)), case(())]

# sums and means

row("sum.default", formula="sum(x)", fwd=lambda xp, x: xp.sum(x),
    vjp=(lambda xp, g, y, x: xp.expand(g, x.shape),), jvp=LINEAR, cases=WHOLE)

row("sum.dim_IntList", node="SumBackward1", formula="sum(x, dim)",
    fwd=lambda xp, x, dim, keepdim=False: xp.sum(x, dims_of(x.shape, dim), keepdim),
    vjp=(lambda xp, g, y, x, dim, keepdim=False: spread(xp, g, x, dim, keepdim),),
    jvp=LINEAR, cases=OVER)

function("sum", lambda call, x, dim=None, keepdim=False:
         call("sum.default", x) if dim is None and not keepdim
         else call("sum.dim_IntList", x, dim, keepdim),
         doc="Sum of all entries, or over dimensions.", formula="sum(x, dim)",
         casts=True)

of_floats("mean.default", formula="sum(x) / n", wide=True,
    fwd=lambda xp, x: xp.sum(x) / size_over(x, None),
    vjp=(lambda xp, g, y, x: xp.expand(g / size_over(x, None), x.shape),), jvp=LINEAR,
    cases=WHOLE)

of_floats("mean.dim", node="MeanBackward1", formula="sum(x, dim) / n", wide=True,
    fwd=lambda xp, x, dim, keepdim=False:
        xp.sum(x, dims_of(x.shape, dim), keepdim) / size_over(x, dim),
    vjp=(lambda xp, g, y, x, dim, keepdim=False:
         spread(xp, g / size_over(x, dim), x, dim, keepdim),), jvp=LINEAR, cases=OVER)

function("mean", lambda call, x, dim=None, keepdim=False:
         call("mean.default", x) if dim is None and not keepdim
         else call("mean.dim", x, dim, keepdim),
         doc="Mean of all entries, or over dimensions.", formula="mean(x, dim)",
         casts=True, not_finite={"nan": "the mean of no entries"},
         also=("average", "avg"))

row("nansum", formula="sum(x where x is a number)",
    doc="Sum that counts NaN as 0, over all entries or over dimensions.",
    kink="the derivative by an entry that is NaN is 0",
    fwd=lambda xp, x, dim=None, keepdim=False:
        xp.sum(xp.where(xp.isnan(x), 0, x), dims_of(x.shape, dim), keepdim),
    vjp=(lambda xp, g, y, x, dim=None, keepdim=False:
         xp.where(xp.isnan(x), 0, spread(xp, g, x, dim, keepdim)),), cases=WHOLE + OVER,
    casts=True)

function("nanmean", lambda call, x, dim=None, keepdim=False:
         call("div", call("nansum", x, dim, keepdim),
              call("sum", call("as_type_of", call("logical_not", call("isnan", x)), x),
                   dim, keepdim)),
         doc="Mean of the entries that are not NaN.", formula="mean(x, dim)",
         cases=[case((3, 4)), case((3, 4), dim=0), case((3, 4), dim=1, keepdim=True)],
         casts=True)

# products

def others(xp: Namespace, x: Array, dim: int) -> Array:
    """Return, for each entry, the product of all others along ``dim``, computed without
    division, so that it is right for zeros too."""
    left = before(xp, xp.cumprod(outer(xp, x, dim), dim), dim, 1)
    turned = xp.flip(x, dim)
    right = before(xp, xp.cumprod(outer(xp, turned, dim), dim), dim, 1)
    return left * xp.flip(right, dim)


def others_along(xp: Namespace, x: Array, dim: int) -> Array:
    return others(xp, x, dim_of(x.shape, dim)) if has_line(x, dim) else xp.ones_like(x)


row("prod.default", formula="x[0] * x[1] * ...", fwd=lambda xp, x: xp.prod(x),
    vjp=(lambda xp, g, y, x: g * xp.reshape(
        others_along(xp, xp.reshape(x, (count_of(x.shape),)), 0), x.shape),),
    cases=WHOLE, saves="x y")

row("prod.dim_int", node="ProdBackward1", formula="prod(x, dim)", memory=PACKED,
    fwd=lambda xp, x, dim, keepdim=False:
        dropped(xp, xp.prod(x, dims_of(x.shape, dim_of(x.shape, dim)), True),
                x, dim, keepdim),
    vjp=(lambda xp, g, y, x, dim, keepdim=False:
         keepdims(xp, g, x, dim, keepdim) * others_along(xp, x, dim),), cases=ALONG,
    saves="x y")

function("prod", lambda call, x, dim=None, keepdim=False:
         call("prod.default", x) if dim is None
         else call("prod.dim_int", x, dim, keepdim),
         doc="Product of all entries, or along a dimension.", formula="prod(x, dim)",
         casts=True, also=("product",))

# extrema

TIES = "tied entries share the cotangent evenly"
FIRST = "of tied entries the first carries the gradient"


def attains(xp: Namespace, x: Array, y: Array) -> Array:
    """Return whether each entry equals the extremum ``y``; NaN equals NaN."""
    return xp.logical_or(xp.eq(x, y), xp.logical_and(xp.isnan(x), xp.isnan(y)))


def share(xp: Namespace, x: Array, y: Array, dims: tuple[int, ...],
          is_it: Formula = attains) -> Array:
    """Return the extremum's derivative by each entry: 1 over the number of entries tied
    for it, else 0. ``y`` is the extremum, with its dimensions kept."""
    mine = xp.as_type_of(is_it(xp, x, y), x)
    return mine / xp.sum(mine, dims, True)


def shared(xp: Namespace, g: Array, y: Array, x: Array, dim: Dims, keepdim: bool,
           is_it: Formula = attains) -> Array:
    """Return the cotangent of ``x``: that of an extremum in equal parts for the entries
    that attain it."""
    here = is_it(xp, x, restored(xp, y, x.shape, dim))
    count = xp.sum(xp.as_type_of(here, x), dims_of(x.shape, dim), True)
    return xp.where(here, restored(xp, g, x.shape, dim), 0) / count


def attained(xp: Namespace, t: Array, y: Array, x: Array, dim: Dims, keepdim: bool,
             is_it: Formula = attains) -> Array:
    """Return the mean tangent of the entries that attain an extremum."""
    dims = dims_of(x.shape, dim)
    here = is_it(xp, x, keepdims(xp, y, x, dim, keepdim))
    total = xp.sum(xp.where(here, t, 0), dims, keepdim)
    return total / xp.sum(xp.as_type_of(here, x), dims, keepdim)


def chosen(xp: Namespace, name: str, x: Array, find: ArrayRule, dim: int, keepdim: bool
          ) -> tuple[Array, Array]:
    """Return one entry along ``dim``, and its position, which ``find(xp, x, dim)``
    returns with ``dim`` kept; ``name`` is the function's in messages of errors."""
    d = dim_of(x.shape, dim)
    some_over(name, x, d)
    if not x.shape:
        return x, xp.as_index(0)
    at = find(xp, x, d)
    y = xp.gather(x, d, at)
    return dropped(xp, y, x, d, keepdim), dropped(xp, at, x, d, keepdim)


BY_CHOICE: Rules = {
    "vjp": (lambda xp, g, y, x, dim=-1, keepdim=False, **how: xp.call(
        "gather.backward", keepdims(xp, g, x, dim, keepdim),
        keepdims(xp, y[1], x, dim, keepdim), x.shape, dim),),
    "returns": 2,
    "saves": "y.1",
}
"""Rules of rows that return an entry chosen along a dimension, and its position."""


def in_shares(is_it: Formula = attains) -> Rules:
    """Return the rules of an extremum whose cotangent tied entries share evenly."""
    return {
        "vjp": (lambda xp, g, y, x, dim=None, keepdim=False:
                shared(xp, g, y, x, dim, keepdim, is_it),),
        "jvp": lambda xp, t, y, x, dim=None, keepdim=False:
            attained(xp, t[0], y, x, dim, keepdim, is_it),
        "saves": "x y",
        "kink": TIES,
    }


SPREAD = [replace(c, make="distinct") for c in WHOLE + OVER]


def extremum(name: str, word: str) -> None:
    """Enter ``max``, ``amax`` and ``argmax``, or those of ``min``."""
    reduce = f"a{name}"

    row(f"{name}.default", node=f"{name.title()}Backward1", **in_shares(),
        formula=f"{name}(x)",
        fwd=lambda xp, x: getattr(xp, reduce)(x, some_over(name, x, None)),
        cases=SPREAD[:len(WHOLE)])

    row(f"{name}.dim", kink=FIRST, **BY_CHOICE,
        formula=f"a{name}(x, dim), arg{name}(x, dim)",
        fwd=lambda xp, x, dim, keepdim=False: chosen(
            xp, name, x, lambda xp, x, d: getattr(xp, f"arg{name}")(x, d, True),
            dim, keepdim),
        cases=[replace(c, make="distinct") for c in ALONG])

    row(reduce, formula=f"a{name}(x, dim)",
        doc=f"The {word} of all entries, or over dimensions.",
        **in_shares(lambda xp, x, y: xp.eq(x, y)),
        fwd=lambda xp, x, dim=None, keepdim=False:
            getattr(xp, reduce)(x, some_over(reduce, x, dim), keepdim),
        cases=SPREAD)

    of_numbers(f"arg{name}",
        formula=f"arg{name}(x, dim)",
        doc=f"The index of the {word} entry, of all or along a dimension.",
        fwd=lambda xp, x, dim=None, keepdim=False: placed(xp, name, x, dim, keepdim),
        cases=[case((3, 4), make="distinct"), case((3, 4), dim=0, make="distinct"),
               case((3, 4), dim=-1, keepdim=True, make="distinct")])

    @function(name,
              doc=f"The {word} of all entries; with dim also its index; of two "
                  "tensors, entry by entry.", formula=f"{name}(x, dim)",
              of_number=f"{name}imum")
    def public(call: Caller, x: Array, dim: Dims | Array = None, keepdim: bool = False
              ) -> Array:
        if dim is None:
            return call(f"{name}.default", x)
        if isinstance(dim, int):
            return call(f"{name}.dim", x, dim, keepdim)
        refuse(keepdim, "{} of two operands goes entry by entry and keeps every "
               "dimension: leave keepdim out, or give dim", name, kind=ArgumentError)
        return call(f"{name}imum", x, dim)


def placed(xp: Namespace, name: str, x: Array, dim: int | None, keepdim: bool) -> Array:
    """Return an extremum's position along ``dim``; None: in the flattened tensor."""
    some_over(f"arg{name}", x, None if dim is None else dim_of(x.shape, dim))
    search = getattr(xp, f"arg{name}")
    if dim is None or not x.shape:
        at = search(xp.reshape(x, (count_of(x.shape),)), 0)
        return xp.reshape(at, (1,) * x.ndim) if keepdim else at
    found: Array = search(x, dim_of(x.shape, dim), keepdim)
    return found


extremum("max", "largest")
extremum("min", "smallest")
